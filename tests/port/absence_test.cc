// Over a network, a rank sends a burst and then makes no call for as long as it takes: everything
// arrives all the same, and what comes for it meanwhile is there when it calls again.
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/port/wake_parts.h"

namespace fairlead::port_test {
namespace {

using namespace lci;  // NOLINT: a test of it

constexpr SegId kSegment = 9;

struct Absence : PerWorld {};

// Memory that both ranks see without a call.
struct Board {
  std::atomic<std::uint64_t> came{0};
};

TEST_P(Absence, of_a_sender_holds_up_no_burst) {
  void* const memory =
      ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const board = new (memory) Board;
  constexpr std::uint64_t kBurst = 200;
  constexpr int kTimes = 3;
  run_two(GetParam(), [board](Port& port, Seen& seen) {
    bool good = true;
    for (std::uint64_t time = 1; time <= kTimes; ++time) {
      if (port.self() == 0) {
        for (std::uint64_t i = 0; i < kBurst; ++i) good &= PORT_TEST_CHECK(ask(port), port, i);
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (board->came.load() < time * kBurst && std::chrono::steady_clock::now() < end) {
          std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
        good &= PORT_TEST_CHECK(board->came.load() == time * kBurst, port, board->came.load());
      }
      const Ps limit = port.now() + seconds(20);
      const std::atomic<std::uint64_t>& due = port.self() == 0 ? seen.answered : seen.asked;
      // All of it may have come while the ranks met.
      if (port.self() == 1) board->came.store(seen.asked);
      while (due < time * kBurst && port.now() < limit) {
        (void)port.wait({.any_packet = true, .deadline = limit});
        if (port.self() == 1) board->came.store(seen.asked);
      }
      good &= PORT_TEST_CHECK(due == time * kBurst, port, due.load());
    }
    return good;
  });
  ::munmap(memory, sizeof(Board));
}

bool put(Port& port, std::span<const std::byte> data, std::size_t at) {
  Counter done;
  Post begun = Post::again_credit;
  while (begun == Post::again_credit || begun == Post::again_buffer) {
    begun = port.put({0}, kSegment, std::array{PutPiece{at, data.data(), data.size()}}, &done,
                     kNoCounter, kNoFlags);
    if (begun != Post::done && begun != Post::pending) port.poll();
  }
  (void)port.wait({.counter = &done, .at = 1, .what = "a put"});
  return done.ok == 1;
}

// Pieces of puts come, and are acknowledged, while the target is between two calls.
TEST_P(Absence, of_a_target_loses_no_put) {
  void* const memory =
      ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const board = new (memory) Board;
  constexpr std::size_t kBytes = 256 << 10;
  constexpr std::size_t kPuts = 40;
  run_two(GetParam(), [board](Port& port, Seen& seen) {
    bool good = true;
    if (port.self() == 1) {
      while (seen.asked == 0) (void)port.wait({.any_packet = true});
      for (std::size_t i = 0; i < kPuts; ++i) {
        const std::vector<std::byte> data(kBytes, static_cast<std::byte>(i + 1));
        good &= PORT_TEST_CHECK(put(port, data, i * kBytes), port, i);
      }
      Counter visible;
      while (port.fence({0}, &visible) == Post::again_credit) port.poll();
      (void)port.wait({.counter = &visible, .at = 1, .what = "a fence"});
      board->came.store(1);
      return good && PORT_TEST_CHECK(visible.ok == 1, port, 0);
    }
    const auto* const at =
        static_cast<const std::byte*>(port.allocate(kSegment, kPuts * kBytes, Place::host));
    const Ps limit = port.now() + seconds(40);
    while (board->came.load() == 0 && port.now() < limit) {
      good &= PORT_TEST_CHECK(ask(port), port, 0);
      std::this_thread::sleep_for(std::chrono::microseconds(1500));
      for (int i = 0; i < 3; ++i) port.poll();
    }
    good &= PORT_TEST_CHECK(board->came.load() == 1, port, 0);
    for (std::size_t i = 0; good && i < kPuts * kBytes; i += 512) {
      good &= PORT_TEST_CHECK(at[i] == static_cast<std::byte>(i / kBytes + 1), port, i);
    }
    return good;
  });
  ::munmap(memory, sizeof(Board));
}

INSTANTIATE_PORT_TESTS_IN(Absence, ::testing::Values("udp", "lossy", "nirx"));

}  // namespace
}  // namespace fairlead::port_test
