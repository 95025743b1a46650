// The receiving half of the packet buffers (pool.h): where a sender's buffer lies, its lines asked
// for before they are read, and the news that it was read, told for several at once.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "fairlead/base/prefetch.h"
#include "fairlead/fabric/shm/pool.h"
#include "fairlead/fabric/shm/view.h"

namespace fairlead::fabric {

class ShmLoans {
 public:
  // `own`: this rank's pool, from which an answer is likely to be sent; outlives this.
  ShmLoans(const ShmView& view, ShmPool& own)
      : view_(view), own_(own), ranks_(view.layout().ranks) {}

  // The buffer that a slot names, with `size` bytes to read; nullptr: there can be none such.
  const std::byte* open(Peer sender, std::uint32_t index, std::size_t size) {
    if (index >= kShmBuffers || size > kShmBufferBytes) [[unlikely]]
      return nullptr;
    const std::byte* const data = view_.buffer(sender, index);
    fetch(data, size);
    return data;
  }
  // It was read. Told later where few ranks can have such buffers: its line is the sender's.
  void give_back(Peer sender, std::uint32_t index) {
    const std::uint64_t bit = std::uint64_t{1} << index;
    if (ranks_ > kFewRanks) {
      view_.control(sender).pool.returned.fetch_or(bit, std::memory_order_release);
      return;
    }
    waiting_[sender] |= bit;
    ++waiting_count_;
    if (std::popcount(waiting_[sender]) > static_cast<int>(kWaitingMax)) tell(sender);
  }
  bool any_to_tell() const { return waiting_count_ != 0; }
  [[gnu::noinline]] void tell_all() {
    for (Peer sender = 0; sender < std::min(ranks_, Peer{kFewRanks}); ++sender) tell(sender);
  }

 private:
  // Buffers that were read and not given back yet, at most: with those that receivers keep they are
  // always fewer than all (kFewRanks - 1 receivers).
  static constexpr std::uint32_t kWaitingMax = 3;
  static constexpr std::uint32_t kFewRanks = 8;
  static_assert((kFewRanks - 1) * kWaitingMax + ShmPool::kKeptMax < kShmBuffers);

  // As much as a processor can have on the way.
  static constexpr std::size_t kFetchedMax = 4096;

  // All lines, by turns those to be read and those of the next buffer to be written: the answer is
  // likely to be as long.
  void fetch(const std::byte* data, std::size_t size) {
    const std::uint32_t next = size <= ShmPool::kAskedMax ? own_.next() : ShmPool::kNone;
    std::byte* const answer = next == ShmPool::kNone ? nullptr : own_.at(next);
    for (std::size_t at = 0; at < std::min(size, kFetchedMax); at += kCacheLine) {
      __builtin_prefetch(data + at);
      if (answer != nullptr) prefetch_to_write(answer + at);
    }
  }
  void tell(Peer sender) {
    const std::uint64_t bits = std::exchange(waiting_[sender], 0);
    waiting_count_ -= static_cast<std::uint32_t>(std::popcount(bits));
    if (bits != 0) view_.control(sender).pool.returned.fetch_or(bits, std::memory_order_release);
  }

  ShmView view_;
  ShmPool& own_;
  Peer ranks_;
  std::uint32_t waiting_count_ = 0;
  std::array<std::uint64_t, kFewRanks> waiting_{};  // by sender: buffers to give back
};

}  // namespace fairlead::fabric
