// Gets and atomics: behind earlier puts where they are flagged kAfter, and on words of 4 bytes.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <vector>

#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

constexpr lci::SegId kAllocated = 5;
constexpr lci::SegId kExposed = 6;
constexpr lci::SegId kWords = 7;  // in the network interface's memory
constexpr lci::SegId kReadOnly = 8;
constexpr Rank kOwner = 1;

class OrderedAccess : public PerWorld {};

// Calls until the port has room: its answer.
template <class Call>
Post begin(lci::Port& port, Call&& call) {
  for (;;) {
    const Post answer = call();
    if (answer != Post::again_credit && answer != Post::again_buffer) return answer;
    port.poll();
  }
}
bool begun(Post answer) { return answer == Post::done || answer == Post::pending; }

// Whether it went well. A call that is refused at once says so by its answer.
bool change(lci::Port& port, lci::Remote word, lci::Atomic op, std::uint64_t a, std::uint64_t b,
            std::uint64_t* old, std::uint32_t flags) {
  Counter done;
  if (!begun(begin(port, [&] { return port.atomic(word, op, a, b, old, &done, flags); }))) {
    return false;
  }
  (void)port.wait({.counter = &done, .at = 1, .what = "an atomic"});
  return done.ok == 1;
}

// Words as their owner sees them.
std::uint32_t half(const std::uint32_t& word) {
  return std::atomic_ref(const_cast<std::uint32_t&>(word)).load();
}

bool words_of_four_bytes_change_alone(lci::Port& port) {
  using lci::Atomic;
  constexpr std::uint64_t kJunk = 0xabcdef0100000000;  // is cut
  bool good = true;
  for (const std::uint64_t offset : {0, 4, 8, 12}) {
    const auto at = [&](Atomic op, std::uint64_t a, std::uint64_t b, std::uint64_t former) {
      std::uint64_t old = ~std::uint64_t{0};
      return change(port, {kOwner, kAllocated, offset}, op, a, b, &old, lci::kWord4) &&
             PORT_TEST_CHECK(old == former, port, old);
    };
    // Expect: each returns the former 4 bytes, extended by 0, and carries nothing over
    good &= PORT_TEST_CHECK(at(Atomic::swap, kJunk | 0xfffffff0, 0, 0x11111111), port, offset);
    good &= PORT_TEST_CHECK(at(Atomic::add, kJunk | 0x20, 0, 0xfffffff0), port, offset);
    good &= PORT_TEST_CHECK(at(Atomic::compare_swap, 0x11, 9, 0x10), port, offset);
    good &= PORT_TEST_CHECK(at(Atomic::compare_swap, kJunk | 0x10, kJunk | 0xff, 0x10), port, 0);
    good &= PORT_TEST_CHECK(at(Atomic::bit_and, kJunk | 0xf8, 0, 0xff), port, offset);
    good &= PORT_TEST_CHECK(at(Atomic::bit_or, kJunk | 0x80000001, 0, 0xf8), port, offset);
    good &= PORT_TEST_CHECK(at(Atomic::bit_xor, kJunk | 0xff, 0, 0x800000f9), port, offset);
    std::array<std::uint32_t, 4> seen{};
    Counter got;
    good &= PORT_TEST_CHECK(
        begun(
            begin(port,
                  [&] {
                    return port.get({kOwner, kAllocated, 0}, seen.data(), 16, &got, lci::kNoFlags);
                  })),
        port, offset);
    (void)port.wait({.counter = &got, .at = 1, .what = "the words"});
    // Expect: the words beside it as they were
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint32_t wanted = i * 4 <= offset ? 0x80000006 : 0x11111111;
      good &= PORT_TEST_CHECK(seen[i] == wanted, port, offset * 10 + i);
    }
  }
  const auto refused = [&](lci::SegId segment, std::uint64_t offset) {
    return !change(port, {kOwner, segment, offset}, lci::Atomic::add, 1, 0, nullptr, lci::kWord4);
  };
  // Expect: refused where not aligned, not within, not permitted, not there
  good &= PORT_TEST_CHECK(refused(kAllocated, 2), port, 0);
  good &= PORT_TEST_CHECK(refused(kAllocated, 1 << 20), port, 0);
  good &= PORT_TEST_CHECK(refused(kAllocated, ~std::uint64_t{3}), port, 0);
  good &= PORT_TEST_CHECK(refused(kReadOnly, 0), port, 0);
  good &= PORT_TEST_CHECK(refused(99, 0), port, 0);
  return good;
}

TEST_P(OrderedAccess, words_of_four_bytes_are_changed_by_all_and_alone) {
  constexpr unsigned kRanks = 4;
  run_ranks(GetParam(), kRanks, [](run::Context& rank) {
    lci::Port& port = rank.port();
    constexpr std::size_t kBytes = 1 << 20;
    constexpr std::uint32_t kEach = 40;
    auto* const words =
        static_cast<std::uint32_t*>(port.allocate(kAllocated, kBytes, lci::Place::host));
    auto* const counted = static_cast<std::uint32_t*>(port.allocate(kWords, 16, lci::Place::ni));
    std::array<std::uint32_t, 4> read_only{};
    bool good = PORT_TEST_CHECK(port.expose(kReadOnly, read_only.data(), sizeof read_only,
                                            lci::kRead, nullptr, {}) == Post::done,
                                port, 0);
    std::fill_n(words, 4, 0x11111111u);
    Meeting meeting(port);
    good &= PORT_TEST_CHECK(meeting.meet(), port, 1);
    if (port.self() == 0) good &= words_of_four_bytes_change_alone(port);
    good &= PORT_TEST_CHECK(meeting.meet(), port, 2);
    if (port.self() == kOwner) {
      std::fill_n(words, 4, ~0u - kEach);
      std::fill_n(counted, 4, ~0u - kEach);
    }
    good &= PORT_TEST_CHECK(meeting.meet(), port, 3);
    // All ranks, the owner too, on the second and third word of each memory: past the wrap.
    std::vector<std::uint64_t> former(4 * kEach);
    Counter done;
    std::uint64_t asked = 0;
    for (std::uint32_t i = 0; i < kEach; ++i) {
      for (const lci::SegId segment : {kAllocated, kWords}) {
        for (const std::uint64_t offset : {4, 8}) {
          std::uint64_t* const old = &former[asked++];
          const Post answer = begin(port, [&] {
            return port.atomic({kOwner, segment, offset}, lci::Atomic::add, 1, 0, old, &done,
                               lci::kWord4);
          });
          good &= PORT_TEST_CHECK(begun(answer), port, int(answer));
        }
      }
      if (!good) break;
      good &= PORT_TEST_CHECK(
          port.wait({.counter = &done, .at = asked, .what = "atomics"}) == Post::done, port, i);
    }
    good &= PORT_TEST_CHECK(meeting.meet(), port, 4);
    // Expect: nothing lost, and nothing carried into the words beside
    if (port.self() == kOwner) {
      for (const std::uint32_t* const memory : {words, counted}) {
        for (std::size_t i = 0; i < 4; ++i) {
          const bool changed = i == 1 || i == 2;
          const std::uint32_t wanted = ~0u - kEach + (changed ? kRanks * kEach : 0);
          good &= PORT_TEST_CHECK(half(memory[i]) == wanted, port, half(memory[i]));
        }
      }
    }
    // Expect: of one word, as many values as adds, each later than the one before
    for (std::size_t i = 4; i < former.size(); ++i) {
      const auto step = static_cast<std::uint32_t>(former[i] - former[i - 4]);
      good &= PORT_TEST_CHECK(step >= 1 && step <= kRanks * kEach, port, step);
      good &= PORT_TEST_CHECK(former[i] <= ~0u, port, former[i]);
    }
    return PORT_TEST_CHECK(meeting.meet(), port, 5) && good;
  });
}

// Puts `bytes` in pieces of several sizes, and does not wait for them.
bool put_all(lci::Port& port, lci::SegId segment, const std::vector<std::byte>& bytes) {
  const std::size_t ends[] = {bytes.size() * 2 / 3, bytes.size() - 8, bytes.size()};
  std::size_t from = 0;
  for (const std::size_t end : ends) {
    const lci::PutPiece piece{from, bytes.data() + from, end - from};
    if (!begun(begin(port, [&] {
          return port.put({kOwner}, segment, {&piece, 1}, nullptr, lci::kNoCounter, lci::kNoFlags);
        }))) {
      return false;
    }
    from = end;
  }
  return true;
}

constexpr std::size_t kSizes[] = {24, 5000, 200'000};
constexpr std::size_t kLongest = 200'000;
constexpr std::uint64_t kRounds = 12;
std::byte pattern(std::uint64_t round) { return static_cast<std::byte>(round * 37 + 1); }

bool ordered_writer(lci::Port& port, Meeting& meeting) {
  bool good = true;
  std::vector<std::byte> bytes;
  for (std::uint64_t round = 1; round <= kRounds && good; ++round) {
    // By turns to memory of either kind, where another part of a system may serve it.
    const lci::SegId segment = round % 2 == 0 ? kAllocated : kExposed;
    bytes.assign(kSizes[round % 3], pattern(round));
    good &= PORT_TEST_CHECK(put_all(port, segment, bytes), port, round);
    std::uint64_t last = 0;
    Counter got;
    good &= PORT_TEST_CHECK(
        begun(begin(
            port,
            [&] {
              return port.get({kOwner, segment, bytes.size() - 8}, &last, 8, &got, lci::kAfter);
            })),
        port, round);
    // The flag that the owner waits for: its memory's, or the network interface's.
    const lci::Remote word =
        round % 4 < 2 ? lci::Remote{kOwner, kAllocated, kLongest} : lci::Remote{kOwner, kWords, 0};
    good &= PORT_TEST_CHECK(change(port, word, lci::Atomic::add, 1, 0, nullptr, lci::kAfter), port,
                            round);
    good &= PORT_TEST_CHECK(
        port.wait({.counter = &got, .at = 1, .what = "what was put"}) == Post::done, port, round);
    // Expect: it reads what was put
    good &= PORT_TEST_CHECK(std::memcmp(&last, bytes.data(), 8) == 0, port, round);
    // Until the owner has looked.
    good &= PORT_TEST_CHECK(meeting.meet(), port, round);
  }
  return good;
}

TEST_P(OrderedAccess, gets_and_atomics_come_after_puts) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    auto* const memory =
        static_cast<std::byte*>(port.allocate(kAllocated, kLongest + 8, lci::Place::host));
    auto* const word = static_cast<std::uint64_t*>(port.allocate(kWords, 16, lci::Place::ni));
    std::vector<std::byte> own(kLongest);
    bool good = PORT_TEST_CHECK(port.expose(kExposed, own.data(), own.size(),
                                            lci::kRead | lci::kWrite, nullptr, {}) == Post::done,
                                port, 0);
    Meeting meeting(port);
    good &= PORT_TEST_CHECK(meeting.meet(), port, 1);
    if (port.self() != kOwner) {
      good &= ordered_writer(port, meeting);
      return PORT_TEST_CHECK(meeting.meet(), port, 2) && good;
    }
    std::uint64_t in_memory = 0;
    std::uint64_t in_ni = 0;
    auto* const flag = reinterpret_cast<std::uint64_t*>(memory + kLongest);
    for (std::uint64_t round = 1; round <= kRounds && good; ++round) {
      std::uint64_t* const waits_for = round % 4 < 2 ? flag : word;
      const std::uint64_t wanted = round % 4 < 2 ? ++in_memory : ++in_ni;
      while (std::atomic_ref(*waits_for).load() < wanted) port.poll();
      // Expect: with the flag all that was put before it
      const std::byte* const at = round % 2 == 0 ? memory : own.data();
      const std::size_t size = kSizes[round % 3];
      good &= PORT_TEST_CHECK(
          std::count(at, at + size, pattern(round)) == static_cast<std::ptrdiff_t>(size), port,
          round);
      good &= PORT_TEST_CHECK(meeting.meet(), port, round);
    }
    return PORT_TEST_CHECK(meeting.meet(), port, 2) && good;
  });
}

INSTANTIATE_PORT_TESTS(OrderedAccess);

}  // namespace
}  // namespace fairlead::port_test
