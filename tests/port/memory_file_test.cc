// A job whose memory lies in a file that several hosts map: what its ranks do when each of them has
// a host of its own, so that no kernel reaches another rank.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

constexpr std::size_t kStripe = 100'000;  // of a rank, in each other one's memory
constexpr std::uint64_t kAdds = 100;
constexpr lci::SegId kWindow = 11;

std::vector<std::byte> stripe_of(Rank from, Rank to) {
  std::vector<std::byte> data(kStripe);
  for (std::size_t i = 0; i < kStripe; ++i) {
    data[i] = static_cast<std::byte>(i * 7 + i / 256 + from * 31 + to * 5);
  }
  return data;
}
bool ended(lci::Port& port, const Counter& counter, std::uint64_t at) {
  while (counter.ok + counter.failed < at) {
    if (port.wait({.counter = &counter, .at = at}) == Post::peer_down) return false;
  }
  return counter.failed == 0;
}

// Each rank puts to all, gets from all, and adds to rank 0's words.
bool moves_memory(lci::Port& port, Meeting& meeting) {
  const Rank ranks = port.size();
  auto* const memory =
      static_cast<std::byte*>(port.allocate(kWindow, ranks * kStripe + 64, lci::Place::host));
  if (!PORT_TEST_CHECK(memory != nullptr && meeting.meet(), port, 0)) return false;
  Counter done;
  std::uint64_t begun = 0;
  for (Rank to = 0; to < ranks; ++to) {
    const auto data = stripe_of(port.self(), to);
    const lci::PutPiece piece{port.self() * kStripe, data.data(), data.size()};
    (void)port.put({to}, kWindow, {&piece, 1}, &done, lci::kNoCounter, lci::kNoFlags);
    (void)port.fence({to}, &done);
    begun += 2;
    if (!PORT_TEST_CHECK(ended(port, done, begun), port, to)) return false;
  }
  for (std::uint64_t i = 0; i < kAdds; ++i) {
    (void)port.atomic({0, kWindow, ranks * kStripe}, lci::Atomic::add, 3, 0, nullptr, &done);
  }
  if (!PORT_TEST_CHECK(ended(port, done, begun += kAdds), port, 0)) return false;
  if (!PORT_TEST_CHECK(meeting.meet(), port, 1)) return false;
  bool right = true;
  for (Rank from = 0; from < ranks; ++from) {
    const auto wanted = stripe_of(from, port.self());
    right &= PORT_TEST_CHECK(std::memcmp(memory + from * kStripe, wanted.data(), kStripe) == 0,
                             port, from);
    std::vector<std::byte> got(kStripe);
    (void)port.get({from, kWindow, port.self() * kStripe}, got.data(), kStripe, &done, 0);
    right &= PORT_TEST_CHECK(ended(port, done, ++begun), port, from);
    right &= PORT_TEST_CHECK(got == stripe_of(port.self(), from), port, from);
  }
  std::uint64_t sum = 0;
  (void)port.get({0, kWindow, ranks * kStripe}, &sum, sizeof sum, &done, 0);
  right &= PORT_TEST_CHECK(ended(port, done, ++begun), port, 0);
  right &= PORT_TEST_CHECK(sum == ranks * kAdds * 3, port, static_cast<long long>(sum));
  return PORT_TEST_CHECK(meeting.meet(), port, 2) && right;
}

bool body(run::Context& rank, bool coherent) {
  lci::Port& port = rank.port();
  for (Rank peer = 0; peer < port.size(); ++peer) {
    const std::uint64_t flags = port.caps(peer).flags;
    const bool mapped = (flags & lci::kMappable) != 0;
    // Expect: memory that all can map where it is coherent, and no copies by the kernel from other
    // hosts
    if (!PORT_TEST_CHECK(mapped == (coherent || peer == port.self()), port, flags)) return false;
    const bool copied = peer != port.self() && (flags & lci::kSingleCopy) != 0;
    if (!PORT_TEST_CHECK(!copied, port, flags)) return false;
  }
  Meeting meeting(port);
  // Long enough to sleep, which nobody ends in time but the sleeper.
  const Ps begin = port.now();
  for (int i = 0; i < 20; ++i) {
    if (port.self() == 0) (void)port.wait({.deadline = port.now() + milliseconds(2)});
    if (!PORT_TEST_CHECK(meeting.meet(), port, i)) return false;
  }
  const Ps took = port.now() - begin;
  return PORT_TEST_CHECK(took < seconds(2), port, took.count) && moves_memory(port, meeting);
}

TEST(MemoryFile, IsAllThatHostsHaveInCommon) {
  for (const bool coherent : {true, false}) {
    char path[] = "/tmp/fairlead-memory-XXXXXX";
    ::close(::mkstemp(path));
    run::WorldOptions options = options_of("shm", 4);
    options.memory = std::string(path) + (coherent ? "" : ",software");
    options.ranks_per_node = 1;
    options.rank_memory_mib = 16;
    const Result<run::RunReport> report = run::run_world(
        options, [coherent](run::Context& rank) { return body(rank, coherent) ? 0 : 1; });
    ::unlink(path);
    ASSERT_TRUE(report.ok()) << report.error().text;
    EXPECT_EQ(report.value().exit_code, 0) << report.value().failure;
  }
}

}  // namespace
}  // namespace fairlead::port_test
