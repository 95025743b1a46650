// The low-level interface over a modelled NI of few buffers: what must hold whatever the timing.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/golden/bodies.h"

namespace fairlead::golden {
namespace {

namespace fs = std::filesystem;
using lci::Arrival;
using lci::Dest;
using lci::Lane;
using lci::Packet;
using lci::Port;

// The P3 platform with an NI of 12 send buffers, 8 of which lci keeps for replies.
class ModelPort : public testing::TestWithParam<const char*> {
 protected:
  ModelPort() {
    fs::create_directories(folder_);
    const fs::path platforms(FAIRLEAD_PLATFORMS);
    fs::copy_file(platforms / "lci-firmware.toml", folder_ / "lci-firmware.toml",
                  fs::copy_options::overwrite_existing);
    std::ostringstream text;
    text << std::ifstream(platforms / "myrinet-p3.toml").rdbuf();
    std::string small = text.str();
    const std::string buffers = "send_buffers = { value = 256";
    small.replace(small.find(buffers), buffers.size(), "send_buffers = { value = 12");
    std::ofstream(folder_ / "small.toml") << small;
  }
  ~ModelPort() override { fs::remove_all(folder_); }

  run::RunReport run(std::uint32_t ranks, const run::Body& body) const {
    const auto report =
        run::run_world(modelled((folder_ / "small.toml").c_str(), GetParam(), ranks), body);
    EXPECT_TRUE(report.ok()) << report.error().text;
    return report.ok() ? report.value() : run::RunReport{};
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("fairlead-port-" + std::to_string(::getpid()));
};
INSTANTIATE_TEST_SUITE_P(Small, ModelPort, testing::Values("sdma", "pio"),
                         [](const auto& at) { return std::string(at.param); });

// Counts requests and answers each, later where there is no buffer now.
struct Answering {
  Port* port = nullptr;
  Counter requests;
  Counter replies;
  std::deque<Rank> owed;

  static Keep on_request(void* self, Packet*, const Arrival& arrival) {
    auto& mine = *static_cast<Answering*>(self);
    ++mine.requests.ok;
    mine.owed.push_back(arrival.source);
    if (mine.owed.size() == 1) answer(self);
    return Keep::no;
  }
  static void answer(void* self) {
    auto& mine = *static_cast<Answering*>(self);
    while (!mine.owed.empty()) {
      const Dest dest{mine.owed.front()};
      const Post sent = mine.port->send_small(dest, kChan + 1, Lane::reply, {}, {}, lci::kNoBlock);
      if (sent != Post::done) return mine.port->defer({answer, self});
      mine.owed.pop_front();
    }
  }
};

TEST_P(ModelPort, RepliesDrainWhileRequestsHaveNoBuffers) {
  constexpr std::uint64_t kRequests = 300;
  const run::RunReport report = run(4, [](run::Context& rank) {
    Port& port = rank.port();
    Answering mine;
    mine.port = &port;
    port.bind(kChan, {Answering::on_request, &mine}, {});
    port.bind(kChan + 1, {count_one, &mine.replies}, {});
    const std::vector<std::byte> data(1500);
    const Piece piece{data.data(), data.size()};
    for (std::uint64_t i = 0; i < kRequests; ++i) {
      const Dest dest{(port.self() + 1 + static_cast<Rank>(i % 3)) % 4};
      Packet* packet = port.alloc(dest, Lane::request, data.size(), 0);
      if (packet == nullptr) return 1;
      if (port.send(packet, kChan, {}, 0, {&piece, 1}, nullptr, 0) != Post::done) return 2;
    }
    if (port.wait({.counter = &mine.replies, .at = kRequests, .what = "replies"}) != Post::done) {
      return 3;
    }
    (void)port.wait({.counter = &mine.requests, .at = kRequests, .what = "requests"});
    while (!mine.owed.empty()) (void)port.poll();
    return 0;
  });
  EXPECT_EQ(report.failure, "");
  // Expect: senders did run out
  EXPECT_GT(report.counters.buffer_stalls, 0u);
  EXPECT_EQ(report.counters.packets_sent, 2 * 4 * kRequests);
}

struct Keeper {
  struct Kept {
    Packet* packet;
    std::uint32_t number;
    std::span<const std::byte> data;
  };
  std::vector<Kept> kept;
  Counter came;
  static Keep keep(void* self, Packet* packet, const Arrival& arrival) {
    auto& mine = *static_cast<Keeper*>(self);
    mine.kept.push_back({packet, arrival.words[0], arrival.data});
    ++mine.came.ok;
    return Keep::yes;
  }
};

TEST_P(ModelPort, KeptPacketsNeverStopTheNetwork) {
  constexpr std::uint32_t kPackets = 200;
  const run::RunReport report = run(2, [](run::Context& rank) {
    Port& port = rank.port();
    Keeper keeper;
    port.bind(kChan, {Keeper::keep, &keeper}, {});
    if (port.self() == 0) {
      for (std::uint32_t i = 0; i < kPackets; ++i) {
        Packet* packet = port.alloc({1}, Lane::request, 1000, 0);
        std::memset(port.body(packet).data(), static_cast<int>(i), 1000);
        if (port.send(packet, kChan, {i, 0, 0, 0}, 1000, {}, nullptr, 0) != Post::done) return 1;
      }
      return 0;
    }
    (void)port.wait({.counter = &keeper.came, .at = kPackets, .what = "packets"});
    for (std::uint32_t i = 0; i < kPackets; ++i) {
      const Keeper::Kept& kept = keeper.kept[i];
      // Expect: in order, and untouched by those that came later
      if (kept.number != i || kept.data.size() != 1000) return 2;
      for (const std::byte b : kept.data) {
        if (b != static_cast<std::byte>(i)) return 3;
      }
    }
    // In any order: from both ends.
    for (std::uint32_t i = 0; i < kPackets / 2; ++i) {
      port.release(keeper.kept[i].packet);
      port.release(keeper.kept[kPackets - 1 - i].packet);
    }
    return 0;
  });
  EXPECT_EQ(report.failure, "");
  // Expect: what is over the limit of 48 was copied out
  EXPECT_EQ(report.counters.copied_out, kPackets - 48);
}

TEST_P(ModelPort, NoUpcallRunsBetweenHoldAndAllow) {
  const run::RunReport report = run(2, [](run::Context& rank) {
    Port& port = rank.port();
    Counter came;
    port.bind(kChan, {count_one, &came}, {});
    if (port.self() == 0) {
      return port.send_small({1}, kChan, Lane::request, {}, {}, 0) == Post::done ? 0 : 1;
    }
    port.hold();
    port.hold();
    if (port.wait({.counter = &came, .at = 1, .deadline = milliseconds(1)}) != Post::again_credit) {
      return 2;
    }
    port.allow();
    (void)port.poll();
    // Expect: they nest
    if (came.ok != 0) return 3;
    port.allow();
    (void)port.wait({.counter = &came, .at = 1, .what = "the packet"});
    // Expect: it had been there since long before
    return port.now() < milliseconds(1) + microseconds(20) ? 0 : 4;
  });
  EXPECT_EQ(report.failure, "");
}

// Rank 1 computes for 10 ms from the start, in which a packet comes to it. Answers when its upcall
// ran and when the work was over.
struct Interrupted {
  Ps upcall{};
  Ps over{};
};
run::Body computing(lci::Wake policy, Ps watchdog, Interrupted& times) {
  return [policy, watchdog, &times](run::Context& rank) {
    Port& port = rank.port();
    struct Seen {
      Port* port;
      Ps at;
    } seen{&port, {}};
    port.bind(kChan,
              {[](void* self, lci::Packet*, const lci::Arrival&) {
                 auto* mine = static_cast<Seen*>(self);
                 mine->at = mine->port->now();
                 return Keep::no;
               },
               &seen},
              {});
    if (port.self() == 0) {
      (void)port.wait({.deadline = milliseconds(1)});
      return port.send_small({1}, kChan, Lane::request, {}, {}, 0) == Post::done ? 0 : 1;
    }
    port.wake(policy, watchdog);
    const auto cycles = static_cast<std::uint64_t>(10'000'000);  // of a 1 GHz host
    port.charge({.ops = cycles});
    times.over = port.now();
    (void)port.poll();
    times.upcall = seen.at;
    return 0;
  };
}

TEST_P(ModelPort, ThePollingWatchdogInterruptsLongWork) {
  Interrupted polled;
  Interrupted watched;
  Interrupted at_once;
  const Ps watchdog = microseconds(40);
  const run::RunReport none = run(2, computing(lci::Wake::poll_only, Ps{0}, polled));
  const run::RunReport some = run(2, computing(lci::Wake::watchdog, watchdog, watched));
  (void)run(2, computing(lci::Wake::immediate, Ps{0}, at_once));
  EXPECT_EQ(none.counters.interrupts, 0u);
  EXPECT_EQ(some.counters.interrupts, 1u);
  EXPECT_GE(polled.upcall, milliseconds(10));
  // Expect: 40 us after the arrival, which is when the immediate one ran
  EXPECT_EQ(watched.upcall - at_once.upcall, watchdog);
  EXPECT_GT(at_once.upcall, milliseconds(1));
  EXPECT_LT(at_once.upcall, milliseconds(1) + microseconds(50));
  // Expect: the work is done all the same, later by interrupt and upcall
  EXPECT_EQ(polled.over, milliseconds(10));
  EXPECT_GT(watched.over, polled.over);
  EXPECT_EQ(watched.over, at_once.over);
}

TEST_P(ModelPort, ARankReachesItself) {
  const run::RunReport report = run(1, [](run::Context& rank) {
    Port& port = rank.port();
    Counter came;
    port.bind(kChan, {count_one, &came}, {});
    if (port.send_small({0}, kChan, Lane::request, {}, {}, 0) != Post::done) return 1;
    // Expect: never inside the send
    if (came.ok != 0) return 2;
    return port.poll() == 1 && came.ok == 1 ? 0 : 3;
  });
  EXPECT_EQ(report.failure, "");
}

TEST_P(ModelPort, AGroupPacketReachesEveryOtherMember) {
  const run::RunReport report = run(6, [](run::Context& rank) {
    Port& port = rank.port();
    Counter came;
    port.bind(kChan, {count_one, &came}, {});
    const Rank members[] = {0, 1, 3, 4, 5};
    const bool member = port.self() != 2;
    if (member && port.group(3, members) != Post::done) return 1;
    if (member) {
      for (int i = 0; i < 10; ++i) {
        const Post sent = port.send_small({3, true}, kChan, Lane::request, {}, {}, 0);
        if (sent != Post::done && sent != Post::pending) return 2;
      }
      (void)port.wait({.counter = &came, .at = 40, .what = "the group"});
    }
    (void)port.wait({.deadline = milliseconds(20)});
    // Expect: ten from each of four others, none outside
    return came.ok == (member ? 40 : 0) ? 0 : 3;
  });
  EXPECT_EQ(report.failure, "");
}

TEST_P(ModelPort, RemoteMemoryByPackets) {
  const run::RunReport report = run(3, [](run::Context& rank) {
    Port& port = rank.port();
    constexpr std::size_t kWords = 1000;
    auto* mine = static_cast<std::uint64_t*>(port.allocate(5, kWords * 8, lci::Place::host));
    if (mine == nullptr) return 1;
    Counter met;
    port.bind(kChan, {count_one, &met}, {});
    std::uint64_t meetings = 0;
    const auto meet = [&] {
      for (Rank other = 0; other < port.size(); ++other) {
        if (other != port.self()) {
          (void)port.send_small({other}, kChan, Lane::request, {}, {}, 0);
        }
      }
      meetings += port.size() - 1;
      (void)port.wait({.counter = &met, .at = meetings, .what = "the others"});
    };
    meet();
    const Rank next = (port.self() + 1) % 3;
    std::vector<std::uint64_t> data(kWords - 1, 100 + port.self());
    const lci::PutPiece piece{8, data.data(), data.size() * 8};
    Counter done;
    (void)port.put({next}, 5, {&piece, 1}, &done, lci::kNoCounter, 0);
    std::uint64_t old = 0;
    (void)port.atomic({0, 5, 0}, lci::Atomic::add, 10, 0, &old, &done);
    (void)port.fence({next}, &done);
    (void)port.wait({.counter = &done, .at = 3, .what = "put, atomic and fence"});
    meet();
    const std::uint64_t before = 100 + (port.self() + 2) % 3;
    for (std::size_t i = 1; i < kWords; ++i) {
      if (mine[i] != before) return 2;
    }
    std::vector<std::uint64_t> got(kWords);
    (void)port.get({0, 5, 0}, got.data(), kWords * 8, &done, 0);
    (void)port.wait({.counter = &done, .at = 4, .what = "get"});
    // Expect: three adds, and what rank 2 put
    if (got[0] != 30 || got[kWords - 1] != 102) return 3;
    meet();
    return old <= 20 && old % 10 == 0 ? 0 : 4;
  });
  EXPECT_EQ(report.failure, "");
}

TEST_P(ModelPort, ADeadlockNamesEveryWait) {
  const run::RunReport report = run(3, [](run::Context& rank) {
    Counter never;
    if (rank.port().self() == 1) return 0;
    (void)rank.port().wait({.counter = &never, .at = 1, .what = "news from nobody"});
    return 0;
  });
  EXPECT_EQ(report.exit_code, 1);
  EXPECT_EQ(report.failure,
            "deadlock: no event is left and 2 of 3 ranks wait\n"
            "rank 0: blocked since 0.000 us in news from nobody\n"
            "rank 2: blocked since 0.000 us in news from nobody\n");
}

}  // namespace
}  // namespace fairlead::golden
