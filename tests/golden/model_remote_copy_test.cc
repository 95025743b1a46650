// Remote-memory copies of I-rcpy (LCI paper section 5.2), and puts over virtual interfaces by RDMA
// writes: whatever hits or misses in the TLBs, each byte is where it belongs; and the same run
// again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/golden/bodies.h"
#include "tests/remote_memory_body.h"

namespace fairlead::golden {
namespace {

run::RunReport run_memory(const run::WorldOptions& options, std::size_t window_bytes,
                          std::uint32_t rounds) {
  const auto report = run::run_world(options, [&](run::Context& rank) {
    return tests::RemoteMemoryBody(rank, window_bytes).run(rounds);
  });
  EXPECT_TRUE(report.ok()) << report.error().text;
  if (!report.ok()) return {};
  EXPECT_EQ(report.value().failure, "");
  EXPECT_EQ(report.value().exit_code, 0);
  return report.value();
}

class RemoteCopies : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Each, RemoteCopies,
                         testing::Values("sdma", "pio", "nirx", "hrx", "rcpy", "rcpy-1k",
                                         "rcpy-nirx", "rcpy-hmc", "via", "via-nirx"),
                         [](const auto& at) {
                           std::string name = at.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Where NIs of that implementation are at home.
run::WorldOptions at_home(const char* lci, std::uint32_t ranks) {
  return modelled(std::string_view(lci).starts_with("via") ? "millennium" : "myrinet-ppro", lci,
                  ranks);
}

TEST_P(RemoteCopies, RandomPutsAreWhereTheyBelong) {
  for (const std::uint32_t ranks : {1u, 2u, 5u}) {
    run_memory(at_home(GetParam(), ranks), 200'000, 150);
  }
}

// Rank 0 fills memory of rank 1 with the number of the round, in pieces, and sends a packet behind
// that by each lane in turn, to rank 1 or to all; rank 1 looks whether all is there.
class AfterPuts {
 public:
  explicit AfterPuts(run::Context& context) : port_(context.port()) {}

  int run() {
    port_.bind(3, {&AfterPuts::arrived, this}, {});
    memory_ = static_cast<std::byte*>(port_.allocate(2, kBytes, lci::Place::host));
    if (memory_ == nullptr) return 1;
    Counter told;
    port_.expose_counter(1, &told);
    if (port_.self() != 0) {
      while (came_ < kRounds) (void)port_.wait({.any_packet = true, .what = "a packet"});
      return port_.self() == 1 ? early_ : 0;
    }
    std::vector<std::byte> source(kBytes);
    Counter done;
    for (int round = 1; round <= kRounds; ++round) {
      std::fill(source.begin(), source.end(), static_cast<std::byte>(round));
      const lci::PutPiece pieces[] = {{0, source.data(), 5000},
                                      {5000, source.data() + 5000, kBytes - 5000}};
      if (port_.put({1}, 2, pieces, &done, lci::kNoCounter, lci::kNoFlags) != Post::pending)
        return 2;
      const lci::Dest to = round % 2 == 0 ? lci::Dest{0, true} : lci::Dest{1};
      const auto lane = to.group ? lci::Lane::request : static_cast<lci::Lane>(round % 3);
      if (!send(to, lane, round)) return 3;
      if (!to.group && !send({2}, lci::Lane::request, round)) return 3;
      // The next round's bytes may come when these have been looked at.
      const auto at = static_cast<std::uint64_t>(round);
      (void)port_.wait({.counter = &told, .at = at, .what = "rank 1"});
      (void)port_.wait({.counter = &done, .at = at, .what = "a put"});
    }
    return done.failed == 0 ? 0 : 4;
  }

 private:
  static constexpr int kRounds = 18;
  static constexpr std::size_t kBytes = 40'000;

  bool send(lci::Dest to, lci::Lane lane, int round) {
    if (round % 4 < 2)
      return port_.send_small(to, 3, lane, {static_cast<std::uint32_t>(round)}, {}, lci::kAfter) ==
             Post::done;
    lci::Packet* const packet = port_.alloc(to, lane, 100, lci::kNoFlags);
    return packet != nullptr && port_.send(packet, 3, {static_cast<std::uint32_t>(round)}, 100, {},
                                           nullptr, lci::kAfter) == Post::done;
  }
  static Keep arrived(void* self, lci::Packet*, const lci::Arrival& arrival) {
    auto& me = *static_cast<AfterPuts*>(self);
    ++me.came_;
    const auto wanted = static_cast<std::byte>(arrival.words[0]);
    if (me.port_.self() != 1) return Keep::no;
    const std::span<const std::byte> memory(me.memory_, kBytes);
    if (std::any_of(memory.begin(), memory.end(), [=](std::byte b) { return b != wanted; }))
      ++me.early_;
    const lci::PutPiece seen{0, &wanted, 1};
    (void)me.port_.put({0}, 2, {&seen, 1}, nullptr, 1, lci::kNoFlags);
    return Keep::no;
  }

  lci::Port& port_;
  std::byte* memory_ = nullptr;
  int came_ = 0;
  int early_ = 0;
};

TEST_P(RemoteCopies, WhatIsSentAfterPutsIsBehindThem) {
  const auto report =
      run::run_world(at_home(GetParam(), 3), [](run::Context& c) { return AfterPuts(c).run(); });
  ASSERT_TRUE(report.ok()) << report.error().text;
  EXPECT_EQ(report.value().failure, "");
  for (const auto& rank : report.value().ranks) EXPECT_EQ(rank.exit_code, 0);
}

TEST(RemoteCopy, MoreMemoryThanTheTlbsKnow) {
  // Two ranks' halves of 12 MiB: three times the 1024 pages of a TLB.
  const run::RunReport report = run_memory(modelled("myrinet-p3", "rcpy", 2), 12 << 20, 3000);
  const PortCounters& counters = report.counters;
  // Expect: pages came, had to leave, and came again.
  EXPECT_GT(counters.tlb_receive_misses, 2048u);
  EXPECT_GT(counters.page_transfers, counters.tlb_send_misses);
  EXPECT_GT(counters.page_transfers, counters.tlb_receive_misses);
}

TEST(RemoteCopy, LostPacketsAreSentAgain) {
  for (const char* lci : {"rcpy-nirx", "via-nirx"}) {
    run::WorldOptions options = at_home(lci, 3);
    options.faults = "drop=0.02,dup=0.02,corrupt=0.01";
    const run::RunReport report = run_memory(options, 1 << 20, 300);
    EXPECT_GT(report.counters.retransmissions, 0u) << lci;
  }
}

// Two ranks of a node share its NI, and have segments of the same names.
TEST(RemoteCopy, NodesOfTwoRanks) {
  run::WorldOptions options = at_home("via", 4);
  options.ranks_per_node = 2;
  const run::RunReport report = run_memory(options, 200'000, 150);
  EXPECT_GT(report.counters.page_transfers, 0u);
}

// Rank 0 puts `size` bytes to rank 1 and waits for the put, twice; the second knows the pages.
int put_twice(run::Context& context, std::uint64_t offset, std::size_t size) {
  lci::Port& port = context.port();
  Counter came;
  port.expose_counter(1, &came);
  auto* source = static_cast<std::byte*>(port.allocate(1, 1 << 16, lci::Place::host));
  if (source == nullptr || port.allocate(2, 1 << 16, lci::Place::host) == nullptr) return 1;
  Counter done;
  const lci::PutPiece piece{offset, source + offset, size};
  for (std::uint64_t i = 1; i <= 2; ++i) {
    if (port.self() == 1) {
      (void)port.wait({.counter = &came, .at = i, .what = "a put"});
      continue;
    }
    port.charge({.ops = 1'000'000});
    if (port.put({1}, 2, {&piece, 1}, &done, 1, 0) != Post::pending) return 2;
    (void)port.wait({.counter = &done, .at = i, .what = "its own put"});
    if (done.ok != i) return 3;
    port.charge({.ops = 1'000'000});
    (void)port.poll();
  }
  return 0;
}

struct Split {
  std::uint64_t offset;
  std::size_t size;
  std::uint64_t pages;
};

TEST(RemoteCopy, OnePageTransferAPage) {
  for (const Split& at : {Split{0, 16, 1}, Split{0, 4096, 1}, Split{4092, 4, 1}, Split{4092, 8, 2},
                          Split{100, 4096, 2}, Split{0, 12288, 3}, Split{4, 12288, 4}}) {
    const auto report = run::run_world(modelled("myrinet-ppro", "rcpy", 2), [&](run::Context& c) {
      return put_twice(c, at.offset, at.size);
    });
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report.value().failure, "");
    const PortCounters& counters = report.value().counters;
    EXPECT_EQ(counters.page_transfers, 2 * at.pages) << at.offset << " " << at.size;
    // Expect: the first time misses on both sides, the second hits.
    EXPECT_EQ(counters.tlb_send_misses, at.pages);
    EXPECT_EQ(counters.tlb_receive_misses, at.pages);
    EXPECT_EQ(counters.packets_sent, 0u);
  }
}

constexpr std::uint64_t kPages = 200;  // more than there are anonymous pages, and NI buffers

// Rank 0 fills `kPages` pages of rank 1, which does not look for long, and sends a packet behind
// them.
int fill_a_sleeper(run::Context& context) {
  lci::Port& port = context.port();
  Counter came;
  port.bind(kChan, {count_one, &came}, {});
  auto* pages = static_cast<std::byte*>(port.allocate(1, kPages * 4096, lci::Place::host));
  if (pages == nullptr) return 1;
  if (port.self() == 1) {
    port.charge({.ops = 200'000'000});
    (void)port.wait({.counter = &came, .at = 1, .what = "the packet behind the pages"});
    for (std::uint64_t page = 0; page < kPages; ++page) {
      if (pages[page * 4096 + 4095] != static_cast<std::byte>(page + 1)) return 2;
    }
    return 0;
  }
  Counter left;
  for (std::uint64_t i = 0; i < kPages; ++i) {
    std::fill_n(&pages[i * 4096], 4096, static_cast<std::byte>(i + 1));
    const lci::PutPiece piece{i * 4096, &pages[i * 4096], 4096};
    if (port.put({1}, 1, {&piece, 1}, &left, lci::kNoCounter, 0) != Post::pending) return 3;
  }
  // From then on nothing of them is still with the host.
  (void)port.wait({.counter = &left, .at = kPages, .what = "its puts"});
  return send_numbered(port, {1}, 0, 100) ? 0 : 4;
}

TEST(RemoteCopy, NothingPassesWhatWaitsForAnAnonymousPage) {
  for (const char* lci : {"rcpy", "rcpy-nirx", "rcpy-1k"}) {
    const auto report = run::run_world(modelled("myrinet-ppro", lci, 2), fill_a_sleeper);
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report.value().failure, "") << lci;
    EXPECT_GE(report.value().counters.tlb_receive_misses, kPages) << lci;
  }
}

// Rank 1 withdraws what rank 0's puts have made known to its NI, and exposes less of it again.
int withdraw_and_expose(run::Context& context) {
  lci::Port& port = context.port();
  static constexpr lci::SegId kGoing = 1;
  Counter came;
  Counter met;
  port.expose_counter(1, &came);
  port.bind(kChan, {count_one, &met}, {});
  std::vector<std::uint64_t> words(2048, 0);
  if (port.allocate(2, 8, lci::Place::host) == nullptr) return 1;
  if (port.self() == 1 &&
      port.expose(kGoing, words.data(), 16384, lci::kWrite, nullptr, {}) != Post::done) {
    return 2;
  }
  const lci::Dest other{1 - port.self()};
  std::uint64_t turns = 0;
  const auto meet = [&] {
    (void)port.send_small(other, kChan, lci::Lane::request, {}, {}, 0);
    (void)port.wait({.counter = &met, .at = ++turns, .what = "the other"});
  };
  const auto arrives = [&](std::uint64_t offset) {
    const std::uint64_t value = offset + 1;
    Counter done;
    const lci::PutPiece piece{offset, &value, 8};
    (void)port.put({1}, kGoing, {&piece, 1}, nullptr, lci::kNoCounter, 0);
    (void)port.fence({1}, &done);
    (void)port.wait({.counter = &done, .at = 1, .what = "its fence"});
    return done.ok == 1;
  };
  meet();
  if (port.self() == 0) {
    for (int i = 0; i < 3; ++i) {
      for (std::uint64_t offset = 0; offset < 16384; offset += 4096) {
        if (!arrives(offset)) return 3;
      }
    }
    meet();
    meet();
    if (arrives(0) || arrives(4096)) return 4;
    meet();
    meet();
    // Expect: the part that is there again, and its end.
    if (!arrives(4096) || !arrives(4096 + 96) || arrives(4096 + 104) || arrives(8192)) return 5;
    meet();
    return 0;
  }
  meet();
  const Post answer = port.withdraw(kGoing);
  std::fill(words.begin(), words.end(), 0);
  meet();
  meet();
  for (const std::uint64_t word : words) {
    if (word != 0) return 6;
  }
  if (answer != Post::done ||
      port.expose(kGoing, words.data(), 4096 + 104, lci::kWrite, nullptr, {}) != Post::done) {
    return 7;
  }
  meet();
  meet();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint64_t expected = i == 512 ? 4097 : i == 524 ? 4193 : 0;
    if (words[i] != expected) return 8;
  }
  return 0;
}

TEST(RemoteCopy, WithdrawnMemoryIsNotWritten) {
  for (const char* lci : {"rcpy", "via", "via-nirx"}) {
    const auto report = run::run_world(at_home(lci, 2), withdraw_and_expose);
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report.value().failure, "") << lci;
  }
}

constexpr std::size_t kWritten = 100'000;

// Rank 0 puts into memory of rank 1, which computes until long after, and never looks at its port
// before it has looked at that memory; whose memory is told of stores, or open to rank 0 alone, is
// its host's to serve, so that nothing has come there yet.
int put_to_one_that_computes(run::Context& context, std::uint32_t permissions, bool listed,
                             bool exposed_source) {
  lci::Port& port = context.port();
  Counter came;
  port.expose_counter(1, &came);
  std::vector<std::byte> memory(kWritten);
  const Rank only = 0;
  const std::span<const Rank> allowed(&only, listed ? 1 : 0);
  if (port.expose(1, memory.data(), kWritten, permissions, nullptr, allowed) != Post::done) {
    return 1;
  }
  if (port.self() == 1) {
    port.charge({.ops = 50'000'000});
    // The others come as far in time, and nothing is taken in meanwhile.
    port.hold();
    (void)port.poll();
    const bool by_host = listed || (permissions & lci::kTold) != 0;
    const auto wanted = static_cast<std::byte>(by_host ? 0 : 7);
    if (std::any_of(memory.begin(), memory.end(), [=](std::byte b) { return b != wanted; })) {
      return 2;
    }
    port.allow();
    (void)port.wait({.counter = &came, .at = 1, .what = "a put"});
    return std::any_of(memory.begin(), memory.end(), [](std::byte b) { return b != std::byte{7}; })
               ? 3
               : 0;
  }
  std::vector<std::byte> own(kWritten, std::byte{7});
  if (exposed_source) std::fill(memory.begin(), memory.end(), std::byte{7});
  const lci::PutPiece piece{0, exposed_source ? memory.data() : own.data(), kWritten};
  Counter done;
  const Ps began = port.now();
  if (port.put({1}, 1, {&piece, 1}, &done, 1, 0) != Post::pending) return 4;
  (void)port.wait({.counter = &done, .at = 1, .what = "its own put"});
  // Expect: the interface has read all of it then, which takes it longer than a host that copies
  const bool was_read = port.now() - began > microseconds(500);
  return was_read == exposed_source && done.ok == 1 ? 0 : 5;
}

TEST(RemoteCopy, OverVirtualInterfacesTheTargetsProcessorHasNoPart) {
  struct Case {
    std::uint32_t permissions;
    bool listed;
    bool exposed_source;
  };
  for (const Case& each :
       {Case{lci::kWrite, false, true}, Case{lci::kWrite, false, false},
        Case{lci::kWrite | lci::kTold, false, true}, Case{lci::kWrite, true, true}}) {
    const auto report = run::run_world(at_home("via", 2), [&](run::Context& c) {
      return put_to_one_that_computes(c, each.permissions, each.listed, each.exposed_source);
    });
    ASSERT_TRUE(report.ok()) << report.error().text;
    EXPECT_EQ(report.value().failure, "") << each.permissions << each.listed << each.exposed_source;
    // Expect: pieces of a page
    EXPECT_EQ(report.value().counters.page_transfers, (kWritten + 4095) / 4096);
  }
}

TEST(RemoteCopy, GoldenDigest) {
  struct Golden {
    const char* on;
    std::uint64_t digest;
    std::int64_t ps;
  };
  for (const Golden& golden : {Golden{"myrinet-ppro", 0x422d0402e8b15bc9, 36975296047},
                               Golden{"myrinet-p3", 0xd3d6718d339fadd9, 18736272481}}) {
    const run::RunReport report = run_memory(modelled(golden.on, "rcpy", 3), 1 << 20, 200);
    EXPECT_EQ(report.virtual_time.count, golden.ps) << golden.on;
    EXPECT_EQ(report.digest, golden.digest) << golden.on << std::hex << " 0x" << report.digest;
  }
}

TEST(RemoteCopy, WhatDoesNotGoTogetherSaysWhy) {
  const auto report =
      run::run_world(modelled("myrinet-p3", "rcpy-hrx", 2), [](run::Context&) { return 0; });
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.error().text.find("before its host sees it"), std::string::npos)
      << report.error().text;
}

}  // namespace
}  // namespace fairlead::golden
