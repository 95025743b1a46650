// The receiving half of the ring pairs of one rank. Polling costs one cached load per ring of a
// small hot list, whatever the number of ranks: senders of other rings set a bit and ring the bell.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "fairlead/base/wait_ladder.h"
#include "fairlead/fabric/nic.h"
#include "fairlead/fabric/shm/view.h"

namespace fairlead::fabric {

class ShmInRings {
 public:
  static constexpr std::uint32_t kHotMax = 16;

  // What lets a ring be hot although its sender must see in time that it is so no more: that all
  // senders can be made to pass a barrier, or fence themselves, or that it stays hot (`always`:
  // some are of other hosts, whom a membarrier does not reach). Of none, no ring is hot.
  struct Heat {
    bool barriers;
    bool fences;
    bool always;
  };
  // first: where positions begin.
  ShmInRings(const ShmView& view, Peer self, const Heat& heat, std::uint32_t first);

  // A look, at every ring at which there may be something. True: nothing has come on any lane and
  // nobody called. False: at `from` there may be; reap() goes on there.
  [[gnu::always_inline]] bool look_once(std::uint32_t& from) {
    ++now_;
    from = 0;
    if (bell_->rung.load(std::memory_order_relaxed) != seen_) [[unlikely]]
      return false;
    for (; from < hot_count_; ++from) {
      Ring& ring = *hot_[from];
      std::uint64_t flag;
      if (ready(ring, flag)) return false;
      ring.run = 0;
    }
    return todo_count_ == 0;
  }

  // After look_once(), which most times is all: calls take(ring, slot, flag, first) for at most
  // `budget` messages of the lanes in `lanes`; returns how many, skipped slots among them. first:
  // of a run of the same sender's. `take` must not call back into this object. While there are none
  // it looks again as `patience` and idle() permit.
  template <class Take, class Idle>
  int reap(std::uint32_t from, int budget, LaneMask lanes, Patience& patience, Take&& take,
           Idle&& idle) {
    for (;; from = 0, ++now_) {
      if (bell_->rung.load(std::memory_order_relaxed) != seen_) [[unlikely]]
        answer_bell();
      int done = 0;
      for (std::uint32_t i = from; i < hot_count_; ++i) {
        Ring& ring = *hot_[i];
        if (((lanes >> ring.lane) & 1u) == 0) continue;
        done += drain(ring, std::min(budget - done, kBurst), take);
      }
      if (todo_count_ != 0) [[unlikely]]
        done += serve_called(budget - done, lanes, take);
      if (done != 0 || !look(lanes, patience, idle)) return done;
    }
  }

  struct Ring;
  // As long-lived as this object.
  Ring& of(Peer sender, std::uint32_t lane) { return rings_[sender * kLanes + lane]; }
  // Messages of one ring, out of turn: take(is_one_slot, slot, flag, first) gets them until ends()
  // says that it was the last, and some that are behind it where the sender is ahead; take returns
  // false for one that it leaves to reap(). is_one_slot, std::true_type or false_type: of one slot
  // the flag is the size. While there is none this looks again, `looks` times in all. False: the
  // last has not come, and reap() knows more.
  template <class Take, class Ends>
  [[gnu::always_inline]] bool follow(Ring& ring, std::uint32_t looks, Take&& take, Ends&& ends) {
    if (!ring.hot) [[unlikely]]
      return false;
    // In registers: nobody else moves it meanwhile.
    Reader at = ring;
    bool ended = false;
    for (int done = 0; done < kBurst; ++done) {
      std::uint64_t flag;
      bool here = ready(at, flag);
      if (!here) [[unlikely]] {
        at.run = 0;
        for (; !here && !ended && looks != 0; --looks) {
          cpu_pause();
          here = ready(at, flag);
          if (ring.tailed) fetch_tail(at);
        }
        if (!here) break;
      }
      ask_ahead(at);
      // Most: a slot and no more.
      const std::uint64_t size = flag ^ std::uint64_t{at.stamp()} << 32;
      if (size <= kShmSlotBytes) [[likely]] {
        if (ring.tailed) [[unlikely]]
          ring.tailed = false;
        if (!take(std::true_type(), at.slot(), size, at.run == 1)) [[unlikely]]
          break;
        ++at.position;
      } else {
        const bool tailed = shm_tailed(flag);
        if (tailed != ring.tailed) ring.tailed = tailed;
        const bool skipped = static_cast<std::uint32_t>(flag) == kShmSkipped;
        if (!skipped && !take(std::false_type(), at.slot(), flag, at.run == 1)) break;
        at.position += tailed && !skipped ? 2 : 1;
        if (skipped) continue;
      }
      if (ends()) {
        ended = true;
        if (at.run <= kRun) break;
      }
    }
    static_cast<Reader&>(ring) = at;
    ring.last_active = ++now_;
    tell(ring);
    return ended;
  }

  // Whether reap() has messages of `peer` left that came before now.
  void call_for(Peer peer);
  bool called(Peer peer) const;

  // Turns every hot ring cold, then sleeps until a sender rings or `timeout` passed. Returns false
  // when something had come already and it did not sleep.
  bool sleep(Ps timeout);
  // As for a sleep, but of another thread. False: something has come already.
  bool listen(Bell& bell);

  // Where the receiver is in a ring.
  struct Reader : ShmCursor {
    std::uint32_t run = 0;  // messages that were there at the first look, one after the other
  };
  struct Ring : Reader {
    std::uint64_t route = 0;  // of its messages, but for the channel
    std::uint32_t told = 0;   // the slots passed that the sender knows of
    Peer sender = 0;
    std::uint32_t lane = 0;
    bool hot = false;
    bool tailed = false;  // the last message had a tail
    bool todo = false;    // in todo_: the sender called and the ring was not yet found empty
    ShmLaneLines* words = nullptr;
    std::uint64_t last_active = 0;
  };

 private:
  // The sender learns of free slots in batches: one cache line moves per this many.
  static constexpr std::uint32_t kTellEvery = 32;
  // The most messages from one ring before the next ring gets its turn.
  static constexpr int kBurst = 16;
  // After so many messages in a row the sender is ahead, and the line of the next one can be asked
  // for. Lines further on it may be about to write (docs/performance-diary.md).
  static constexpr std::uint32_t kRun = 2;

  static bool ready(const ShmCursor& ring, std::uint64_t& flag) {
    flag = ring.slot().flag.load(std::memory_order_acquire);
    return ((flag >> 32) & ~std::uint64_t{kShmInBuffer}) == ring.stamp();
  }

  // Both lines of a message are then on their way at once.
  static void fetch_tail(const ShmCursor& ring) { __builtin_prefetch(&ring.slot(1)); }
  static void ask_ahead(Reader& ring) {
    if (ring.run++ >= kRun) __builtin_prefetch(&ring.slot(1));
  }
  static void tell(Ring& ring) {
    if (ring.passed() - ring.told < kTellEvery) return;
    ring.told = ring.passed();
    ring.words->head.store(ring.told, std::memory_order_release);
  }

  template <class Take>
  int drain(Ring& ring, int budget, Take&& take) {
    int done = 0;
    std::uint64_t flag;
    while (done < budget && ready(ring, flag)) {
      std::uint32_t slots = 1;
      ask_ahead(ring);
      ring.tailed = shm_tailed(flag);
      if (static_cast<std::uint32_t>(flag) != kShmSkipped) [[likely]] {
        ShmSlot& slot = ring.slot();
        take(ring, slot, flag, done == 0);
        if (ring.tailed && shm_first_of_pair(&slot)) slots = 2;
      }
      ++done;
      ring.position += slots;
      tell(ring);
    }
    if (done < budget) ring.run = 0;
    if (done != 0) ring.last_active = now_;
    return done;
  }

  // Looks at the next slots of the hot rings until one is full, idle() is no longer true or
  // something else happened; false: patience ended it. A pause before each look leaves the line to
  // the sender: looks in a row take it away between two stores (docs/performance-diary.md).
  template <class Idle>
  bool look(LaneMask lanes, Patience& patience, Idle&& idle) {
    while (patience.looks != 0) {
      --patience.looks;
      cpu_pause();
      for (std::uint32_t i = 0; i < hot_count_; ++i) {
        std::uint64_t flag;
        if (ready(*hot_[i], flag) && ((lanes >> hot_[i]->lane) & 1u) != 0) return true;
        if (hot_[i]->tailed) fetch_tail(*hot_[i]);
      }
      ++now_;
      if (bell_->rung.load(std::memory_order_relaxed) != seen_) return true;
      if (patience.word != nullptr &&
          patience.word->load(std::memory_order_relaxed) != patience.seen)
        return false;
      if (!idle()) return false;
    }
    return false;
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
        std::uint64_t flag;
        finished = !ready(ring, flag);
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
  Ps nap();

  ShmView view_;
  Peer self_;
  Heat heat_;
  ShmDoorbell* bell_;
  std::uint32_t seen_ = 0;
  std::uint64_t now_ = 0;           // looks, and calls of follow()
  std::uint64_t next_cooling_ = 0;  // not before this call: a membarrier costs microseconds
  Ps nap_{};                        // the last one, where sleeps are short
  std::uint64_t napped_ = 0;        // the newest last_active then
  std::uint32_t hot_count_ = 0;
  std::uint32_t todo_count_ = 0;
  Ring* hot_[kHotMax] = {};
  std::vector<std::uint32_t> todo_;  // ring numbers; room for all
  std::vector<Ring> rings_;
};

}  // namespace fairlead::fabric
