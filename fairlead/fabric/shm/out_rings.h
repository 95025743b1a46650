// The sending half of the ring pairs of one rank: a slot is written as one cache line, its stamp
// last. Cost: bench/port_shm shows the ring beside the machine's limit.
#pragma once
#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "fairlead/base/copy_small.h"
#include "fairlead/base/prefetch.h"
#include "fairlead/fabric/shm/doorbell.h"
#include "fairlead/fabric/shm/view.h"

namespace fairlead::fabric {

class ShmOutRings {
 public:
  // Few words, and those that seldom change written only then: a sender's stores wait in line
  // behind those into slots that the receiver had last (docs/performance.md).
  struct Ring : ShmCursor {
    ShmLaneLines* words = nullptr;
    std::uint32_t limit = 0;  // up to where slots are known to be free
    bool tailed = false;      // the last message had a tail
    bool burst = false;       // it was sent, and nothing came since
    bool closed = false;      // the peer is gone

    std::uint32_t room() const { return limit - position; }
  };

  // fences: the receivers' barrier cannot reach this process.
  // first: where positions begin.
  ShmOutRings(const ShmView& view, Peer self, bool fences, std::uint32_t first)
      : view_(view), self_(self), fences_(fences), rings_(view.layout().ranks * kLanes) {
    for (Peer peer = 0; peer < view.layout().ranks; ++peer)
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        Ring& ring = of(peer, lane);
        ring.slots = view.ring(peer, self, lane);
        ring.words = &view.pair(self, peer).lane[lane];
        ring.start = ring.position = first + shm_ring_start(self, lane);
        ring.limit = ring.start + kShmRingSlots;
      }
  }

  Ring& of(Peer peer, std::uint32_t lane) { return rings_[peer * kLanes + lane]; }

  // Gets hold of the lines of the next message: one is likely to be sent there soon.
  static void expect(Ring& ring) {
    ring.burst = false;
    prefetch_to_write(&ring.slot());
    if (ring.tailed) prefetch_to_write(&ring.slot(1));
  }
  // Whether there is room for a message without a tail: slot() is where.
  static bool has_room(Ring& ring) { return ring.room() != 0 || refresh(ring); }
  // As above, with a tail.
  static bool has_room_for_pair(Ring& ring) {
    const bool first = shm_first_of_pair(&ring.slot());
    const std::uint32_t slots = first ? 2 : 3;
    if (ring.room() < slots && !(refresh(ring) && ring.room() >= slots)) [[unlikely]]
      return false;
    if (!first) {
      ring.slot().flag.store(shm_flag(kShmSkipped, ring.stamp()), std::memory_order_relaxed);
      ++ring.position;
    }
    // Each line is written in one go, the tail before the slot.
    shm_tail(ring.slot()).flag.store(shm_flag(0, ring.stamp()), std::memory_order_relaxed);
    return true;
  }
  // Publishes the next slot, for which there is room; fill(payload) writes that. Nothing else is
  // stored between what goes into the slot's line, which the receiver looks at: it would take the
  // line away in between (docs/performance.md). False: it does not poll this ring, call() it.
  template <class Fill>
  [[nodiscard]] bool publish(Ring& ring, std::uint64_t route, WordVector words, std::uint32_t size,
                             bool in_buffer, bool tailed, Fill&& fill) const {
    return publish(ring, route, words, size, in_buffer, tailed, fill, fences_);
  }
  // As above, where it is known whether senders fence.
  template <class Fill>
  [[nodiscard, gnu::always_inline]] static bool publish(Ring& ring, std::uint64_t route,
                                                        WordVector words, std::uint32_t size,
                                                        bool in_buffer, bool tailed, Fill&& fill,
                                                        bool fences) {
    ShmCursor at = ring;
    ShmSlot& slot = at.slot();
    const std::uint64_t flag = shm_flag(size, in_buffer ? at.stamp() | kShmInBuffer : at.stamp());
    if (ring.tailed != tailed) [[unlikely]]
      ring.tailed = tailed;
    at.position += tailed ? 2 : 1;
    ring.position = at.position;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    fill(slot.payload);
    std::memcpy(slot.words, &words, sizeof words);
    slot.route = route;
    // A receiver that turns `hot` off runs a membarrier before it looks at the ring for the last
    // time, so that a plain store will do: it sees the slot, or this thread sees the word.
    if (fences) [[unlikely]] {
      slot.flag.exchange(flag);
    } else {
      slot.flag.store(flag, std::memory_order_release);
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    // In a burst the lines are asked for before they are written: otherwise each write waits
    // for its line, one after the other (docs/performance.md).
    if (ring.burst) {
      prefetch_to_write(&at.slot(kAhead));
    } else {
      ring.burst = true;
    }
    return ring.words->hot.load(std::memory_order_acquire) != 0;
  }
  // A message of more than kShmSlotBytes that is inline; has_room_for_pair().
  [[nodiscard, gnu::always_inline]] static bool publish_pair(Ring& ring, std::uint64_t route,
                                                             WordVector words, const void* data,
                                                             std::size_t size, bool fences) {
    const auto* from = static_cast<const std::byte*>(data);
    ShmSlot& slot = ring.slot();
    return publish(
        ring, route, words, static_cast<std::uint32_t>(size), false, true,
        [&](std::byte* at) {
          copy_line(shm_tail(slot).payload, from + kShmSlotBytes, size - kShmSlotBytes);
          std::memcpy(at, from, kShmSlotBytes);
        },
        fences);
  }
  // One whose bytes are in a buffer of the sender's pool; has_room().
  [[nodiscard, gnu::always_inline]] static bool publish_buffer(Ring& ring, std::uint64_t route,
                                                               WordVector words, std::size_t size,
                                                               std::uint32_t index, bool fences) {
    return publish(
        ring, route, words, static_cast<std::uint32_t>(size), true, false,
        [&](std::byte* at) { std::memcpy(at, &index, sizeof index); }, fences);
  }
  [[gnu::noinline, gnu::cold]] void call(Peer dest, std::uint32_t lane) {
    const std::uint64_t bit = std::uint64_t{1} << (self_ % 64);
    const std::uint64_t before = view_.attention(dest, lane)[self_ / 64].fetch_or(bit);
    if ((before & bit) == 0) shm_ring(view_.control(dest).doorbell);
  }

  // The peer is gone: there is no room any more.
  void close(Peer peer) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      Ring& ring = of(peer, lane);
      ring.limit = ring.position;
      ring.closed = true;
    }
  }
  bool fences() const { return fences_; }
  bool closed(Peer peer) const { return rings_[peer * kLanes].closed; }

 private:
  static constexpr std::uint32_t kAhead = 16;

  // Reads how many slots the receiver has consumed. A number that cannot be frees nothing.
  [[gnu::noinline]] static bool refresh(Ring& ring) {
    if (ring.closed) return false;
    const std::uint32_t consumed = ring.start + ring.words->head.load(std::memory_order_acquire);
    if (ring.position - consumed >= kShmRingSlots) return false;
    ring.limit = consumed + kShmRingSlots;
    return true;
  }

  ShmView view_;
  Peer self_;
  bool fences_;
  std::vector<Ring> rings_;
};

}  // namespace fairlead::fabric
