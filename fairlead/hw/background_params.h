// Traffic of a second job on the same nodes, which has processors and contexts of its own: on each
// node a process that sends and one that receives, as the Quadrics paper has it (section 5.2).
// [background] of a platform file whose network interface's kind can send it.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/hw/keys.h"

namespace fairlead::hw {

struct BackgroundParams {
  enum Pattern : std::uint32_t {
    kNone,
    kComplement,  // node a sends to the node whose bits are the complement of a's
    kUniform,     // every message to another node, drawn with equal chances
  };

  std::uint32_t pattern = kNone;
  std::uint32_t bytes = 16384;    // of a message
  std::uint32_t main_memory = 0;  // 1: its buffers are there, else in the network interface
  // The rate of the link that a sender asks for, as a share of it; 1: as fast as it goes.
  double load = 1;
  std::uint32_t ahead = 2;  // messages that a sender has under way
  std::uint64_t seed = 1;

  // in_ni: whether the network interface has memory for buffers.
  void add_keys(std::vector<Key>& to, bool in_ni);
  // Error: there is no such pattern of so many nodes.
  Result<void> check_nodes(std::uint32_t nodes) const;
};

}  // namespace fairlead::hw
