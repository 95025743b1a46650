// The words of queued locks (queued_locks.cc), which ranks change in each other's memory, and what
// one of them may say. Any other word is another program's, or a defect: who reads it is told so.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "fairlead/base/post.h"
#include "fairlead/systems/dsm/notices.h"
#include "fairlead/systems/dsm/record_board.h"

namespace fairlead::dsm {

// At a lock's home; 0: nobody had it yet.
struct QueueWord {
  Rank last;   // in the queue, or who had the lock last
  bool taken;  // the lock is not free

  // No value: there is no such rank.
  static constexpr std::optional<QueueWord> of(std::uint64_t word, std::uint32_t ranks) {
    const std::uint64_t number = word >> 1;
    if (number == 0 || number > ranks) return std::nullopt;
    return QueueWord{static_cast<Rank>(number - 1), (word & 1) != 0};
  }
  constexpr std::uint64_t word() const { return (std::uint64_t{last} + 1) << 1 | (taken ? 1 : 0); }
};

// At who is in the queue: who waits behind it; 0: nobody yet.
struct FollowerWord {
  Rank rank;
  bool takes;                // a few new records are put into its memory with the lock
  std::uint32_t generation;  // of the board of the rank before it, as it was read last
  std::uint32_t read;        // records that it has read of that
  std::uint32_t epoch;       // its own board's (record_board.h), kEpochs of them in turn

  // No rank is further from another than one barrier.
  static constexpr std::uint32_t kEpochs = 1 << 4;

  static constexpr std::optional<FollowerWord> of(std::uint64_t word, std::uint32_t ranks) {
    const auto number = static_cast<std::uint32_t>(word) & kRankMost;
    if (number == 0 || number > ranks) return std::nullopt;
    const auto rest = static_cast<std::uint32_t>(word >> kRankBits) & kReadAndEpochMost;
    return FollowerWord{static_cast<Rank>(number - 1), (word >> kTakesAt & 1) != 0,
                        static_cast<std::uint32_t>(word >> kGenerationAt), rest >> kEpochBits,
                        rest % kEpochs};
  }
  constexpr std::uint64_t word() const {
    const std::uint32_t rest = read << kEpochBits | epoch % kEpochs;
    return std::uint64_t{generation} << kGenerationAt | std::uint64_t{takes} << kTakesAt |
           std::uint64_t{rest} << kRankBits | (std::uint64_t{rank} + 1);
  }

 private:
  static constexpr std::uint32_t kRankBits = 24;  // a rank and one
  static constexpr std::uint32_t kRankMost = (1 << kRankBits) - 1;
  static constexpr std::uint32_t kEpochBits = 4;
  static constexpr std::uint32_t kReadBits = 14;
  static constexpr std::uint32_t kReadAndEpochMost = (1 << (kReadBits + kEpochBits)) - 1;
  static constexpr std::uint32_t kTakesAt = kRankBits + kEpochBits + kReadBits;
  static constexpr std::uint32_t kGenerationAt = kTakesAt + 1;
  static_assert(RecordBoard::kRecordsMax < 1 << kReadBits);
  static_assert(RecordBoard::kGenerations <= 1 << (64 - kGenerationAt));
};

// Whether records that others wrote may be so.
constexpr bool can_be(std::span<const Notice> records, std::uint32_t pages, std::uint32_t ranks) {
  for (const Notice& record : records) {
    if (record.page >= pages || record.writer >= ranks) return false;
  }
  return true;
}

}  // namespace fairlead::dsm
