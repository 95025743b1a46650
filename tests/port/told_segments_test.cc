// Segments whose owner is told of what others store there (kTold), and waits for it.
#include <cstring>
#include <vector>

#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

constexpr lci::SegId kSegment = 30;
constexpr lci::SegId kOther = 31;
constexpr std::uint32_t kAll = lci::kRead | lci::kWrite | lci::kAtomic;
constexpr unsigned kRanks = 3;
constexpr std::size_t kBytes = std::size_t{200} << 10;

class ToldSegments : public PerWorld {};
INSTANTIATE_PORT_TESTS(ToldSegments);

bool began(Post answer) { return answer == Post::done || answer == Post::pending; }

bool ends(lci::Port& port, Counter& counter, std::uint64_t at) {
  return port.wait({.counter = &counter, .at = at, .what = "the test's operations"}) == Post::done;
}
// The memory of a segment that its owner is told of.
std::byte* told_memory(lci::Port& port, lci::SegId segment, std::size_t bytes) {
  void* const memory = port.allocate(segment, bytes, lci::Place::host);
  const bool told = port.regrant(segment, kAll | lci::kTold, {}) == Post::done;
  return told ? static_cast<std::byte*>(memory) : nullptr;
}
bool put(lci::Port& port, lci::Dest dest, lci::SegId segment, std::uint64_t offset,
         const void* data, std::size_t size) {
  const lci::PutPiece piece{offset, data, size};
  Counter done;
  return began(port.put(dest, segment, {&piece, 1}, &done, lci::kNoCounter, lci::kNoFlags)) &&
         ends(port, done, 1);
}
// Nothing has been stored there that no wait has seen.
bool is_quiet(lci::Port& port, lci::SegId segment) {
  return port.wait(
             {.segment = segment, .deadline = port.now() + microseconds(300), .what = "nothing"}) ==
         Post::again_credit;
}
bool await_bytes(lci::Port& port, lci::SegId segment, const std::byte* memory,
                 const std::vector<std::byte>& wanted) {
  while (std::memcmp(memory, wanted.data(), wanted.size()) != 0) {
    if (port.wait({.segment = segment, .what = "what a peer puts"}) != Post::done) return false;
  }
  return true;
}

TEST_P(ToldSegments, end_a_wait_by_what_a_peer_puts) {
  run_ranks(GetParam(), kRanks, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Meeting meeting(port);
    std::byte* const memory = told_memory(port, kSegment, kBytes);
    if (!PORT_TEST_CHECK(memory != nullptr && meeting.meet(), port, 0)) return false;
    bool good = PORT_TEST_CHECK(is_quiet(port, kSegment) && meeting.meet(), port, 1);
    int seed = 0;
    for (const std::size_t size : {std::size_t{8}, std::size_t{3000}, kBytes}) {
      const std::vector<std::byte> data(size, static_cast<std::byte>(++seed));
      if (port.self() == 1)
        good &= PORT_TEST_CHECK(put(port, {0}, kSegment, 0, data.data(), size), port, seed);
      if (port.self() == 0) {
        good &= PORT_TEST_CHECK(await_bytes(port, kSegment, memory, data), port, seed);
      }
      good &= PORT_TEST_CHECK(meeting.meet(), port, seed);
    }
    // Expect: the others heard nothing of it
    if (port.self() != 0) good &= PORT_TEST_CHECK(is_quiet(port, kSegment), port, 2);
    return PORT_TEST_CHECK(meeting.meet(), port, 3) && good;
  });
}

TEST_P(ToldSegments, miss_nothing_that_comes_between_two_waits) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Meeting meeting(port);
    std::byte* const memory = told_memory(port, kSegment, 4096);
    if (!PORT_TEST_CHECK(memory != nullptr && meeting.meet(), port, 0)) return false;
    auto* const word = reinterpret_cast<std::uint64_t*>(memory);
    bool good = true;
    // In turn: each rank answers a number by the next one.
    for (std::uint64_t number = 1; number <= 100; ++number) {
      if (number % 2 == port.self()) {
        good &= PORT_TEST_CHECK(put(port, {1 - port.self()}, kSegment, 0, &number, sizeof number),
                                port, static_cast<long long>(number));
        continue;
      }
      while (std::atomic_ref(*word).load() < number) {
        if (!PORT_TEST_CHECK(port.wait({.segment = kSegment, .what = "the number"}) == Post::done,
                             port, static_cast<long long>(number)))
          return false;
      }
    }
    return PORT_TEST_CHECK(meeting.meet(), port, 1) && good;
  });
}

TEST_P(ToldSegments, tell_of_atomics_and_of_the_owner_itself) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Meeting meeting(port);
    std::byte* const memory = told_memory(port, kSegment, 4096);
    if (!PORT_TEST_CHECK(memory != nullptr && meeting.meet(), port, 0)) return false;
    auto* const word = reinterpret_cast<std::uint64_t*>(memory);
    bool good = true;
    if (port.self() == 1) {
      Counter done;
      good &= PORT_TEST_CHECK(
          began(port.atomic({0, kSegment, 0}, lci::Atomic::add, 5, 0, nullptr, &done)) &&
              ends(port, done, 1),
          port, 1);
    } else {
      while (std::atomic_ref(*word).load() != 5) {
        if (!PORT_TEST_CHECK(port.wait({.segment = kSegment, .what = "the sum"}) == Post::done,
                             port, 2))
          return false;
      }
      // Expect: a put to oneself is told, too
      const std::uint64_t nine = 9;
      good &= PORT_TEST_CHECK(put(port, {0}, kSegment, 8, &nine, sizeof nine), port, 3);
      while (std::atomic_ref(word[1]).load() != 9) {
        if (!PORT_TEST_CHECK(
                port.wait({.segment = kSegment, .what = "a put to oneself"}) == Post::done, port,
                4))
          return false;
      }
    }
    return PORT_TEST_CHECK(meeting.meet(), port, 6) && good;
  });
}

TEST_P(ToldSegments, are_told_apart) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Meeting meeting(port);
    const bool made =
        told_memory(port, kSegment, 4096) != nullptr && told_memory(port, kOther, 4096) != nullptr;
    if (!PORT_TEST_CHECK(made && meeting.meet(), port, 0)) return false;
    bool good = true;
    const std::uint64_t value = 3;
    if (port.self() == 1) {
      good &= PORT_TEST_CHECK(put(port, {0}, kOther, 0, &value, sizeof value), port, 1);
    } else {
      // Expect: one of several conditions
      const lci::Until other{.segment = kOther};
      good &= PORT_TEST_CHECK(
          port.wait({.segment = kSegment, .what = "either", .also = &other}) == Post::done, port,
          2);
      good &= PORT_TEST_CHECK(is_quiet(port, kSegment) && is_quiet(port, kOther), port, 3);
    }
    return PORT_TEST_CHECK(meeting.meet(), port, 4) && good;
  });
}

TEST_P(ToldSegments, others_are_invalid_to_wait_for) {
  run_ranks(GetParam(), 1, [](run::Context& rank) {
    lci::Port& port = rank.port();
    const auto answer = [&port](lci::SegId segment) {
      return port.wait({.segment = segment, .deadline = port.now(), .what = "nothing"});
    };
    bool good = PORT_TEST_CHECK(answer(kSegment) == Post::invalid, port, 0);
    (void)port.allocate(kSegment, 64, lci::Place::host);
    good &= PORT_TEST_CHECK(answer(kSegment) == Post::invalid, port, 1);
    good &= PORT_TEST_CHECK(port.regrant(kSegment, kAll | lci::kTold, {}) == Post::done, port, 2);
    good &= PORT_TEST_CHECK(answer(kSegment) == Post::again_credit, port, 3);
    const lci::Until other{.segment = kOther};
    good &=
        PORT_TEST_CHECK(port.wait({.segment = kSegment, .also = &other}) == Post::invalid, port, 4);
    good &= PORT_TEST_CHECK(port.regrant(kSegment, kAll, {}) == Post::done, port, 5);
    good &= PORT_TEST_CHECK(answer(kSegment) == Post::invalid, port, 6);
    std::uint64_t own[8] = {};
    good &= PORT_TEST_CHECK(
        port.expose(kOther, own, sizeof own, lci::kWrite | lci::kTold, nullptr, {}) == Post::done,
        port, 7);
    good &= PORT_TEST_CHECK(answer(kOther) == Post::again_credit, port, 8);
    good &= PORT_TEST_CHECK(port.withdraw(kOther) == Post::done, port, 9);
    return PORT_TEST_CHECK(answer(kOther) == Post::invalid, port, 10) && good;
  });
}

// Memory of the program's own, which peers reach otherwise than what the port allocated.
TEST_P(ToldSegments, tell_of_puts_to_each_member_of_a_group) {
  run_ranks(GetParam(), kRanks, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Meeting meeting(port);
    std::vector<std::byte> memory(4096);
    const bool exposed = port.expose(kSegment, memory.data(), memory.size(), kAll | lci::kTold,
                                     nullptr, {}) == Post::done;
    if (!PORT_TEST_CHECK(exposed && meeting.meet(), port, 0)) return false;
    const std::vector<std::byte> data(1000, std::byte{7});
    bool good = true;
    if (port.self() == 0) {
      good &= PORT_TEST_CHECK(put(port, {0, true}, kSegment, 0, data.data(), data.size()), port, 1);
    } else {
      good &= PORT_TEST_CHECK(await_bytes(port, kSegment, memory.data(), data), port, 2);
    }
    return PORT_TEST_CHECK(meeting.meet(), port, 3) && good;
  });
}

}  // namespace
}  // namespace fairlead::port_test
