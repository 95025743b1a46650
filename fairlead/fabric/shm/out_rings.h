// The sending half of the ring pairs of one rank: a slot is written as one cache line, its stamp
// last. Cost: bench/port_shm shows the ring beside the machine's limit.
#pragma once
#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "fairlead/base/prefetch.h"
#include "fairlead/fabric/shm/kernel.h"
#include "fairlead/fabric/shm/view.h"

namespace fairlead::fabric {

class ShmOutRings {
 public:
  // fences: the receivers' barrier cannot reach this process.
  ShmOutRings(const ShmView& view, Peer self, bool fences)
      : view_(view), self_(self), fences_(fences), rings_(view.layout().ranks * kLanes) {
    for (Peer peer = 0; peer < view.layout().ranks; ++peer)
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        Ring& ring = rings_[peer * kLanes + lane];
        ShmSlot* const slots = view.ring(peer, self, lane);
        ring.next = slots + shm_ring_start(self, lane);
        ring.end = slots + kShmRingSlots;
        ring.words = &view.pair(self, peer).lane[lane];
        ring.room = kShmRingSlots;
      }
  }

  // Gets hold of the lines of the next message: one is likely to be sent to `dest` soon.
  void expect(Peer dest, std::uint32_t lane) {
    Ring& ring = rings_[dest * kLanes + lane];
    ring.burst = false;
    prefetch_to_write(ring.next);
    if (ring.tailed) prefetch_to_write(ring.next + 1);
  }
  // The next slot towards `dest`, or nullptr: full, or the peer was closed.
  ShmSlot* claim(Peer dest, std::uint32_t lane) {
    Ring& ring = rings_[dest * kLanes + lane];
    if (ring.room == 0 && !refresh(ring)) [[unlikely]]
      return nullptr;
    return ring.next;
  }
  // The same with a tail.
  ShmSlot* claim_pair(Peer dest, std::uint32_t lane) {
    Ring& ring = rings_[dest * kLanes + lane];
    const bool first = shm_first_of_pair(ring.next);
    const std::uint32_t slots = first ? 2 : 3;
    if (ring.room < slots && !(refresh(ring) && ring.room >= slots)) [[unlikely]]
      return nullptr;
    if (!first) {
      ring.next->flag.store(shm_flag(kShmSkipped, ring.stamp), std::memory_order_relaxed);
      advance(ring, 1);
    }
    // Each line is written in one go, the tail before the slot.
    shm_tail(*ring.next).flag.store(shm_flag(0, ring.stamp), std::memory_order_relaxed);
    return ring.next;
  }
  // Publishes the claimed slot, whose payload is written.
  void publish(Peer dest, std::uint32_t lane, std::uint64_t route, WordVector words,
               std::uint32_t size, std::uint32_t in_buffer) {
    Ring& ring = rings_[dest * kLanes + lane];
    ShmSlot& slot = *ring.next;
    std::memcpy(slot.words, &words, sizeof words);
    slot.route = route;
    const std::uint64_t flag = shm_flag(size, ring.stamp | in_buffer);
    ring.tailed = shm_tailed(flag);
    advance(ring, ring.tailed ? 2 : 1);
    // A receiver that turns `hot` off runs a membarrier before it looks at the ring for the last
    // time, so that a plain store will do: it sees the slot, or this thread sees the word.
    if (fences_) [[unlikely]] {
      slot.flag.exchange(flag);
    } else {
      slot.flag.store(flag, std::memory_order_release);
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    // Of several in a row the lines are asked for before they are written: else each write waits
    // for its line, one after the other (docs/performance.md).
    if (ring.burst) prefetch_to_write(ring.next + kAhead);
    ring.burst = true;
    if (ring.words->hot.load(std::memory_order_acquire) == 0) [[unlikely]]
      call(dest, lane);
  }

  // The peer is gone: claim() answers nullptr from now on.
  void close(Peer peer) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      Ring& ring = rings_[peer * kLanes + lane];
      ring.room = 0;
      ring.closed = true;
    }
  }
  bool closed(Peer peer) const { return rings_[peer * kLanes].closed; }

 private:
  static constexpr std::uint32_t kAhead = 2;

  struct Ring {
    ShmSlot* next = nullptr;
    ShmSlot* end = nullptr;
    ShmLaneLines* words = nullptr;
    std::uint32_t stamp = kShmFirstStamp;  // of `next`
    std::uint32_t room = 0;                // slots that are known to be free
    std::uint32_t sent = 0;                // modulo 2^32
    bool closed = false;
    bool tailed = false;  // the last message had a tail
    bool burst = false;   // it was sent, and nothing came since
  };

  static void advance(Ring& ring, std::uint32_t slots) {
    ring.room -= slots;
    ring.sent += slots;
    ring.next += slots;
    if (ring.next == ring.end) {
      ring.next -= kShmRingSlots;
      ring.stamp += kShmLap;
    }
  }

  // Reads how many slots the receiver has consumed. A number that cannot be frees nothing.
  bool refresh(Ring& ring) {
    if (ring.closed) return false;
    const std::uint32_t in_flight = ring.sent - ring.words->head.load(std::memory_order_acquire);
    if (in_flight >= kShmRingSlots) return false;
    ring.room = kShmRingSlots - in_flight;
    return true;
  }

  [[gnu::noinline, gnu::cold]] void call(Peer dest, std::uint32_t lane) {
    const std::uint64_t bit = std::uint64_t{1} << (self_ % 64);
    const std::uint64_t before = view_.attention(dest, lane)[self_ / 64].fetch_or(bit);
    if ((before & bit) == 0) shm_ring(view_.control(dest).doorbell);
  }

  ShmView view_;
  Peer self_;
  bool fences_;
  std::vector<Ring> rings_;
};

}  // namespace fairlead::fabric
