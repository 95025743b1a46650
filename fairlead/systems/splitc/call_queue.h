// A bounded queue of calls to one rank, in memory that other ranks of its node map: any of them
// puts calls in, the rank itself takes them out, in the order in which they got their places. (The
// Split-C paper, section 5.3, leaves `atomic` within a node open and names such a queue.)
//
// Memory of zeros is an empty queue. A place goes from free to called to answered, and is free
// again for the next lap; who finds the next place in use finds the queue full.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fairlead::splitc {

class CallQueue {
 public:
  static constexpr std::uint32_t kPlaces = 16;
  static constexpr std::size_t kBytesMax = 4096;  // of a call's data, and of an answer's

  struct alignas(64) Place {
    std::atomic<std::uint64_t> turn;  // kPhases * lap + phase
    std::uint32_t source;
    std::uint32_t kind;
    std::array<std::uint32_t, 4> words;
    std::uint64_t bytes;  // of data
    alignas(64) std::array<std::byte, kBytesMax> data;
  };

  // A place that a caller has; it fills it, calls send(), and calls release() once it has read the
  // answer, where there is one.
  struct Claim {
    Place* place = nullptr;  // nullptr: the queue is full, until *word >= value
    const std::atomic<std::uint64_t>* word = nullptr;
    std::uint64_t value = 0;  // otherwise: the answer is there once *word >= value
  };

  // --- By callers, from any process.
  Claim claim() {
    std::uint64_t at = claimed_.load(std::memory_order_acquire);
    for (;;) {
      Place& place = places_[at % kPlaces];
      const std::uint64_t free = at / kPlaces * kPhases;
      const std::uint64_t turn = place.turn.load(std::memory_order_acquire);
      if (turn == free) {
        if (claimed_.compare_exchange_weak(at, at + 1, std::memory_order_acq_rel)) {
          return {&place, &place.turn, free + kAnswered};
        }
        continue;
      }
      const std::uint64_t now = claimed_.load(std::memory_order_acquire);
      if (now == at) return {nullptr, &place.turn, free};
      at = now;
    }
  }
  static void send(Place& place) { place.turn.fetch_add(kCalled, std::memory_order_acq_rel); }

  // --- By the owner alone.
  // The oldest call that has not been taken; nullptr: there is none.
  Place* next() {
    Place& place = places_[taken_ % kPlaces];
    if (place.turn.load(std::memory_order_acquire) != call_turn()) return nullptr;
    ++taken_;
    return &place;
  }
  // A call has come, or is there, once *word >= value.
  const std::atomic<std::uint64_t>& next_word() const { return places_[taken_ % kPlaces].turn; }
  std::uint64_t next_value() const { return call_turn(); }
  // The answer is in the place, which is its caller's until release().
  static void answer(Place& place) { place.turn.fetch_add(1, std::memory_order_acq_rel); }
  // A call that has no answer has been served.
  static void drop(Place& place) {
    place.turn.fetch_add(kPhases - kCalled, std::memory_order_acq_rel);
  }

  // --- By the caller.
  static void release(Place& place) {
    place.turn.fetch_add(kPhases - kAnswered, std::memory_order_acq_rel);
  }

 private:
  static constexpr std::uint64_t kCalled = 1;
  static constexpr std::uint64_t kAnswered = 2;
  static constexpr std::uint64_t kPhases = 4;

  std::uint64_t call_turn() const { return taken_ / kPlaces * kPhases + kCalled; }

  alignas(64) std::atomic<std::uint64_t> claimed_;  // places, since the start
  alignas(64) std::uint64_t taken_;                 // by the owner
  std::array<Place, kPlaces> places_;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace fairlead::splitc
