// Pages that several ranks wrote at the same time: on different bytes, which costs time only
// (false sharing), or on the same bytes, which is a race.
//
// Two intervals of different ranks are at the same time where neither clock has the other's
// interval. A write that leaves a byte as it was is not seen, and of reads those that were noted
// (docs/dsm.md says which).
#pragma once
#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fairlead/systems/dsm/watch/rank_profile.h"

namespace fairlead::dsm {

struct SharedPage {
  // Bytes [begin, end) that these ranks write, and nobody else.
  struct Part {
    std::uint32_t begin;
    std::uint32_t end;
    std::vector<Rank> ranks;
  };
  struct Writer {
    Rank rank;
    std::vector<std::uint32_t> places;  // of the first writes, without repetition
  };

  PageId page = 0;
  std::uint64_t meetings = 0;  // pairs of intervals
  std::vector<Part> parts;     // in order; bytes between them are written by nobody
  std::vector<Writer> writers;
};

struct Race {
  struct Side {
    Rank rank;
    std::uint32_t place;
    bool reads = false;  // what the other side writes

    friend auto operator<=>(const Side&, const Side&) = default;
  };
  PageId page = 0;
  Side first;  // of the lower rank
  Side second;
  std::uint32_t begin = 0;  // of all bytes that both accessed
  std::uint32_t end = 0;
  std::uint64_t times = 0;  // pairs of intervals
};

struct Sharing {
  std::vector<SharedPage> pages;  // those with bytes that only one of the ranks writes
  std::vector<Race> races;        // by page, then places
};

// By what the ranks wrote; their places are numbers of one list. A mixed write (RankProfile::Write)
// is never taken for part of a race.
Sharing sharing_of(std::span<const RankProfile> ranks);

// What would end the false sharing of a page, in words.
std::string advice(const SharedPage& page);

}  // namespace fairlead::dsm
