// What a hand-over between the simulator and a rank's process costs, one processor and two.
//   model_gate PLATFORM.toml
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "bench/fork_child.h"
#include "fairlead/base/wait_ladder.h"
#include "fairlead/fabric/model/gate.h"
#include "fairlead/hw/platform.h"

namespace {

using namespace fairlead;
using fabric::model::GateMemory;
using fabric::model::GateSlot;
using fabric::model::GateTurn;

constexpr int kRounds = 20000;

void pin(std::size_t processor) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(processor, &mask);
  (void)::sched_setaffinity(0, sizeof mask, &mask);
}

void take_turn(GateSlot& slot, GateTurn mine, GateTurn other) {
  while (!await_turn(slot, mine, seconds(1))) {
  }
  give_turn(slot, other);
}

// Microseconds of a round trip with `ranks` processes, each of which has every `ranks`th turn.
double round_trip_us(const hw::Platform& platform, std::uint32_t ranks, std::size_t processor) {
  auto memory = GateMemory::create(EvenNodes::alone(ranks), ranks, platform);
  if (!memory.ok()) return 0;
  std::vector<pid_t> children;
  for (Rank rank = 0; rank < ranks; ++rank) {
    children.push_back(bench::fork_child());
    if (children.back() != 0) continue;
    pin(processor);
    GateSlot& slot = memory.value()->slot(rank);
    give_turn(slot, GateTurn::simulator);
    for (;;) take_turn(slot, GateTurn::rank, GateTurn::simulator);
  }
  pin(0);
  std::int64_t begin = 0;
  for (int i = -200; i < kRounds; ++i) {
    if (i == 0) begin = monotonic_ns();
    take_turn(memory.value()->slot(static_cast<Rank>(i + 200) % ranks), GateTurn::simulator,
              GateTurn::rank);
  }
  const std::int64_t took = monotonic_ns() - begin;
  for (const pid_t child : children) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  return static_cast<double>(took) / kRounds / 1e3;
}

}  // namespace

int main(int argc, char** argv) {
  const auto platform = hw::load_platform(argc > 1 ? argv[1] : "platforms/myrinet-p3.toml");
  if (!platform.ok()) {
    fmt::print(stderr, "{}\n", platform.error().text);
    return 2;
  }
  for (const std::uint32_t ranks : {1u, 2u, 8u, 32u}) {
    fmt::print("{} ranks: one processor {:.2f} us", ranks,
               round_trip_us(platform.value(), ranks, 0));
    fmt::print(", two {:.2f} us\n", round_trip_us(platform.value(), ranks, 1));
  }
}
