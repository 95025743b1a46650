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
  bool takes;           // a few new records are put into its memory with the lock
  std::uint32_t read;   // records that it has read of the board of the rank before it
  std::uint32_t epoch;  // its own board's (record_board.h), kEpochs of them in turn

  static constexpr std::uint32_t kEpochs = 1 << 16;

  static constexpr std::optional<FollowerWord> of(std::uint64_t word, std::uint32_t ranks) {
    const std::uint64_t number = word & 0xffff'ffff;
    const auto rest = static_cast<std::uint32_t>(word >> 32);
    if (number == 0 || number > ranks) return std::nullopt;
    return FollowerWord{static_cast<Rank>(number - 1), (rest & kTakes) != 0,
                        rest >> kEpochBits & kReadMost, rest % kEpochs};
  }
  constexpr std::uint64_t word() const {
    const std::uint32_t rest = (takes ? kTakes : 0) | read << kEpochBits | epoch % kEpochs;
    return std::uint64_t{rest} << 32 | (std::uint64_t{rank} + 1);
  }

 private:
  static constexpr std::uint32_t kEpochBits = 16;
  static constexpr std::uint32_t kReadMost = (1 << 15) - 1;
  static constexpr std::uint32_t kTakes = std::uint32_t{1} << 31;
  static_assert(RecordBoard::kRecordsMax <= kReadMost);
};

// Whether records that others wrote may be so.
constexpr bool can_be(std::span<const Notice> records, std::uint32_t pages, std::uint32_t ranks) {
  for (const Notice& record : records) {
    if (record.page >= pages || record.writer >= ranks) return false;
  }
  return true;
}

}  // namespace fairlead::dsm
