#include "fairlead/fabric/shm/in_rings.h"

#include <bit>
#include <utility>

#include "fairlead/fabric/shm/doorbell.h"
#include "fairlead/fabric/shm/kernel.h"

namespace fairlead::fabric {
namespace {

// A hot ring that was empty in this many polls gives way to one that calls.
constexpr std::uint64_t kIdlePolls = 1024;
constexpr std::uint64_t kCoolEvery = 4096;
// Where rings cannot be turned cold, sleeping means looking again after this long, and longer where
// nothing came meanwhile.
constexpr Ps kNap = microseconds(50);
constexpr Ps kNapMost = microseconds(400);

}  // namespace

ShmInRings::ShmInRings(const ShmView& view, Peer self, const Heat& heat, std::uint32_t first)
    : view_(view),
      self_(self),
      heat_(heat),
      bell_(&view.control(self).doorbell),
      todo_(view.layout().ranks * kLanes),
      rings_(view.layout().ranks * kLanes) {
  for (Peer peer = 0; peer < view.layout().ranks; ++peer)
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      Ring& ring = rings_[peer * kLanes + lane];
      ring.slots = view.ring(self, peer, lane);
      ring.start = ring.position = first + shm_ring_start(peer, lane);
      ring.route = route_of(PacketKind::data, lane, 0, peer);
      ring.words = &view.pair(peer, self).lane[lane];
      ring.sender = peer;
      ring.lane = lane;
    }
  // Senders may have rung before this rank came.
  seen_ = bell_->rung.load() - 1;
}

void ShmInRings::add_todo(Ring& ring) {
  if (ring.todo) return;
  ring.todo = true;
  todo_[todo_count_++] = number(ring);
}

void ShmInRings::call_for(Peer peer) {
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) add_todo(rings_[peer * kLanes + lane]);
}

bool ShmInRings::called(Peer peer) const {
  for (std::uint32_t lane = 0; lane < kLanes; ++lane)
    if (rings_[peer * kLanes + lane].todo) return true;
  return false;
}

// O(ranks / 64), only when a sender that is not hot, or the launcher, rang.
void ShmInRings::answer_bell() {
  seen_ = bell_->rung.load(std::memory_order_acquire);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    std::atomic<std::uint64_t>* words = view_.attention(self_, lane);
    for (std::uint64_t w = 0; w < view_.layout().attention_words; ++w) {
      if (words[w].load(std::memory_order_relaxed) == 0) continue;
      // Sequentially consistent, before the ring is read: a slot written later finds the bit clear.
      for (std::uint64_t bits = words[w].exchange(0); bits != 0; bits &= bits - 1) {
        const auto peer = static_cast<Peer>(w * 64 + static_cast<unsigned>(std::countr_zero(bits)));
        if (peer < view_.layout().ranks) add_todo(rings_[peer * kLanes + lane]);
      }
    }
  }
}

void ShmInRings::warm(Ring& ring) {
  if (ring.hot || !(heat_.barriers || heat_.fences || heat_.always)) return;
  if (hot_count_ == kHotMax) cool_idle();
  if (hot_count_ == kHotMax) return;
  ring.hot = true;
  ring.last_active = now_;
  hot_[hot_count_++] = &ring;
  ring.words->hot.store(1, std::memory_order_relaxed);
}

void ShmInRings::cool_idle() {
  if (now_ < next_cooling_) return;
  next_cooling_ = now_ + kCoolEvery;
  cool(kIdlePolls);
}

// Turns rings cold that were idle for at least `idle_for` polls; those with a message left are
// called for. False: the kernel refused the barrier, everything stays hot.
bool ShmInRings::cool(std::uint64_t idle_for) {
  if (heat_.always) return false;
  Ring* cooled[kHotMax];
  std::uint32_t cooled_count = 0;
  std::uint32_t left = 0;
  for (std::uint32_t i = 0; i < hot_count_; ++i) {
    Ring& ring = *hot_[i];
    if (now_ - ring.last_active < idle_for) {
      hot_[left++] = hot_[i];
      continue;
    }
    // Ordered before the look at the slots below, where senders fence too.
    ring.words->hot.exchange(0);
    cooled[cooled_count++] = hot_[i];
  }
  if (cooled_count == 0) return true;
  if (!heat_.fences && !shm_barrier()) {
    heat_.barriers = false;
    for (std::uint32_t i = 0; i < cooled_count; ++i) {
      cooled[i]->words->hot.store(1);
      hot_[left++] = cooled[i];
    }
    hot_count_ = left;
    return false;
  }
  hot_count_ = left;
  for (std::uint32_t i = 0; i < cooled_count; ++i) {
    Ring& ring = *cooled[i];
    ring.hot = false;
    std::uint64_t flag;
    if (ready(ring, flag)) add_todo(ring);
  }
  return true;
}

Ps ShmInRings::nap() {
  std::uint64_t newest = 0;
  for (std::uint32_t i = 0; i < hot_count_; ++i) newest = std::max(newest, hot_[i]->last_active);
  nap_ = newest != std::exchange(napped_, newest) ? kNap : std::clamp(nap_ * 2, kNap, kNapMost);
  return nap_;
}

bool ShmInRings::sleep(Ps timeout) {
  if (todo_count_ != 0) return false;
  if (!cool(0)) timeout = std::min(timeout, nap());
  if (todo_count_ != 0) return false;
  shm_sleep(*bell_, seen_, timeout);
  return true;
}

bool ShmInRings::listen(Bell& bell) {
  if (todo_count_ != 0) return false;
  if (!cool(0)) bell.look_after(nap());
  if (todo_count_ != 0) return false;
  bell.add(*bell_, seen_);
  return true;
}

}  // namespace fairlead::fabric
