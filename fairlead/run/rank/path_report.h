// What --show-paths prints: by which way a rank reaches the others, and why.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace fairlead::run {

// In the environment of a rank: its node's first rank prints the report when it joins.
inline constexpr const char kShowPathsVariable[] = "FAIRLEAD_SHOW_PATHS";

struct PathReport {
  std::uint32_t rank = 0;
  std::vector<bool> near;    // by rank: reached through this node's memory
  bool node_hrx = false;     // with retransmission over that memory
  bool memory = false;       // which a file holds, and is that of all hosts
  std::string network;       // what it uses to all others, and where (NetworkEndpoint::path)
  bool network_hrx = false;  // with retransmission over that
  std::string on;            // the place that the user gave; empty: the ranks are on several nodes
  bool engine = false;       // by the NI engine of its node, which is the one on the network
};

// One line a way, without line breaks at the ends of the text.
std::string path_lines(const PathReport& report);

}  // namespace fairlead::run
