#include "fairlead/run/launch/world.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "fairlead/fabric/ofi/ofi_nic.h"
#include "fairlead/run/job/reaper.h"
#include "fairlead/run/launch/attach.h"
#include "fairlead/run/launch/launcher.h"

namespace fairlead::run {
namespace {

WorldOptions options(const char* on, std::uint32_t ranks) {
  WorldOptions made;
  made.on = on;
  made.ranks = ranks;
  return made;
}

Keep add_word(void* sum, lci::Packet*, const lci::Arrival& arrival) {
  static_cast<Counter*>(sum)->ok += arrival.words[0];
  return Keep::no;
}

// Every rank sends `1` to every other; returns 0 when it got one from each.
int everybody_to_everybody(Context& context) {
  lci::Port& port = context.port();
  Counter received;
  port.bind(1, {add_word, &received}, {});
  const lci::Words words{1, 0, 0, 0};
  for (Rank peer = 0; peer < port.size(); ++peer) {
    if (peer == port.self()) continue;
    if (port.send_small({peer}, 1, lci::Lane::request, words, {}, 0) != Post::done) return 1;
  }
  const std::uint64_t due = port.size() - 1;
  if (port.wait({.counter = &received, .at = due}) != Post::done) return 2;
  return received.ok.load() == due ? 0 : 3;
}

class Worlds : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()) != "ofi") return;
    if (const auto here = fabric::ofi_providers("", ""); !here.ok()) {
      GTEST_SKIP() << here.error().text;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Real, Worlds, testing::Values("shm", "udp", "ofi", "loop"),
                         [](const auto& world) { return std::string(world.param); });

TEST_P(Worlds, EveryRankRunsTheBody) {
  for (const std::uint32_t ranks : {1u, 2u, 7u}) {
    const auto report = run_world(options(GetParam(), ranks), everybody_to_everybody);
    ASSERT_TRUE(report.ok()) << report.error().text;
    // Expect: all well, and the packets of all ranks in the sum
    EXPECT_EQ(report.value().exit_code, 0) << report.value().failure;
    EXPECT_EQ(report.value().ranks.size(), ranks);
    EXPECT_EQ(report.value().counters.packets_sent, ranks * (ranks - 1));
    EXPECT_FALSE(report.value().modelled);
  }
  // Expect: no process is left
  EXPECT_TRUE(children_of_self().empty());
}

TEST_P(Worlds, TheCurrentRankIsTheContext) {
  const auto report = run_world(options(GetParam(), 3), [](Context& context) {
    if (current() != &context || attach().value() != &context) return 1;
    // Others run meanwhile: on loop on this very thread
    everybody_to_everybody(context);
    return current() == &context ? 0 : 2;
  });
  EXPECT_EQ(report.value().exit_code, 0) << report.value().failure;
  // Expect: the caller is nobody again
  EXPECT_EQ(current(), nullptr);
}

TEST_P(Worlds, ATraceShowsEveryRankAndItsArrows) {
  WorldOptions traced = options(GetParam(), 3);
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("fairlead-world-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  traced.trace_path = (folder / "t.json").string();
  const auto report = run_world(traced, everybody_to_everybody);
  ASSERT_TRUE(report.ok()) << report.error().text;
  EXPECT_EQ(report.value().failure, "");
  const auto events = nlohmann::json::parse(std::ifstream(traced.trace_path));
  std::map<std::string, int> begins;
  std::map<std::string, int> ends;
  std::map<std::pair<int, std::string>, int> intervals;
  for (const auto& event : events) {
    if (event["ph"] == "s") ++begins[event["id"]];
    if (event["ph"] == "f") ++ends[event["id"]];
    if (event["ph"] == "X") ++intervals[{event["pid"], event["name"]}];
  }
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ((intervals[{rank, "send"}]), 2);
    EXPECT_EQ((intervals[{rank, "upcall"}]), 2);
    EXPECT_EQ((intervals[{rank, "wait"}]), 1);
  }
  // Expect: six arrows that end where they should
  EXPECT_EQ(begins.size(), 6u);
  EXPECT_EQ(begins, ends);
  // Expect: no part is left beside it
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  std::filesystem::remove_all(folder);
  traced.trace_path = "/no/such/folder/t.json";
  EXPECT_FALSE(run_world(traced, everybody_to_everybody).ok());
}

TEST_P(Worlds, TheFirstFailingRankDecides) {
  const auto report = run_world(options(GetParam(), 3), [](Context& context) {
    if (context.port().self() == 1) return 42;
    return everybody_to_everybody(context);  // never ends: rank 1 does not send
  });
  ASSERT_TRUE(report.ok());
  // Expect: its code, its name, and the others ended with the job
  EXPECT_EQ(report.value().exit_code, 42);
  EXPECT_NE(report.value().failure.find("rank 1"), std::string::npos) << report.value().failure;
  EXPECT_EQ(report.value().ranks[1].exit_code, 42);
  EXPECT_NE(report.value().ranks[2].reason.find("ended with the job"), std::string::npos);
}

TEST_P(Worlds, AnUncaughtExceptionIsNamed) {
  const auto report = run_world(options(GetParam(), 2), [](Context& context) -> int {
    if (context.port().self() == 1) throw std::runtime_error("no convergence");
    return everybody_to_everybody(context);
  });
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report.value().exit_code, 1);
  EXPECT_NE(report.value().failure.find("rank 1"), std::string::npos);
  EXPECT_NE(report.value().failure.find("no convergence"), std::string::npos)
      << report.value().failure;
}

TEST_P(Worlds, AbortEndsEveryRank) {
  const auto report = run_world(options(GetParam(), 3), [](Context& context) -> int {
    if (context.port().self() == 2) context.abort_job(6, "out of boards");
    return everybody_to_everybody(context);
  });
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report.value().exit_code, 6);
  EXPECT_NE(report.value().failure.find("rank 2"), std::string::npos);
  EXPECT_NE(report.value().failure.find("out of boards"), std::string::npos);
}

TEST_P(Worlds, ASystemThatBeganMustEnd) {
  const auto report = run_world(options(GetParam(), 2), [](Context& context) {
    context.began(System::mpi);
    if (context.port().self() == 0) context.ended(System::mpi);
    return 0;
  });
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report.value().exit_code, 1);
  EXPECT_NE(report.value().failure.find("rank 1"), std::string::npos);
  EXPECT_NE(report.value().failure.find("without MPI_Finalize"), std::string::npos);
}

TEST_P(Worlds, TheTimeoutEndsWhoWaitsForever) {
  WorldOptions limited = options(GetParam(), 2);
  limited.timeout = milliseconds(50);
  const auto report = run_world(limited, [](Context& context) {
    Counter never;
    return context.port().wait({.counter = &never, .at = 1}) == Post::done ? 0 : 1;
  });
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report.value().exit_code, kTimeoutExitCode);
  EXPECT_NE(report.value().failure.find("--timeout of 0.05 s"), std::string::npos);
}

TEST_P(Worlds, StateOfASystemGoesBeforeThePort) {
  struct State {
    explicit State(lci::Port& p) : port(p) {}
    // Uses the port: a port destroyed earlier shows under the address sanitizer.
    ~State() { EXPECT_EQ(port.size(), 2u); }
    lci::Port& port;
  };
  const auto report = run_world(options(GetParam(), 2), [](Context& context) {
    context.set_state(System::am, std::make_unique<State>(context.port()));
    return context.state(System::am) != nullptr && context.state(System::mpi) == nullptr ? 0 : 1;
  });
  EXPECT_EQ(report.value().exit_code, 0) << report.value().failure;
}

TEST_P(Worlds, AnUnknownImplementationListsTheValidOnes) {
  WorldOptions wrong = options(GetParam(), 2);
  wrong.lci = "pio-hmc";
  const auto report = run_world(wrong, everybody_to_everybody);
  ASSERT_FALSE(report.ok());
  const std::map<std::string, std::string> valid = {{"shm", "valid: direct, hrx"},
                                                    {"udp", "valid: hrx"},
                                                    {"ofi", "valid: direct, hrx"},
                                                    {"loop", "valid: direct, hrx"}};
  EXPECT_NE(report.error().text.find(valid.at(GetParam())), std::string::npos)
      << report.error().text;
}

// Each rank sends `1` fifty times to the next one and waits for as many.
int fifty_to_the_next(Context& context) {
  lci::Port& port = context.port();
  Counter received;
  port.bind(1, {add_word, &received}, {});
  const lci::Words words{1, 0, 0, 0};
  const Rank next = (port.self() + 1) % port.size();
  for (int i = 0; i < 50; ++i) {
    if (port.send_small({next}, 1, lci::Lane::request, words, {}, 0) != Post::done) return 2;
  }
  return port.wait({.counter = &received, .at = 50}) == Post::done ? 0 : 3;
}

TEST_P(Worlds, FaultsAreMendedUnlessAskedOtherwise) {
  std::uint64_t again = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    WorldOptions faulty = options(GetParam(), 3);
    faulty.faults = "drop=0.3,dup=0.1,reorder=0.1,corrupt=0.1";
    faulty.seed = seed;
    faulty.timeout = seconds(20);
    const auto report = run_world(faulty, fifty_to_the_next);
    ASSERT_TRUE(report.ok()) << report.error().text;
    // Expect: nothing is lost or doubled
    EXPECT_EQ(report.value().exit_code, 0) << report.value().failure << ", seed " << seed;
    EXPECT_EQ(report.value().counters.packets_received, 150u);
    again += report.value().counters.retransmissions;
  }
  EXPECT_GT(again, 0u);
}

TEST_P(Worlds, AFaultyFabricStopsTheDirectCompositionByName) {
  WorldOptions faulty = options(GetParam(), 3);
  faulty.faults = "drop=0.5";
  faulty.seed = 7;
  if (faulty.on == "udp") {
    faulty.lci = "direct";
    // Expect: it is not to be had where packets get lost anyway
    EXPECT_FALSE(run_world(faulty, everybody_to_everybody).ok());
    return;
  }
  faulty.lci = "direct";
  faulty.timeout = seconds(10);
  const auto report = run_world(faulty, fifty_to_the_next);
  ASSERT_TRUE(report.ok()) << report.error().text;
  // Expect: a rank says what happened, and how to see it again
  EXPECT_EQ(report.value().exit_code, 1);
  EXPECT_NE(report.value().failure.find("--faults"), std::string::npos) << report.value().failure;
  EXPECT_NE(report.value().failure.find("--seed 7"), std::string::npos);
}

// The one packet under way is lost: nothing sent later shows the gap.
TEST(Faults, ALostPacketThatBothWaitForIsNamed) {
  WorldOptions options;
  options.lci = "direct";
  options.faults = "drop=0.02";
  options.seed = 5;
  options.timeout = seconds(20);
  const Result<RunReport> report = run_world(options, [](Context& context) {
    lci::Port& port = context.port();
    std::uint64_t got = 0;
    port.bind(1,
              {[](void* count, lci::Packet*, const lci::Arrival&) {
                 ++*static_cast<std::uint64_t*>(count);
                 return Keep::no;
               },
               &got},
              {});
    const lci::Words words = {};
    for (std::uint64_t i = 1; i <= 2000; ++i) {
      const auto send = [&] {
        return port.send_small({1 - port.self()}, 1, lci::Lane::request, words, {}, 0);
      };
      if (port.self() == 0 && send() != Post::done) return 1;
      while (got < i) (void)port.wait({.any_packet = true, .what = "the other's turn"});
      if (port.self() == 1 && send() != Post::done) return 1;
    }
    return 0;
  });
  ASSERT_TRUE(report.ok()) << report.error().text;
  EXPECT_NE(report.value().exit_code, 0);
  EXPECT_NE(report.value().failure.find("lost"), std::string::npos) << report.value().failure;
}

TEST_P(Worlds, ANonsensicalFaultPlanIsRefused) {
  WorldOptions faulty = options(GetParam(), 2);
  faulty.faults = "drip=0.5";
  const auto report = run_world(faulty, everybody_to_everybody);
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.error().text.find("drip"), std::string::npos) << report.error().text;
}

TEST_P(Worlds, AKillOfThePlanEndsTheJob) {
  WorldOptions faulty = options(GetParam(), 3);
  faulty.faults = "kill=2@20ms";
  faulty.timeout = seconds(10);
  const auto report = run_world(faulty, [](Context& context) {
    Counter never;
    return context.port().wait({.counter = &never, .at = 1}) == Post::done ? 0 : 1;
  });
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report.value().exit_code, 128 + SIGKILL) << report.value().failure;
  EXPECT_NE(report.value().failure.find("rank 2"), std::string::npos) << report.value().failure;
}

TEST(ShmWorld, ASignalIsNamedAndTheRestIsGoneAtOnce) {
  const auto start = std::chrono::steady_clock::now();
  const auto report = run_world(options("shm", 4), [](Context& context) {
    if (context.port().self() == 3) {
      ::signal(SIGSEGV, SIG_DFL);  // sanitizers catch it
      ::raise(SIGSEGV);
    }
    for (;;) ::pause();
    return 0;
  });
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report.value().exit_code, 128 + SIGSEGV);
  EXPECT_EQ(report.value().ranks[3].signal, SIGSEGV);
  EXPECT_NE(report.value().failure.find("rank 3"), std::string::npos);
  EXPECT_NE(report.value().failure.find("SIGSEGV"), std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(ShmWorld, ChildrenTheCallerHadAreLeftAlone) {
  const pid_t mine = ::fork();
  if (mine == 0) {
    for (;;) ::pause();
  }
  (void)run_world(options("shm", 2), [](Context&) { return 1; });
  // Expect: still there
  EXPECT_EQ(children_of_self(), std::vector<pid_t>{mine});
  ::kill(mine, SIGKILL);
  EXPECT_TRUE(kill_descendants({}, std::chrono::milliseconds(1000)).empty());
}

// Rank 1 ends after one message; rank 0 goes on sending to it for a while, and then with rank 2.
TEST(OfiWorld, ARankThatEndedInOrderIsNotLost) {
  if (const auto here = fabric::ofi_providers("tcp", ""); !here.ok()) {
    GTEST_SKIP() << here.error().text;
  }
  WorldOptions wanted = options("ofi", 3);
  wanted.provider = "tcp";  // others do not notice
  wanted.lci = "hrx";       // sends again what nobody took
  wanted.timeout = seconds(20);
  const auto report = run_world(wanted, [](Context& context) {
    lci::Port& port = context.port();
    Counter received;
    port.bind(1, {add_word, &received}, {});
    const auto send = [&port](Rank dest) {
      return port.send_small({dest}, 1, lci::Lane::request, lci::Words{1, 0, 0, 0}, {}, 0);
    };
    const auto got = [&](std::uint64_t count) {
      return port.wait({.counter = &received, .at = count}) == Post::done;
    };
    if (port.self() == 1) return send(0) == Post::done ? 0 : 2;
    if (port.self() == 2) return got(1) && send(0) == Post::done ? 0 : 3;
    if (!got(1)) return 4;
    const Ps end = port.now() + milliseconds(100);
    while (port.now() < end && send(1) != Post::peer_down) port.poll();
    return send(2) == Post::done && got(2) ? 0 : 5;
  });
  ASSERT_TRUE(report.ok()) << report.error().text;
  EXPECT_EQ(report.value().exit_code, 0) << report.value().failure;
}

TEST(AnyWorld, AnUnknownNameListsTheValidOnes) {
  const auto report = run_world(options("myrinet-p4", 2), everybody_to_everybody);
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.error().text.find("valid: shm, udp, ofi, loop"), std::string::npos);
  const auto file = run_world(options("./mine.toml", 2), everybody_to_everybody);
  ASSERT_FALSE(file.ok());
  EXPECT_NE(file.error().text.find("./mine.toml"), std::string::npos);
}

// What there is of a rank before its program runs, its stack aside.
TEST(ModelWorld, AnIdleRankIsSmall) {
  const auto heap_with = [](std::uint32_t ranks) {
    std::size_t used = 0;
    WorldOptions wanted = options("myrinet-p3", ranks);
    wanted.lci = "nirx";
    const auto body = [&used](Context& context) {
      if (context.port().self() == 0) used = ::mallinfo2().uordblks + ::mallinfo2().hblkhd;
      return 0;
    };
    const Result<RunReport> report = run_world(wanted, body);
    EXPECT_TRUE(report.ok() && report.value().exit_code == 0);
    return used;
  };
  (void)heap_with(16);  // what is made once
  // What the heap loses to alignment differs by some 50 bytes with what the process did before. 64
  // are what the rank's program says of its computing and its looks at the clock, 40 say where
  // words of the interface are and who answers queries.
  EXPECT_LE((heap_with(3000) - heap_with(1000)) / 2000, 4456u);
}

}  // namespace
}  // namespace fairlead::run
