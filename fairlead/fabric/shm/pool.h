// The packet buffers of one sender. It takes them; receivers give them back by bits in a shared
// word, whose line moves between the processors each time one of them touches it: both sides do so
// for several buffers at once (docs/performance-diary.md).
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "fairlead/base/prefetch.h"
#include "fairlead/fabric/shm/view.h"

namespace fairlead::fabric {

class ShmPool {
 public:
  static constexpr std::uint32_t kNone = ~0u;
  // A receiver may keep half of the buffers; the other half keeps the network moving.
  static constexpr int kKeptMax = kShmBuffers / 2;
  // Buffers of which so much is to be written are asked for: longer copies fetch lines their own
  // way (docs/performance-diary.md).
  static constexpr std::size_t kAskedMax = 2048;

  ShmPool(const ShmView& view, Peer self)
      : line_(&view.control(self).pool), first_(view.buffer(self, 0)) {}

  // The number of the free buffer that is taken next, or kNone. Low numbers first: few pages are
  // ever touched and those stay in the cache.
  std::uint32_t next() {
    if ((free_ & touched_) == 0 && (touched_ & bit(kRound - 1)) != 0) collect();
    return free_ == 0 ? kNone : static_cast<std::uint32_t>(std::countr_zero(free_));
  }
  std::uint32_t take(std::size_t to_be_written = 0) {
    const std::uint32_t index = next();
    if (index == kNone) return kNone;
    free_ &= free_ - 1;
    touched_ |= bit(index);
    dest_[index] = kNone;
    // All lines are asked for at once, and not each when the store before it is done.
    if (to_be_written <= kAskedMax) {
      for (std::size_t line = 0; line < to_be_written; line += kCacheLine)
        prefetch_to_write(at(index) + line);
    }
    return index;
  }
  // The buffer is on its way to `dest`, which gives it back.
  void sent(std::uint32_t index, Peer dest) { dest_[index] = dest; }
  // Never sent, or sent by value.
  void put_back(std::uint32_t index) { free_ |= bit(index); }

  std::byte* at(std::uint32_t index) const { return first_ + std::size_t{index} * kShmBufferBytes; }
  // kNone when `buffer` is not the start of one of ours.
  std::uint32_t index_of(const std::byte* buffer) const {
    const auto offset = static_cast<std::size_t>(buffer - first_);
    if (offset % kShmBufferBytes != 0 || offset / kShmBufferBytes >= kShmBuffers) return kNone;
    return static_cast<std::uint32_t>(offset / kShmBufferBytes);
  }

  // Takes back what a lost peer will never return.
  void reclaim(Peer lost) {
    collect();
    for (std::uint32_t i = 0; i < kShmBuffers; ++i) {
      if ((free_ & bit(i)) != 0 || dest_[i] != lost) continue;
      line_->kept.fetch_and(~bit(i));
      free_ |= bit(i);
    }
  }

 private:
  static constexpr std::uint64_t bit(std::uint32_t index) { return std::uint64_t{1} << index; }

  // What was given back is collected when so many are under way.
  static constexpr std::uint32_t kRound = 4;

  void collect() {
    if (line_->returned.load(std::memory_order_relaxed) != 0)
      free_ |= line_->returned.exchange(0, std::memory_order_acquire);
  }

  ShmPoolLine* line_;
  std::byte* first_;
  std::uint64_t free_ = ~std::uint64_t{0};
  std::uint64_t touched_ = 0;
  std::array<Peer, kShmBuffers> dest_{};
};
static_assert(kShmBuffers == 64);

}  // namespace fairlead::fabric
