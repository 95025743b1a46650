#include "fairlead/systems/dsm/watch/watch.h"

#include <algorithm>
#include <bit>
#include <map>

namespace fairlead::dsm {
namespace {

constexpr std::size_t kCellsPerPage = 4;
constexpr std::size_t kCellsMost = std::size_t{1} << 20;
// How many changes are kept to compare at the end; 4 bytes each.
constexpr std::size_t kRunsMost = std::size_t{1} << 24;

}  // namespace

Watch::Watch(PageId pages, Rank self, std::uint32_t ranks, Ps now)
    : self_(self),
      began_(now),
      written_at_(pages),
      cells_size_(std::bit_ceil(std::min(pages * kCellsPerPage + 64, kCellsMost))),
      cells_(cells_size_),
      clock_(ranks, 0) {
  clock_[self] = 1;
}

Tally& Watch::tally(PageId page, std::uintptr_t at) {
  const std::uint64_t key =
      (at * 0x9e3779b97f4a7c15u) ^ (std::uint64_t{page} * 0xff51afd7ed558ccdu);
  std::size_t slot = (key >> 20) & (cells_size_ - 1);
  for (;; slot = (slot + 1) & (cells_size_ - 1)) {
    Cell& cell = cells_[slot];
    if (cell.page_and_one == page + 1 && cell.at == at) return cell.tally;
    if (cell.page_and_one != 0) continue;
    if (cells_used_ >= cells_size_ / 2) return more_;
    ++cells_used_;
    cell.page_and_one = page + 1;
    cell.at = at;
    return cell.tally;
  }
}

void Watch::fault(PageId page, std::uintptr_t at, Ps took) {
  Tally& to = tally(page, at);
  ++to.faults;
  to.fault_time += took;
}

bool Watch::first_write(PageId page, std::uintptr_t at) {
  if (written_at_[page] != 0) return false;
  written_at_[page] = at != 0 ? at : 1;
  ++tally(page, at).first_writes;
  return true;
}

void Watch::wrote(PageId page, std::span<const ByteRun> runs, bool mixed) {
  if (runs.empty()) return;
  if (runs_kept_ + runs.size() > kRunsMost) {
    ++left_out_;
    return;
  }
  runs_kept_ += runs.size();
  writes_.push_back({page, epoch_, 0, mixed, written_at_[page], {runs.begin(), runs.end()}});
}

void Watch::diff(PageId page, std::uint64_t bytes, Ps took) {
  Tally& to = tally(page, written_at_[page]);
  ++to.diffs;
  to.diff_bytes += bytes;
  to.diff_time += took;
}

void Watch::end_interval(const VectorTime& clock) {
  if (interval_begin_ == writes_.size()) return;
  if (clocks_.size() == epoch_clocks_ || clocks_.back() != clock) clocks_.push_back(clock);
  for (; interval_begin_ < writes_.size(); ++interval_begin_) {
    writes_[interval_begin_].clock = static_cast<std::uint32_t>(clocks_.size() - 1);
  }
}

// Keeps what is worth comparing: pages that others wrote, too.
void Watch::barrier(std::span<const Notice> heard) {
  std::vector<PageId> others;
  for (const Notice& notice : heard) {
    if (notice.writer != self_) others.push_back(notice.page);
  }
  std::sort(others.begin(), others.end());
  const auto first = writes_.begin() + static_cast<std::ptrdiff_t>(epoch_begin_);
  writes_.erase(std::remove_if(first, writes_.end(),
                               [&](const Write& write) {
                                 if (std::binary_search(others.begin(), others.end(), write.page)) {
                                   return false;
                                 }
                                 runs_kept_ -= write.runs.size();
                                 return true;
                               }),
                writes_.end());
  // So with the clocks.
  std::vector<VectorTime> used;
  std::uint32_t last = ~std::uint32_t{0};
  for (std::size_t i = epoch_begin_; i < writes_.size(); ++i) {
    if (writes_[i].clock != last) {
      last = writes_[i].clock;
      used.push_back(std::move(clocks_[last]));
    }
    writes_[i].clock = static_cast<std::uint32_t>(epoch_clocks_ + used.size() - 1);
  }
  clocks_.resize(epoch_clocks_);
  std::move(used.begin(), used.end(), std::back_inserter(clocks_));
  ++epoch_;
  interval_begin_ = epoch_begin_ = writes_.size();
  epoch_clocks_ = clocks_.size();
}

void Watch::acquired(std::span<const std::uint32_t> clock) {
  for (std::size_t rank = 0; rank < clock.size(); ++rank) {
    if (rank != self_) clock_[rank] = std::max(clock_[rank], clock[rank]);
  }
}

VectorTime& Watch::clock_of(std::uint64_t lock) {
  return lock_clocks_.try_emplace(lock, VectorTime(clock_.size(), 0)).first->second;
}

RankProfile Watch::profile(Ps now) const {
  RankProfile made;
  made.places.emplace_back();
  std::map<std::uintptr_t, std::uint32_t> known{{0, 0}, {1, 0}};
  const auto place = [&](std::uintptr_t at) {
    const auto [found, is_new] =
        known.try_emplace(at, static_cast<std::uint32_t>(made.places.size()));
    if (is_new) made.places.push_back(place_of(at));
    return found->second;
  };
  for (std::size_t slot = 0; slot < cells_size_; ++slot) {
    const Cell& cell = cells_[slot];
    if (cell.page_and_one == 0) continue;
    made.cells.push_back({cell.page_and_one - 1, place(cell.at), cell.tally});
  }
  made.elsewhere = more_;
  for (const Write& write : writes_) {
    made.writes.push_back(
        {write.page, write.epoch, write.clock, place(write.at), write.mixed, write.runs});
  }
  made.clocks = clocks_;
  made.locks = locks_;
  made.barriers = barriers_;
  made.left_out = left_out_;
  made.elapsed = now - began_;
  return made;
}

}  // namespace fairlead::dsm
