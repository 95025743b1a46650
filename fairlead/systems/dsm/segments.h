// Names of the DSM's memory on the Port, and words in it that peers change.
#pragma once
#include <atomic>
#include <cstdint>

#include "fairlead/lci/port.h"
#include "fairlead/run/names.h"

namespace fairlead::dsm {

inline constexpr run::Names kDsmNames = run::names_of(run::System::dsm);
inline constexpr lci::SegId kPages = kDsmNames.segments[0];       // the heap, of pages homed here
inline constexpr lci::SegId kVersions = kDsmNames.segments[1];    // by page and writer
inline constexpr lci::SegId kFirstTouch = kDsmNames.segments[2];  // by page / size
inline constexpr lci::SegId kPagesTaken = kDsmNames.segments[3];  // one word, on rank 0
inline constexpr lci::SegId kLockWords = kDsmNames.segments[4];   // of queued locks
inline constexpr lci::SegId kRecords = kDsmNames.segments[5];     // RecordBoard
inline constexpr lci::SegId kStatics = kDsmNames.segments[6];     // the parts of StaticData, and on

inline std::atomic<std::uint64_t>& word_of(std::uint64_t& of) {
  return reinterpret_cast<std::atomic<std::uint64_t>&>(of);
}
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace fairlead::dsm
