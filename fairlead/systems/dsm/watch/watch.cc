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
constexpr std::size_t kReadsMost = std::size_t{1} << 21;

}  // namespace

Watch::Watch(PageId pages, Rank self, std::uint32_t ranks, Ps now)
    : self_(self),
      began_(now),
      written_at_(pages),
      cells_size_(std::bit_ceil(std::min(pages * kCellsPerPage + 64, kCellsMost))),
      cells_(cells_size_),
      reads_(kReadsMost),
      last_read_(pages),
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

// One that goes on where the interval's last one of that page ended, at the same place, is a part
// of it.
void Watch::read(PageId page, std::uint32_t begin, std::uint32_t end, std::uintptr_t at) {
  if (const std::uint32_t last = last_read_[page]; last != 0) {
    Read& before = reads_[last - 1];
    if (before.at == at && begin <= before.end && end >= before.begin) {
      before.begin = static_cast<std::uint16_t>(std::min<std::uint32_t>(before.begin, begin));
      before.end = static_cast<std::uint16_t>(std::max<std::uint32_t>(before.end, end));
      return;
    }
  }
  if (reads_count_ == kReadsMost) {
    ++left_out_;
    return;
  }
  reads_[reads_count_++] = {
      page, epoch_, 0, static_cast<std::uint16_t>(begin), static_cast<std::uint16_t>(end), at};
  last_read_[page] = static_cast<std::uint32_t>(reads_count_);
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
  const std::uint32_t number = clock_number(clock);
  for (; interval_begin_ < writes_.size(); ++interval_begin_) {
    writes_[interval_begin_].clock = number;
  }
}

void Watch::end_reads(const VectorTime& clock) {
  if (reads_begin_ == reads_count_) return;
  const std::uint32_t number = clock_number(clock);
  for (; reads_begin_ < reads_count_; ++reads_begin_) {
    reads_[reads_begin_].clock = number;
    last_read_[reads_[reads_begin_].page] = 0;
  }
}

std::uint32_t Watch::clock_number(const VectorTime& clock) {
  if (clocks_.size() == epoch_clocks_ || clocks_.back() != clock) clocks_.push_back(clock);
  return static_cast<std::uint32_t>(clocks_.size() - 1);
}

// Keeps what is worth comparing.
void Watch::barrier(std::span<const Notice> heard, bool races) {
  std::vector<PageId> others;
  for (const Notice& notice : heard) {
    if (notice.writer != self_) others.push_back(notice.page);
  }
  std::sort(others.begin(), others.end());
  const auto first = writes_.begin() + static_cast<std::ptrdiff_t>(epoch_begin_);
  writes_.erase(
      std::remove_if(first, writes_.end(),
                     [&](const Write& write) {
                       if (races || std::binary_search(others.begin(), others.end(), write.page)) {
                         return false;
                       }
                       runs_kept_ -= write.runs.size();
                       return true;
                     }),
      writes_.end());
  // So with reads, and with the clocks of both.
  std::size_t kept = epoch_reads_begin_;
  for (std::size_t i = kept; i < reads_count_; ++i) {
    if (std::binary_search(others.begin(), others.end(), reads_[i].page))
      reads_[kept++] = reads_[i];
  }
  reads_count_ = kept;
  constexpr std::uint32_t kUnused = ~std::uint32_t{0};
  std::vector<std::uint32_t> numbers(clocks_.size() - epoch_clocks_, kUnused);
  for (std::size_t i = epoch_begin_; i < writes_.size(); ++i) {
    numbers[writes_[i].clock - epoch_clocks_] = 0;
  }
  for (std::size_t i = epoch_reads_begin_; i < reads_count_; ++i) {
    numbers[reads_[i].clock - epoch_clocks_] = 0;
  }
  std::size_t next = epoch_clocks_;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == kUnused) continue;
    numbers[i] = static_cast<std::uint32_t>(next);
    if (next != epoch_clocks_ + i) clocks_[next] = std::move(clocks_[epoch_clocks_ + i]);
    ++next;
  }
  for (std::size_t i = epoch_begin_; i < writes_.size(); ++i) {
    writes_[i].clock = numbers[writes_[i].clock - epoch_clocks_];
  }
  for (std::size_t i = epoch_reads_begin_; i < reads_count_; ++i) {
    reads_[i].clock = numbers[reads_[i].clock - epoch_clocks_];
  }
  clocks_.resize(next);
  reads_begin_ = epoch_reads_begin_ = reads_count_;
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
  for (std::size_t i = 0; i < reads_begin_; ++i) {
    const Read& read = reads_[i];
    made.reads.push_back({read.page, read.epoch, read.clock, place(read.at), read.begin, read.end});
  }
  made.clocks = clocks_;
  made.locks = locks_;
  made.barriers = barriers_;
  made.left_out = left_out_;
  made.elapsed = now - began_;
  return made;
}

}  // namespace fairlead::dsm
