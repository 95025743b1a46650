// Grants that change in place, and segments that are withdrawn, in every world.
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

constexpr lci::SegId kSegment = 70;
constexpr unsigned kRanks = 3;

class Regrant : public PerWorld {};
INSTANTIATE_PORT_TESTS(Regrant);

bool moved(lci::Port& port, Counter& done, Post answer) {
  if (answer != Post::done && answer != Post::pending) return false;
  while (done.ok + done.failed == 0) {
    (void)port.wait({.counter = &done, .at = 1, .what = "the test's operation"});
  }
  return done.failed == 0;
}

// Whether a put of one word to rank 0 comes through, and a get from there.
bool puts(lci::Port& port, std::uint64_t value) {
  const lci::PutPiece piece{8, &value, sizeof value};
  Counter put;
  Counter fenced;
  const bool sent =
      moved(port, put, port.put({0}, kSegment, {&piece, 1}, &put, lci::kNoCounter, lci::kNoFlags));
  const bool there = moved(port, fenced, port.fence({0}, &fenced));
  return sent && there;
}
bool gets(lci::Port& port, std::uint64_t value) {
  std::uint64_t got = 0;
  Counter done;
  return moved(port, done, port.get({0, kSegment, 8}, &got, sizeof got, &done, lci::kNoFlags)) &&
         got == value;
}

TEST_P(Regrant, changes_who_may_do_what) {
  run_ranks(GetParam(), kRanks, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Meeting meeting(port);
    std::uint64_t memory[8] = {0, 7};
    const Rank only_one[] = {1};
    const Rank only_two[] = {2};
    const bool owner = port.self() == 0;
    bool good = true;
    const auto grant = [&](std::uint32_t permissions, std::span<const Rank> allowed) {
      if (owner) {
        good &= PORT_TEST_CHECK(port.regrant(kSegment, permissions, allowed) == Post::done, port,
                                permissions);
      }
      good &= meeting.meet();
    };
    if (owner) {
      good &= PORT_TEST_CHECK(port.regrant(kSegment, lci::kRead, {}) == Post::invalid, port, 0);
      good &= PORT_TEST_CHECK(
          port.expose(kSegment, memory, sizeof memory, lci::kRead, nullptr, only_one) == Post::done,
          port, 0);
    }
    good &= meeting.meet();
    // Expect: rank 1 reads, rank 2 does nothing
    if (!owner) good &= PORT_TEST_CHECK(gets(port, 7) == (port.self() == 1), port, 1);
    if (!owner) good &= PORT_TEST_CHECK(!puts(port, 9), port, 2);
    good &= meeting.meet();
    grant(lci::kRead | lci::kWrite, only_two);
    // Expect: rank 2 reads and writes, rank 1 may not any more
    if (port.self() == 1) good &= PORT_TEST_CHECK(!gets(port, 7) && !puts(port, 8), port, 3);
    if (port.self() == 2) good &= PORT_TEST_CHECK(puts(port, 11) && gets(port, 11), port, 4);
    good &= meeting.meet();
    grant(lci::kRead, {});
    // Expect: all read
    if (!owner) good &= PORT_TEST_CHECK(gets(port, 11) && !puts(port, 12), port, 5);
    good &= meeting.meet();
    if (owner) good &= PORT_TEST_CHECK(memory[1] == 11, port, static_cast<long long>(memory[1]));
    // Expect: nobody anything, and it cannot be granted
    if (owner) good &= PORT_TEST_CHECK(port.withdraw(kSegment) == Post::done, port, 6);
    if (owner) {
      good &= PORT_TEST_CHECK(port.regrant(kSegment, lci::kRead, {}) == Post::invalid, port, 7);
    }
    good &= meeting.meet();
    if (!owner) good &= PORT_TEST_CHECK(!gets(port, 11) && !puts(port, 13), port, 8);
    good &= meeting.meet();
    return good;
  });
}

// Where the answer is there at once, it says so.
TEST_P(Regrant, tells_withdrawn_from_unknown) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    std::uint64_t word = 1;
    bool good = PORT_TEST_CHECK(
        port.expose(kSegment, &word, sizeof word, lci::kRead, nullptr, {}) == Post::done, port, 0);
    good &= PORT_TEST_CHECK(port.withdraw(kSegment) == Post::done, port, 1);
    std::uint64_t got = 0;
    Counter done;
    const Post gone = port.get({port.self(), kSegment, 0}, &got, sizeof got, &done, lci::kNoFlags);
    if (gone != Post::pending) good &= PORT_TEST_CHECK(gone == Post::withdrawn, port, 2);
    const Post unknown =
        port.get({port.self(), kSegment + 1, 0}, &got, sizeof got, &done, lci::kNoFlags);
    if (unknown != Post::pending) good &= PORT_TEST_CHECK(unknown == Post::invalid, port, 3);
    const std::uint64_t pending =
        (gone == Post::pending ? 1 : 0) + (unknown == Post::pending ? 1 : 0);
    while (done.failed < pending) {
      (void)port.wait({.counter = &done, .at = pending, .what = "refusals"});
    }
    good &= PORT_TEST_CHECK(done.ok == 0 && got == 0, port, 4);
    return good;
  });
}

}  // namespace
}  // namespace fairlead::port_test
