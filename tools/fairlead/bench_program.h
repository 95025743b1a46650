// Benches of programming systems: a program beside the command is run as `fairlead run` would run
// it, and what it prints is shown as benches show theirs.
#pragma once
#include <CLI/App.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/fairlead/world_options.h"

namespace fairlead::tools {

// The longest message of vibench, in bytes.
inline constexpr std::uint64_t kVibenchMost = 4016;

struct VibenchOptions {
  std::string bench;                 // "latency"
  std::string what;                  // vibench's name of it
  std::string api;                   // "via" or "am"
  std::string am;                    // implementation; empty: as the environment says
  std::vector<std::uint64_t> sizes;  // none: the bench has its own
  std::uint32_t repetitions = 0;
  bool json = false;
};
// Messages of virtual interfaces or Active Messages between two ranks. Returns the exit code.
int run_vibench(const VibenchOptions& options, const WorldChoice& choice);

// `fairlead bench splitc`: Split-C's primitives, one way and both ways.
void add_splitc_bench(CLI::App& group, int& exit_code);

}  // namespace fairlead::tools
