// What the watch of one rank saw, as it is brought to rank 0.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fairlead/base/units.h"
#include "fairlead/systems/dsm/diff.h"
#include "fairlead/systems/dsm/dsm.h"
#include "fairlead/systems/dsm/notices.h"
#include "fairlead/systems/dsm/watch/places.h"

namespace fairlead::dsm {

struct Tally {
  std::uint64_t faults = 0;        // accesses to pages that were not here
  std::uint64_t first_writes = 0;  // first in their interval; 0 where the engine does not see them
  std::uint64_t fetches = 0;
  std::uint64_t diffs = 0;  // brought to their homes
  std::uint64_t diff_bytes = 0;
  Ps fault_time{};  // until the page was here, what came ahead with it included
  Ps diff_time{};   // to find what changed, and to send it

  Ps time() const { return fault_time + diff_time; }
  void add(const Tally& other);
  friend bool operator==(const Tally&, const Tally&) = default;
};

struct Waits {
  std::uint64_t count = 0;
  Ps time{};

  friend bool operator==(const Waits&, const Waits&) = default;
};

struct RankProfile {
  struct Cell {
    PageId page;
    std::uint32_t place;  // of `places`
    Tally tally;
  };
  // An interval's changes to a page.
  struct Write {
    PageId page;
    std::uint32_t epoch;  // barriers before it
    std::uint32_t clock;  // of `clocks`
    std::uint32_t place;  // of its first write to the page, in `places`
    // In the home's only copy, where others' changes come in at the same time: its runs may be
    // theirs.
    bool mixed;
    std::vector<ByteRun> runs;
  };

  // Bytes [begin, end) that an interval read.
  struct Read {
    PageId page;
    std::uint32_t epoch;
    std::uint32_t clock;
    std::uint32_t place;
    std::uint32_t begin;
    std::uint32_t end;

    friend bool operator==(const Read&, const Read&) = default;
  };

  std::vector<Place> places;  // the first: not known
  std::vector<Cell> cells;
  Tally elsewhere;  // where there was no room for more cells
  std::vector<VectorTime> clocks;
  // By time. Without those of pages that nobody else wrote between the same barriers.
  std::vector<Write> writes;
  std::vector<Read> reads;  // likewise, where races are looked for
  Waits locks;              // ranges included
  Waits barriers;
  std::uint64_t prefetched = 0;
  std::uint64_t invalidations = 0;
  std::uint64_t left_out = 0;  // writes that found no room here
  Ps elapsed{};                // from start() to stop()

  std::vector<std::uint32_t> words() const;
  // nullopt: these are not the words of a profile of a job of `ranks` and a heap of `pages`.
  static std::optional<RankProfile> of_words(std::span<const std::uint32_t> words,
                                             std::uint32_t ranks, PageId pages);
};

}  // namespace fairlead::dsm
