// Operations that begin when a counter has come so far, in chains over several ranks.
#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

constexpr lci::SegId kMemory = 5;
constexpr lci::CtrId kCame = 3;
constexpr unsigned kRanks = 4;

class When : public PerWorld {};

using Operation = lci::Operation;

Operation put_of(lci::Dest to, std::uint64_t offset, const void* data, std::size_t size,
                 lci::CtrId remote, Counter* done) {
  Operation put;
  put.dest = to;
  put.segment = kMemory;
  put.offset = offset;
  put.data = data;
  put.size = size;
  put.remote = remote;
  put.done = done;
  return put;
}
Operation add_of(Rank to, std::uint64_t offset, std::uint64_t a, std::uint32_t flags,
                 Counter* done) {
  Operation add;
  add.kind = Operation::Kind::atomic;
  add.flags = flags;
  add.dest = {to};
  add.segment = kMemory;
  add.offset = offset;
  add.a = a;
  add.done = done;
  return add;
}
bool accepted(Post answer) { return answer == Post::done || answer == Post::pending; }
bool reached(lci::Port& port, Counter& counter, std::uint64_t at) {
  const bool done = counter.failed == 0 &&
                    port.wait({.counter = &counter, .at = at, .what = "a chain"}) == Post::done;
  return done && counter.ok >= at && counter.failed == 0;
}

// A token of some bytes goes round the ranks: each passes on what it was given, by an operation
// that waits for the counter which the put of the rank before bumps. Only rank 0 begins one by
// hand.
TEST_P(When, puts_that_bump_counters_form_a_chain_over_all_ranks) {
  run_ranks(GetParam(), kRanks, [](run::Context& rank) {
    lci::Port& port = rank.port();
    constexpr std::uint64_t kLaps = 30;
    constexpr std::size_t kBytes = 3000;
    auto* const memory = static_cast<std::byte*>(port.allocate(kMemory, kBytes, lci::Place::host));
    Counter came;
    port.expose_counter(kCame, &came);
    const Rank next = (port.self() + 1) % kRanks;
    Counter passed;
    bool good = true;
    // Later laps first: they begin in the order of the counter all the same.
    for (std::uint64_t lap = kLaps; lap > 0; --lap) {
      if (port.self() == 0 && lap == kLaps) continue;  // it ends here
      good &= PORT_TEST_CHECK(
          accepted(port.when(&came, lap, put_of({next}, 0, memory, kBytes, kCame, &passed))), port,
          lap);
    }
    Meeting meeting(port);
    good &= PORT_TEST_CHECK(meeting.meet(), port, 0);
    // Expect: nothing has begun
    good &= PORT_TEST_CHECK(came.ok == 0 && passed.ok == 0, port, came.ok);
    good &= PORT_TEST_CHECK(meeting.meet(), port, 1);
    if (port.self() == 0) {
      std::fill_n(memory, kBytes, std::byte{0x5a});
      Counter never;
      // Expect: where the counter is there already it begins at once
      good &= PORT_TEST_CHECK(
          accepted(port.when(&never, 0, put_of({next}, 0, memory, kBytes, kCame, &passed))), port,
          2);
    }
    // Expect: on each rank one bump a lap, and the bytes with it
    good &= PORT_TEST_CHECK(reached(port, came, kLaps), port, came.ok);
    good &= PORT_TEST_CHECK(
        std::count(memory, memory + kBytes, std::byte{0x5a}) == static_cast<std::ptrdiff_t>(kBytes),
        port, 3);
    good &= PORT_TEST_CHECK(reached(port, passed, kLaps), port, passed.ok);
    good &= PORT_TEST_CHECK(meeting.meet(), port, 4);
    good &= PORT_TEST_CHECK(came.ok == kLaps && passed.ok == kLaps, port, came.ok);
    return PORT_TEST_CHECK(meeting.meet(), port, 5) && good;
  });
}

TEST_P(When, operations_of_one_counter_begin_in_the_order_of_their_values) {
  run_ranks(GetParam(), kRanks, [](run::Context& rank) {
    lci::Port& port = rank.port();
    constexpr std::uint64_t kMany = 60;
    auto* const words = static_cast<std::uint64_t*>(port.allocate(kMemory, 1024, lci::Place::host));
    Meeting meeting(port);
    bool good = PORT_TEST_CHECK(meeting.meet(), port, 0);
    const Rank to = (port.self() + 1) % kRanks;
    Counter gate;
    std::vector<Counter> done(kMany + 1);
    std::vector<std::uint64_t> numbers(kMany + 1);
    // Each puts its number over that of the one before, if that is what it finds: by swaps.
    for (std::uint64_t i = 0; i < kMany; ++i) {
      const std::uint64_t at = 1 + i * 17 % kMany;  // each once, out of order
      Operation swap = add_of(to, 0, 0, lci::kNoFlags, &done[at]);
      swap.op = lci::Atomic::compare_swap;
      swap.a = at - 1;
      swap.b = at;
      good &= PORT_TEST_CHECK(accepted(port.when(&gate, at, swap)), port, at);
    }
    // Chained on the last of them: a word of 4 bytes, and a put to all behind it.
    good &= PORT_TEST_CHECK(
        accepted(port.when(&done[kMany], 1, add_of(to, 8, 5, lci::kWord4, &done[0]))), port, 1);
    const std::uint64_t mine = 100 + port.self();
    Counter told;
    good &= PORT_TEST_CHECK(accepted(port.when(&done[0], 1,
                                               put_of({0, true}, 64 + 8 * port.self(), &mine, 8,
                                                      lci::kNoCounter, &told))),
                            port, 2);
    for (int i = 0; i < 50; ++i) port.poll();
    // Expect: nothing begins before its time; then all that may, in order
    good &= PORT_TEST_CHECK(meeting.meet(), port, 3);
    good &= PORT_TEST_CHECK(words[0] == 0, port, words[0]);
    good &= PORT_TEST_CHECK(meeting.meet(), port, 4);
    gate.ok = kMany / 2;
    good &= PORT_TEST_CHECK(reached(port, done[kMany / 2], 1), port, 5);
    good &= PORT_TEST_CHECK(done[kMany / 2 + 1].ok == 0, port, 6);
    gate.failed = 1;  // counts as well
    good &= PORT_TEST_CHECK(reached(port, done[kMany / 2 + 1], 1), port, 7);
    gate.ok = kMany - 1;
    good &= PORT_TEST_CHECK(reached(port, told, 1), port, 8);
    Counter fenced;
    (void)port.fence({0, true}, &fenced);
    good &= PORT_TEST_CHECK(reached(port, fenced, 1), port, 9);
    good &= PORT_TEST_CHECK(meeting.meet(), port, 10);
    good &= PORT_TEST_CHECK(std::atomic_ref(words[0]).load() == kMany, port, words[0]);
    good &= PORT_TEST_CHECK(words[1] == 5, port, words[1]);
    for (Rank r = 0; r < kRanks; ++r) {
      const std::uint64_t wanted = r == port.self() ? 0 : 100 + r;
      good &= PORT_TEST_CHECK(words[8 + r] == wanted, port, words[8 + r]);
    }
    return PORT_TEST_CHECK(meeting.meet(), port, 11) && good;
  });
}

TEST_P(When, what_cannot_be_is_refused_and_the_number_is_bound) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    (void)port.allocate(kMemory, 64, lci::Place::host);
    Meeting meeting(port);
    bool good = PORT_TEST_CHECK(meeting.meet(), port, 0);
    Counter gate;
    Counter done;
    const Rank peer = 1 - port.self();
    const Operation add = add_of(peer, 0, 1, lci::kNoFlags, &done);
    good &= PORT_TEST_CHECK(port.when(nullptr, 1, add) == Post::invalid, port, 1);
    good &= PORT_TEST_CHECK(
        port.when(&gate, 1, add_of(9, 0, 1, lci::kNoFlags, &done)) == Post::invalid, port, 2);
    // Expect: refused when it begins: counted as failed, and the next one goes on
    good &= PORT_TEST_CHECK(
        accepted(port.when(&gate, 1, add_of(peer, 1 << 20, 1, lci::kNoFlags, &done))), port, 3);
    good &= PORT_TEST_CHECK(accepted(port.when(&gate, 1, add)), port, 4);
    gate.ok = 1;
    while (done.ok + done.failed < 2) (void)port.wait({.counter = &done, .at = 2, .what = "both"});
    good &= PORT_TEST_CHECK(done.ok == 1 && done.failed == 1, port, done.failed);
    // Expect: kWhenMax and no more; those that have begun make room
    std::size_t taken = 0;
    Post answer = Post::pending;
    while (accepted(answer)) {
      answer = port.when(&gate, 2 + taken % 3, add);
      if (accepted(answer)) ++taken;
    }
    good &= PORT_TEST_CHECK(answer == Post::again_buffer && taken == lci::kWhenMax, port, taken);
    gate.ok = 2;
    const std::uint64_t begun = (lci::kWhenMax + 2) / 3;
    while (done.ok < 1 + begun) {
      (void)port.wait({.counter = &done, .at = 2 + begun, .what = "those that begin"});
    }
    good &= PORT_TEST_CHECK(accepted(port.when(&gate, 9, add)), port, 5);
    good &= PORT_TEST_CHECK(done.ok == 1 + begun && done.failed == 1, port, done.ok);
    return PORT_TEST_CHECK(meeting.meet(), port, 6) && good;
  });
}

INSTANTIATE_PORT_TESTS(When);

}  // namespace
}  // namespace fairlead::port_test
