// The sending half of the ring pairs of one rank: a slot is written as one cache line, its stamp
// last. Cost: bench/port_shm shows the ring beside the machine's limit.
#pragma once
#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "fairlead/fabric/shm/kernel.h"
#include "fairlead/fabric/shm/view.h"

namespace fairlead::fabric {

// Position at which the ring of (sender, lane) starts: spreads the rings of one receiver over the
// sets of its cache, as all rings begin on a page.
constexpr std::uint64_t shm_ring_start(Peer sender, std::uint32_t lane) {
  return (sender * 5 + lane * 21) % kShmRingSlots;
}
// What (stamp >> 1) must be for the message at `position`. Differs from the slot's former value
// even when the 31 bits wrap.
constexpr std::uint32_t shm_lap(std::uint64_t position) {
  return static_cast<std::uint32_t>(position / kShmRingSlots + 1) & 0x7fffffffu;
}

class ShmOutRings {
 public:
  // fences: the receivers' barrier cannot reach this process.
  ShmOutRings(const ShmView& view, Peer self, bool fences)
      : view_(view), self_(self), fences_(fences), rings_(view.layout().ranks * kLanes) {
    for (Peer peer = 0; peer < view.layout().ranks; ++peer)
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        Ring& ring = rings_[peer * kLanes + lane];
        ring.slots = view.ring(peer, self, lane);
        ring.words = &view.pair(self, peer).lane[lane];
        ring.tail = shm_ring_start(self, lane);
        ring.limit = ring.tail + kShmRingSlots;
      }
  }

  // The next slot towards `dest`, or nullptr: full, or the peer was closed.
  ShmSlot* claim(Peer dest, std::uint32_t lane) {
    Ring& ring = rings_[dest * kLanes + lane];
    if (ring.tail == ring.limit && !refresh(ring, lane)) [[unlikely]]
      return nullptr;
    return ring.slots + ring.tail % kShmRingSlots;
  }
  // Publishes the claimed slot, whose payload is written.
  void publish(Peer dest, std::uint32_t lane, ShmSlot* slot, const ClientHeader& header,
               bool in_buffer) {
    Ring& ring = rings_[dest * kLanes + lane];
    std::memcpy(slot->header.words, header.words, sizeof header.words);
    std::memcpy(&slot->header, &header, offsetof(ClientHeader, stamp));
    const std::uint32_t stamp = (shm_lap(ring.tail) << 1) | (in_buffer ? 1u : 0u);
    ++ring.tail;
    // A receiver that turns `hot` off runs a membarrier before it looks at the ring for the last
    // time, so that a plain store will do: it sees the slot, or this thread sees the word.
    std::atomic_ref<std::uint32_t> flag(slot->header.stamp);
    if (fences_) {
      flag.exchange(stamp);
    } else {
      flag.store(stamp, std::memory_order_release);
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    if (ring.words->hot.load(std::memory_order_acquire) == 0) [[unlikely]]
      call(dest, lane);
  }

  // The peer is gone: claim() answers nullptr from now on.
  void close(Peer peer) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      Ring& ring = rings_[peer * kLanes + lane];
      ring.limit = ring.tail;
      ring.closed = true;
    }
  }
  bool closed(Peer peer) const { return rings_[peer * kLanes].closed; }

 private:
  struct Ring {
    ShmSlot* slots = nullptr;
    ShmPairLine::LaneWords* words = nullptr;
    std::uint64_t tail = 0;
    std::uint64_t limit = 0;
    bool closed = false;
  };

  // Reads how many slots the receiver has consumed. A number that cannot be frees nothing.
  bool refresh(Ring& ring, std::uint32_t lane) {
    if (ring.closed) return false;
    const std::uint32_t consumed = ring.words->head.load(std::memory_order_acquire);
    const std::uint64_t sent = ring.tail - shm_ring_start(self_, lane);
    const std::uint32_t in_flight = static_cast<std::uint32_t>(sent) - consumed;
    if (in_flight >= kShmRingSlots) return false;
    ring.limit = ring.tail + kShmRingSlots - in_flight;
    return true;
  }

  void call(Peer dest, std::uint32_t lane) {
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
