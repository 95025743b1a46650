// What a rank has heard of since the last barrier, its own intervals included, in memory that
// others read without its processor: who takes a lock over reads there what was written before its
// release. Records are only added, up to the next barrier, at which each rank begins anew; a rank
// reads where it ended before. Thread: in the port's turn.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "fairlead/systems/dsm/notices.h"

namespace fairlead::dsm {

class RecordBoard {
 public:
  static constexpr std::uint32_t kRecordsMax = 8192;

  // The board's first word, which peers read at once: how much there is behind it.
  struct Head {
    std::uint32_t epoch;  // barriers so far, from 1, without the highest bit
    bool full;            // there is more than found room: the rank itself is to be asked
    std::uint32_t count;  // of records

    static constexpr Head of(std::uint64_t word) {
      return {static_cast<std::uint32_t>(word >> 33), (word >> 32 & 1) != 0,
              static_cast<std::uint32_t>(word)};
    }
    // Never 0.
    constexpr std::uint64_t word() const {
      return std::uint64_t{epoch} << 33 | std::uint64_t{full} << 32 | count;
    }
  };

  static constexpr std::size_t bytes() { return offset_of(kRecordsMax); }
  // Where the record of a number is in the board.
  static constexpr std::size_t offset_of(std::uint32_t record) {
    return kHeadBytes + record * sizeof(Notice);
  }

  // `memory`: bytes() of them, zeroed, the caller's.
  explicit RecordBoard(std::uint64_t* memory) : memory_(memory) { begin_epoch(); }

  Head head() const;
  // Those from number `first` on, to the head's count.
  const void* records(std::uint32_t first) const {
    return reinterpret_cast<const std::byte*>(memory_) + offset_of(first);
  }
  // None of those where not all find room: the board is then full.
  void add(std::span<const Notice> notices);
  // At a barrier: every rank knows all there was.
  void begin_epoch();

 private:
  static constexpr std::size_t kHeadBytes = 64;

  void set(Head head);

  std::uint64_t* memory_;
};
static_assert(sizeof(Notice) == 12);

}  // namespace fairlead::dsm
