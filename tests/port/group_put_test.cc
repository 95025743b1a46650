// Groups: puts and fences to all members of one, and ids that are used again.
#include <algorithm>
#include <numeric>
#include <vector>

#include "fairlead/base/prng.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

constexpr lci::SegId kSegment = 5;
constexpr lci::CtrId kCame = 3;
constexpr unsigned kRanks = 5;

class Groups : public PerWorld {};

// Until the put goes: the members' queues have bounds.
bool put_to(lci::Port& port, lci::Dest group, const lci::PutPiece& piece, lci::CtrId remote) {
  Counter sent;
  for (;;) {
    const Post answer = port.put(group, kSegment, {&piece, 1}, &sent, remote, lci::kNoFlags);
    if (answer == Post::done || answer == Post::pending) break;
    if (answer != Post::again_credit && answer != Post::again_buffer) return false;
    port.poll();
  }
  return port.wait({.counter = &sent, .at = 1, .what = "a put to a group"}) == Post::done;
}

TEST_P(Groups, a_put_reaches_every_other_member_once) {
  run_ranks(GetParam(), kRanks, [](run::Context& rank) {
    lci::Port& port = rank.port();
    constexpr std::size_t kStripe = 9000;
    auto* const memory =
        static_cast<std::byte*>(port.allocate(kSegment, kStripe * kRanks, lci::Place::host));
    Counter came;
    port.expose_counter(kCame, &came);
    Meeting meeting(port);
    bool good = PORT_TEST_CHECK(meeting.meet(), port, 0);
    // Each rank writes its stripe at all others; the first call's bytes change after it.
    std::vector<std::byte> mine(kStripe, static_cast<std::byte>(port.self() + 1));
    const lci::Dest all{0, true};
    const lci::PutPiece piece{kStripe * port.self(), mine.data(), kStripe};
    good &= PORT_TEST_CHECK(put_to(port, all, piece, kCame), port, 1);
    std::fill(mine.begin(), mine.end(), std::byte{0xee});
    Counter fenced;
    const Post fence = port.fence(all, &fenced);
    good &= PORT_TEST_CHECK(fence == Post::done || fence == Post::pending, port, int(fence));
    good &= PORT_TEST_CHECK(
        port.wait({.counter = &fenced, .at = 1, .what = "the fence"}) == Post::done, port, 2);
    good &= PORT_TEST_CHECK(meeting.meet(), port, 3);
    // Expect: every other rank's stripe as it was when put, this rank's own untouched.
    for (std::size_t at = 0; at < kStripe * kRanks; ++at) {
      const auto writer = at / kStripe;
      const auto wanted = writer == port.self() ? std::byte{0} : static_cast<std::byte>(writer + 1);
      if (!PORT_TEST_CHECK(memory[at] == wanted, port, static_cast<long long>(at))) return false;
    }
    // Expect: the counter counts one for each put of each other rank.
    good &= PORT_TEST_CHECK(
        port.wait({.counter = &came, .at = kRanks - 1, .what = "the counter"}) == Post::done, port,
        4);
    good &= PORT_TEST_CHECK(came.ok == kRanks - 1, port, static_cast<long long>(came.ok));
    return PORT_TEST_CHECK(meeting.meet(), port, 5) && good;
  });
}

TEST_P(Groups, ids_are_used_again) {
  run_ranks(GetParam(), kRanks, [](run::Context& rank) {
    lci::Port& port = rank.port();
    constexpr std::uint16_t kGroup = 9;
    constexpr lci::Chan kChan = 2;
    auto* const words =
        static_cast<std::uint64_t*>(port.allocate(kSegment, 8 * kRanks, lci::Place::host));
    std::uint64_t arrived = 0;
    const auto count = [](void* counted, lci::Packet*, const lci::Arrival& arrival) {
      if (arrival.via_group) ++*static_cast<std::uint64_t*>(counted);
      return Keep::no;
    };
    port.bind(kChan, {count, &arrived}, {});
    Meeting meeting(port);
    bool good = PORT_TEST_CHECK(meeting.meet(), port, 0);
    Prng draw(11);  // the same on every rank
    std::uint64_t wanted = 0;
    std::vector<std::uint64_t> written(kRanks);
    for (std::uint64_t round = 1; round <= 40 && good; ++round) {
      std::vector<Rank> members(kRanks);
      std::iota(members.begin(), members.end(), Rank{0});
      for (std::size_t left = kRanks; left > 1; --left) {
        std::swap(members[left - 1], members[draw.below(left)]);
      }
      members.resize(2 + draw.below(kRanks - 1));
      const bool member = std::find(members.begin(), members.end(), port.self()) != members.end();
      const Rank root = members[draw.below(members.size())];
      if (member) {
        good &= PORT_TEST_CHECK(port.group(kGroup, members) == Post::done, port, round);
        // Expect: an id in use is refused.
        good &= PORT_TEST_CHECK(port.group(kGroup, members) == Post::invalid, port, round);
        if (port.self() != root) {
          ++wanted;
          written[root] = round;
        }
      }
      if (port.self() == root) {
        const lci::Words none{};
        good &= PORT_TEST_CHECK(port.send_small({kGroup, true}, kChan, lci::Lane::request, none, {},
                                                lci::kNoFlags) == Post::done,
                                port, round);
        const lci::PutPiece piece{8 * port.self(), &round, sizeof round};
        good &= PORT_TEST_CHECK(put_to(port, {kGroup, true}, piece, lci::kNoCounter), port, round);
        Counter fenced;
        (void)port.fence({kGroup, true}, &fenced);
        good &= PORT_TEST_CHECK(
            port.wait({.counter = &fenced, .at = 1, .what = "the fence"}) == Post::done, port,
            round);
      }
      while (arrived < wanted) {
        good &= PORT_TEST_CHECK(port.wait({.any_packet = true,
                                           .deadline = port.now() + seconds(20),
                                           .what = "the packet"}) == Post::done,
                                port, round);
        if (!good) break;
      }
      good &= PORT_TEST_CHECK(meeting.meet(), port, round);
      // Expect: members alone have what was put; then the id is free, once.
      for (Rank r = 0; r < kRanks; ++r) {
        good &= PORT_TEST_CHECK(words[r] == written[r], port, round * 100 + r);
      }
      good &= PORT_TEST_CHECK(arrived == wanted, port, static_cast<long long>(arrived));
      if (member) good &= PORT_TEST_CHECK(port.ungroup(kGroup) == Post::done, port, round);
      good &= PORT_TEST_CHECK(port.ungroup(kGroup) == Post::invalid, port, round);
      good &= PORT_TEST_CHECK(meeting.meet(), port, round);
    }
    // Expect: what is no group here, or is every rank, is refused.
    const std::uint64_t value = 1;
    const lci::PutPiece piece{0, &value, sizeof value};
    good &= PORT_TEST_CHECK(port.put({kGroup, true}, kSegment, {&piece, 1}, nullptr,
                                     lci::kNoCounter, lci::kNoFlags) == Post::invalid,
                            port, 1);
    good &= PORT_TEST_CHECK(port.fence({kGroup, true}, nullptr) == Post::invalid, port, 2);
    good &= PORT_TEST_CHECK(port.ungroup(0) == Post::invalid, port, 3);
    return good;
  });
}

INSTANTIATE_PORT_TESTS(Groups);

}  // namespace
}  // namespace fairlead::port_test
