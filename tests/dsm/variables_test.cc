// Variables that ranks distribute: copies of one rank's, in every other's memory.
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "fairlead/systems/dsm/dsm.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

using dsm::Dsm;

constexpr Rank kRanks = 3;
constexpr std::size_t kWords = 20'000;  // more than a packet, and than a page

void run_jobs(const std::string& world,
              const std::function<std::string(run::Context&, Dsm&)>& body) {
  const Result<run::RunReport> report =
      run::run_world(options_of(world, kRanks), [&](run::Context& context) {
        dsm::Options options;
        options.heap_bytes = 64 * dsm::kPageBytes;
        Result<Dsm*> started = Dsm::start(context, options);
        if (!started.ok()) context.abort_job(1, started.error().text);
        const std::string wrong = body(context, *started.value());
        if (!wrong.empty()) context.abort_job(1, wrong);
        started.value()->stop();
        return 0;
      });
  ASSERT_TRUE(report.ok()) << report.error().text;
  EXPECT_EQ(report.value().exit_code, 0) << report.value().failure;
}

class Variables : public PerWorld {};
INSTANTIATE_PORT_TESTS_IN(Variables, ::testing::Values("shm", "udp", "lossy", "nirx"));

TEST_P(Variables, AreThereBehindTheNextBarrier) {
  run_jobs(GetParam(), [](run::Context&, Dsm& dsm) -> std::string {
    static std::uint32_t large[kRanks][kWords];
    static std::uint32_t small[kRanks];
    const Rank self = dsm.self();
    for (std::uint32_t round = 1; round <= 5; ++round) {
      for (std::uint32_t i = 0; i < kWords; ++i) large[self][i] = round * (self + 1) + i;
      small[self] = round + 100 * self;
      dsm.distribute(large[self], sizeof large[self]);
      dsm.distribute(&small[self], sizeof small[self]);
      // What is changed behind the call is this rank's alone.
      large[self][7] = 0;
      dsm.barrier();
      large[self][7] = round * (self + 1) + 7;
      for (Rank rank = 0; rank < kRanks; ++rank) {
        if (small[rank] != round + 100 * rank) {
          return fmt::format("round {}: {} of rank {}", round, small[rank], rank);
        }
        for (std::uint32_t i = 0; i < kWords; ++i) {
          if (large[rank][i] != round * (rank + 1) + i) {
            return fmt::format("round {}: word {} of rank {} is {}", round, i, rank,
                               large[rank][i]);
          }
        }
      }
      dsm.barrier();
    }
    return "";
  });
}

TEST_P(Variables, OfNoBytesAreNothing) {
  run_jobs(GetParam(), [](run::Context&, Dsm& dsm) -> std::string {
    static int one = 0;
    one = static_cast<int>(dsm.self());
    dsm.distribute(&one, 0);
    dsm.barrier();
    return one == static_cast<int>(dsm.self()) ? "" : "it was changed";
  });
}

class VariablesWithoutCalls : public PerWorld {};
INSTANTIATE_PORT_TESTS_IN(VariablesWithoutCalls, ::testing::Values("shm"));

// Nobody there calls the library.
TEST_P(VariablesWithoutCalls, LandWhileTheOthersCompute) {
  run_jobs(GetParam(), [](run::Context&, Dsm& dsm) -> std::string {
    static volatile std::uint32_t told[kWords];
    dsm.barrier();
    if (dsm.self() == 0) {
      for (std::uint32_t i = 0; i < kWords; ++i) told[i] = i + 1;
      dsm.distribute(const_cast<std::uint32_t*>(told), sizeof told);
    } else {
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
      for (std::uint32_t i = 0; i < kWords;) {
        if (told[i] == i + 1) ++i;
        if (std::chrono::steady_clock::now() > until) return "not all came in 30 s";
      }
    }
    dsm.barrier();
    return "";
  });
}

}  // namespace
}  // namespace fairlead::port_test
