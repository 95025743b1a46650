// The bounded cache, as a part of Core: which pages go out where others are wanted. A clock: pages
// in the order in which they came; one that was written since it was looked at last goes round once
// more. What was written goes home first, as at a release: an interval may end anywhere.
#include <sys/mman.h>

#include <algorithm>

#include "fairlead/systems/dsm/core.h"
#include "fairlead/systems/dsm/mutants.h"

namespace fairlead::dsm {
namespace {

// Bits of cache_marks_.
constexpr std::uint8_t kInCache = 1;
constexpr std::uint8_t kWritten = 2;

// What goes out at once, so that intervals do not end at every fault.
constexpr std::size_t kParts = 8;

}  // namespace

void Core::cached(PageId page) {
  if (cache_pages_ == 0 || home_[page] == self_ + 1) return;
  std::uint8_t& marks = (*cache_marks_)[page];
  if ((marks & kInCache) != 0) return;
  marks = kInCache;
  in_cache_.push_back(page);
}

void Core::make_room(std::size_t pages) {
  if (cache_pages_ == 0 || in_cache_.size() + pages <= cache_pages_) return;
  if (!mutated(Mutant::evicted_unwritten)) close_interval();
  for (const PageId page : written_) (*cache_marks_)[page] |= kWritten;
  const std::size_t keeps = cache_pages_ - std::max(pages, cache_pages_ / kParts);
  while (in_cache_.size() > keeps) evict_first();
}

// False: it goes round once more.
bool Core::evict_first() {
  const PageId page = in_cache_.front();
  in_cache_.pop_front();
  std::uint8_t& marks = (*cache_marks_)[page];
  const bool is_here = state_[page] != State::out && home_[page] != self_ + 1;
  if (is_here && (marks & kWritten) != 0) {
    marks = kInCache;
    in_cache_.push_back(page);
    return false;
  }
  marks = 0;
  if (!is_here) return true;
  state_[page] = State::out;
  engine_->expel(page, 1);
  charge_protections(0, 1);
  ++counts_.evictions;
  // Memory that a network has been told of stays what it is.
  if ((port_.caps(home_[page] - 1).flags & lci::kRemoteCopy) == 0) memory_->forget(page);
  (void)madvise(twins_ + std::size_t{page} * kPageBytes, kPageBytes, MADV_DONTNEED);
  return true;
}

}  // namespace fairlead::dsm
