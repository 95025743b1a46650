// What a rank has heard of since the last barrier, its own intervals included, in memory that
// others read without its processor: who takes a lock over reads there what was written before its
// release. Records are added behind each other. Once there is no room for more the board begins
// anew with the newest of each page and writer, in other memory: a new generation. A barrier begins
// all boards anew.
//
// A rank reads where it ended before in the same generation, else from the beginning. Generation 0
// stays as it is up to the next barrier, to which a rank that reads it has yet to come. Later ones
// take turns in two places: what was read of one is right if the head, read again, has it still.
// Thread: in the port's turn.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/systems/dsm/notices.h"

namespace fairlead::dsm {

class RecordBoard {
 public:
  static constexpr std::uint32_t kRecordsMax = 8192;      // of a generation
  static constexpr std::uint32_t kGenerations = 1 << 21;  // between two barriers

  // The board's first word, which peers read at once: how much there is behind it.
  struct Head {
    std::uint32_t epoch;       // barriers so far, from 1 to kEpochs - 1, then from 1 again
    bool full;                 // there is more than finds room: the rank itself is to be asked
    std::uint32_t generation;  // from 0
    std::uint32_t count;       // of records

    static constexpr std::uint32_t kEpochs = 1 << 16;

    static constexpr Head of(std::uint64_t word) {
      return {static_cast<std::uint32_t>(word >> 48), (word >> 47 & 1) != 0,
              static_cast<std::uint32_t>(word >> 16 & 0x7fff'ffff),
              static_cast<std::uint32_t>(word & 0xffff)};
    }
    // Never 0.
    constexpr std::uint64_t word() const {
      return std::uint64_t{epoch} << 48 | std::uint64_t{full} << 47 |
             std::uint64_t{generation} << 16 | count;
    }
  };

  static constexpr std::size_t bytes() { return kHeadBytes + kPlaces * kPlaceBytes; }
  // Where the record of a number is in the board.
  static constexpr std::size_t offset_of(std::uint32_t generation, std::uint32_t record) {
    const std::uint32_t place = generation == 0 ? 0 : 1 + generation % 2;
    return kHeadBytes + place * kPlaceBytes + record * sizeof(Notice);
  }

  // `memory`: bytes() of them, zeroed, the caller's.
  explicit RecordBoard(std::uint64_t* memory) : memory_(memory) { begin_epoch(); }

  Head head() const;
  // Those of its generation from number `first` on, to the head's count.
  const void* records(std::uint32_t first) const;
  // False: not all of them find room, and none of them is there. Where it is full none has to be.
  bool add(std::span<const Notice> notices);
  // Begins anew, with all there is. Where that would soon have no room again, the board is full.
  void begin_generation(std::span<const Notice> notices);
  // At a barrier: every rank knows all there was.
  void begin_epoch();

 private:
  static constexpr std::size_t kHeadBytes = 64;
  static constexpr std::size_t kPlaces = 3;
  static constexpr std::size_t kPlaceBytes = kRecordsMax * sizeof(Notice);

  void set(Head head);
  void write(const Head& head, std::span<const Notice> notices);

  std::uint64_t* memory_;
};
static_assert(sizeof(Notice) == 12);

// What one rank has read of another one's board since the last barrier.
class BoardReader {
 public:
  enum class Outcome {
    read,
    full,   // the rank itself is to be asked
    wrong,  // a head that no board has after what was read before; `head` is the one
  };

  std::uint32_t generation() const { return generation_; }
  std::uint32_t count() const { return count_; }

  // Into `records`, those behind `head` that were not read before. `few`: what follows those that
  // were, as it was read with the head or, `put`, sent by the board's rank: enough where no more
  // are new. get(offset, to, bytes) reads of the board; what it reads may be torn, as the rank goes
  // on writing, until the head that is read behind it names the same generation.
  template <class Get>
  Outcome read(RecordBoard::Head& head, std::span<const Notice> few, bool put,
               std::vector<Notice>& records, const Get& get);

 private:
  std::uint32_t generation_ = 0;
  std::uint32_t count_ = 0;
};

template <class Get>
BoardReader::Outcome BoardReader::read(RecordBoard::Head& head, std::span<const Notice> few,
                                       bool put, std::vector<Notice>& records, const Get& get) {
  for (;;) {
    if (head.full) return Outcome::full;
    const bool is_same = head.generation == generation_;
    const std::uint32_t first = is_same ? count_ : 0;
    if (head.generation < generation_ || head.count < first ||
        head.count > RecordBoard::kRecordsMax) {
      return Outcome::wrong;
    }
    const std::uint32_t count = head.count - first;
    generation_ = head.generation;
    count_ = head.count;
    const bool are_here = count == 0 || (is_same && count <= few.size());
    if (are_here) {
      records.assign(few.begin(), few.begin() + count);
    } else {
      // What the head tells of was there before it.
      std::atomic_thread_fence(std::memory_order_acquire);
      records.resize(count);
      get(RecordBoard::offset_of(head.generation, first), records.data(), count * sizeof(Notice));
    }
    if (count == 0 || head.generation == 0 || (are_here && put)) return Outcome::read;
    std::atomic_thread_fence(std::memory_order_acquire);
    std::uint64_t again = 0;
    get(0, &again, sizeof again);
    const auto now = RecordBoard::Head::of(again);
    if (now.generation == head.generation) return Outcome::read;
    // What was read may be torn, and is all in the newer generation.
    head = now;
  }
}

}  // namespace fairlead::dsm
