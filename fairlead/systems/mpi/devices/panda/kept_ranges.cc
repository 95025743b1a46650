#include "fairlead/systems/mpi/devices/panda/kept_ranges.h"

#include <algorithm>
#include <iterator>

#include "fairlead/base/check.h"

namespace fairlead::mpi {

KeptRanges::Range* KeptRanges::use(const void* at, std::uint64_t size) {
  Range wanted;
  wanted.begin = static_cast<const std::byte*>(at);
  wanted.size = size;
  // Those kept do not meet each other, so that one look finds all that the new one meets.
  const std::byte* begin = wanted.begin;
  const std::byte* end = wanted.end();
  for (auto each = ranges_.begin(); each != ranges_.end(); ++each) {
    if (each->replaced || each->begin > wanted.end() || each->end() < wanted.begin) continue;
    if (each->begin <= wanted.begin && each->end() >= wanted.end()) {
      ++each->uses;
      ranges_.splice(ranges_.begin(), ranges_, each);
      return &ranges_.front();
    }
    begin = std::min(begin, each->begin);
    end = std::max(end, each->end());
  }
  wanted.begin = begin;
  wanted.size = static_cast<std::uint64_t>(end - begin);
  if (ranges_.size() >= kRangesMax && !drop_oldest()) return nullptr;
  if (!expose(wanted)) return nullptr;
  for (auto each = ranges_.begin(); each != ranges_.end();) {
    each->replaced |= each->begin >= begin && each->end() <= end;
    each = each->replaced && each->uses == 0 ? drop(each) : std::next(each);
  }
  wanted.uses = 1;
  return &ranges_.emplace_front(wanted);
}

void KeptRanges::give(Range& range) {
  FAIRLEAD_CHECK(range.uses > 0, "segment {} is not in use", range.segment);
  if (--range.uses > 0 || !range.replaced) return;
  drop(std::find_if(ranges_.begin(), ranges_.end(),
                    [&range](const Range& each) { return &each == &range; }));
}

void KeptRanges::withdraw() {
  while (!ranges_.empty()) {
    FAIRLEAD_CHECK(ranges_.front().uses == 0, "segment {} is in use", ranges_.front().segment);
    drop(ranges_.begin());
  }
}

// Under the next number that none of those kept has.
bool KeptRanges::expose(Range& range) {
  for (std::size_t tries = 0; tries <= kRangesMax;) {
    range.segment = first_ + next_++ % segments_;
    const Post answer = port_.expose(range.segment, const_cast<std::byte*>(range.begin), range.size,
                                     lci::kWrite, nullptr, {});
    if (answer == Post::done) return true;
    if (answer == Post::again_buffer) {
      if (!drop_oldest()) return false;
    } else if (answer == Post::invalid) {
      ++tries;
    } else {
      return false;
    }
  }
  return false;
}

bool KeptRanges::drop_oldest() {
  for (auto each = ranges_.end(); each != ranges_.begin();) {
    --each;
    if (each->uses > 0) continue;
    drop(each);
    return true;
  }
  return false;
}

KeptRanges::Ranges::iterator KeptRanges::drop(Ranges::iterator range) {
  const Post answer = port_.withdraw(range->segment);
  FAIRLEAD_CHECK(answer == Post::done, "segment {}", range->segment);
  return ranges_.erase(range);
}

}  // namespace fairlead::mpi
