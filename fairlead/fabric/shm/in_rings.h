// The receiving half of the ring pairs of one rank. Polling costs one cached load per ring of a
// small hot list, whatever the number of ranks: senders of other rings set a bit and ring the bell.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "fairlead/fabric/shm/out_rings.h"
#include "fairlead/fabric/shm/view.h"

namespace fairlead::fabric {

class ShmInRings {
 public:
  static constexpr std::uint32_t kHotMax = 16;

  // barriers: membarrier works, so that rings can be hot at all.
  ShmInRings(const ShmView& view, Peer self, bool barriers, bool fences);

  // Calls take(sender, lane, slot, in_buffer) for at most `budget` messages of the lanes in
  // `lanes`; answers how many. `take` must not call back into this object.
  template <class Take>
  int reap(int budget, LaneMask lanes, Take&& take) {
    int done = 0;
    if (bell_->rung.load(std::memory_order_relaxed) != seen_) [[unlikely]]
      answer_bell();
    ++now_;
    for (std::uint32_t i = 0; i < hot_count_; ++i) {
      Ring& ring = rings_[hot_[i]];
      if (((lanes >> ring.lane) & 1u) == 0) continue;
      const int n = drain(ring, std::min(budget - done, kBurst), take);
      if (n > 0) ring.last_active = now_;
      done += n;
    }
    if (todo_count_ != 0) [[unlikely]]
      done += serve_called(budget - done, lanes, take);
    return done;
  }

  // Whether reap() has messages of `peer` left that came before now.
  void call_for(Peer peer);
  bool called(Peer peer) const;

  // Turns every hot ring cold, then sleeps until a sender rings or `timeout` passed. Answers false
  // when something had come already and it did not sleep.
  bool sleep(Ps timeout);

 private:
  struct Ring {
    ShmSlot* slots = nullptr;
    ShmPairLine::LaneWords* words = nullptr;
    std::uint64_t head = 0;
    std::uint32_t told = 0;      // consumed, as the sender knows
    std::uint32_t consumed = 0;  // modulo 2^32
    std::uint64_t last_active = 0;
    Peer sender = 0;
    std::uint32_t lane = 0;
    bool hot = false;
    bool todo = false;  // in todo_: the sender called and the ring was not yet found empty
  };
  // The sender learns of free slots in batches: one cache line moves per this many messages.
  static constexpr std::uint32_t kTellEvery = 16;
  // Of one ring before the next gets its turn.
  static constexpr int kBurst = 16;

  bool ready(const Ring& ring, std::uint32_t& stamp) const {
    ShmSlot& slot = ring.slots[ring.head % kShmRingSlots];
    stamp = std::atomic_ref<std::uint32_t>(slot.header.stamp).load(std::memory_order_acquire);
    return (stamp >> 1) == shm_lap(ring.head);
  }

  template <class Take>
  int drain(Ring& ring, int budget, Take&& take) {
    int done = 0;
    std::uint32_t stamp;
    while (done < budget && ready(ring, stamp)) {
      take(ring.sender, ring.lane, ring.slots + ring.head % kShmRingSlots, (stamp & 1u) != 0);
      ++ring.head;
      ++ring.consumed;
      ++done;
      if (ring.consumed - ring.told >= kTellEvery) {
        ring.told = ring.consumed;
        ring.words->head.store(ring.consumed, std::memory_order_release);
      }
    }
    return done;
  }

  // Rings that called: drained, and made hot while there is room.
  template <class Take>
  int serve_called(int budget, LaneMask lanes, Take&& take) {
    int done = 0;
    std::uint32_t left = 0;
    for (std::uint32_t i = 0; i < todo_count_; ++i) {
      Ring& ring = rings_[todo_[i]];
      bool finished = false;
      if (done < budget && ((lanes >> ring.lane) & 1u) != 0) {
        done += drain(ring, budget - done, take);
        std::uint32_t stamp;
        finished = !ready(ring, stamp);
      }
      if (finished) {
        ring.todo = false;
        warm(ring);
      } else {
        todo_[left++] = todo_[i];
      }
    }
    todo_count_ = left;
    return done;
  }

  std::uint32_t number(const Ring& ring) const { return ring.sender * kLanes + ring.lane; }
  void add_todo(Ring& ring);
  void answer_bell();
  void warm(Ring& ring);
  void cool_idle();
  bool cool(std::uint64_t idle_for);

  ShmView view_;
  Peer self_;
  bool barriers_;
  bool fences_;
  ShmDoorbell* bell_;
  std::uint32_t seen_ = 0;
  std::uint64_t now_ = 0;           // calls of reap()
  std::uint64_t next_cooling_ = 0;  // not before this call: a membarrier costs microseconds
  std::uint32_t hot_count_ = 0;
  std::uint32_t todo_count_ = 0;
  std::uint32_t hot_[kHotMax] = {};  // ring numbers
  std::vector<std::uint32_t> todo_;  // ring numbers; room for all
  std::vector<Ring> rings_;
};

}  // namespace fairlead::fabric
