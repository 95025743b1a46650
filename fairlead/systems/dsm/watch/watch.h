// What a rank notes while a program runs, where its user asked for a profile or for races: faults,
// fetches and changes by page and by the place that caused them, and which bytes each interval
// wrote. Off, it does not exist.
//
// An interval's clock says which intervals of others came before it: in a search for races by the
// program's own locks, conditions, ranges and barriers alone; else as the protocol knows, which
// hears of more.
//
// Thread: in the port's turn. What a fault handler calls allocates nothing.
#pragma once
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "fairlead/systems/dsm/diff.h"
#include "fairlead/systems/dsm/memory.h"
#include "fairlead/systems/dsm/notices.h"
#include "fairlead/systems/dsm/watch/places.h"
#include "fairlead/systems/dsm/watch/rank_profile.h"

namespace fairlead::dsm {

class Watch {
 public:
  // For a heap of so many pages.
  Watch(PageId pages, Rank self, std::uint32_t ranks, Ps now);

  // --- In a fault handler. A place is an instruction; 0: not known.
  std::uintptr_t accessed_at(void* machine) const { return text_.accessed_at(machine); }
  void fault(PageId page, std::uintptr_t at, Ps took);
  void fetch(PageId page, std::uintptr_t at) { ++tally(page, at).fetches; }
  // This interval reads those bytes of a page; in a handler or not.
  void read(PageId page, std::uint32_t begin, std::uint32_t end, std::uintptr_t at);
  // False: this interval wrote the page before.
  bool first_write(PageId page, std::uintptr_t at);

  // --- At the end of an interval.
  // Where it wrote the page first; 0: that was not seen.
  std::uintptr_t written_at(PageId page) const { return written_at_[page]; }
  // What it changed; `mixed` as in RankProfile::Write.
  void wrote(PageId page, std::span<const ByteRun> runs, bool mixed);
  void diff(PageId page, std::uint64_t bytes, Ps took);
  // Forgets the first write.
  void closed(PageId page) { written_at_[page] = 0; }
  // All that wrote() said since the call before was one interval.
  void end_interval(const VectorTime& clock);
  // So was all that read() said.
  void end_reads(const VectorTime& clock);
  // All ranks were there; `heard`: what they wrote since the barrier before. `races`: others may
  // have read what this rank alone wrote, so that this is kept, too.
  void barrier(std::span<const Notice> heard, bool races);

  // --- The clock of a search for races.
  const VectorTime& clock() const { return clock_; }
  // What this rank did so far comes before what follows another's acquire.
  void released() { ++clock_[self_]; }
  void acquired(std::span<const std::uint32_t> clock);
  // All releases so far of a lock or of the ranges, at their manager.
  VectorTime& clock_of(std::uint64_t lock);

  Waits& locks() { return locks_; }
  Waits& barriers() { return barriers_; }
  // All of it so far.
  RankProfile profile(Ps now) const;

 private:
  struct Cell {
    std::uintptr_t at;
    std::uint32_t page_and_one;  // 0: free
    Tally tally;
  };

  Tally& tally(PageId page, std::uintptr_t at);

  const ProgramText text_;
  const Rank self_;
  const Ps began_;
  Sparse<std::uintptr_t> written_at_;  // in this interval, by page
  const std::size_t cells_size_;       // a power of two
  Sparse<Cell> cells_;                 // by page and place, hashed
  std::size_t cells_used_ = 0;
  Tally more_;  // where there is no cell left

  struct Write {
    PageId page;
    std::uint32_t epoch;
    std::uint32_t clock;
    bool mixed;
    std::uintptr_t at;
    std::vector<ByteRun> runs;
  };
  // In memory that is there before a handler needs it.
  struct Read {
    PageId page;
    std::uint32_t epoch;
    std::uint32_t clock;
    std::uint16_t begin;
    std::uint16_t end;
    std::uintptr_t at;
  };
  std::uint32_t clock_number(const VectorTime& clock);

  std::vector<Write> writes_;
  Sparse<Read> reads_;
  Sparse<std::uint32_t> last_read_;  // by page: of reads_, in this interval, + 1
  std::size_t reads_count_ = 0;
  std::size_t reads_begin_ = 0;        // of reads_, this interval's
  std::size_t epoch_reads_begin_ = 0;  // of reads_
  std::vector<VectorTime> clocks_;
  std::size_t interval_begin_ = 0;  // of writes_
  std::size_t epoch_begin_ = 0;     // of writes_
  std::size_t epoch_clocks_ = 0;    // of clocks_
  std::size_t runs_kept_ = 0;
  std::uint32_t epoch_ = 0;
  std::uint64_t left_out_ = 0;

  VectorTime clock_;
  std::unordered_map<std::uint64_t, VectorTime> lock_clocks_;
  Waits locks_;
  Waits barriers_;
};

}  // namespace fairlead::dsm
