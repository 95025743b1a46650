#include "tools/fairlead/busy_warning.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

namespace fairlead::tools {

namespace {

// How busy the whole machine is, without this process; nullopt: the kernel does not say.
std::optional<int> others_running() {
  std::ifstream file("/proc/stat");
  for (std::string word; file >> word;) {
    int running = 0;
    if (word == "procs_running" && file >> running) return std::max(running - 1, 0);
  }
  return std::nullopt;
}

}  // namespace

// What computes for long is there each time.
void warn_if_busy() {
  constexpr int kLooks = 5;
  constexpr auto kBetween = std::chrono::milliseconds(5);
  int least = INT_MAX;
  for (int look = 0; look < kLooks && least > 0; ++look) {
    if (look > 0) std::this_thread::sleep_for(kBetween);
    least = std::min(least, others_running().value_or(0));
  }
  if (least == 0) return;
  fmt::print(
      stderr,
      "busy: {} other process{} compute{} on this machine, which shows in real times; compare "
      "medians\n",
      least, least == 1 ? "" : "es", least == 1 ? "s" : "");
}

}  // namespace fairlead::tools
