// What a rank notes for a profile or for races, as a part of Core, and how rank 0 reports it.
#include <algorithm>
#include <cstring>

#include "fairlead/systems/dsm/core.h"
#include "fairlead/systems/dsm/watch/report.h"

namespace fairlead::dsm {

// In a fault handler, or before the write. A home's page has no twin but the one it gets here, so
// that what it writes can be told later.
void Core::note_write(PageId page, std::uintptr_t at) {
  if (!watch_->first_write(page, at) || !is_master(page)) return;
  std::memcpy(twins_ + std::size_t{page} * kPageBytes, memory_->alias(page), kPageBytes);
}

// Bytes [begin, end) of the heap, by the instruction at_.
void Core::note_read(PageId page, std::size_t begin, std::size_t end) {
  if (!apart_) return;
  const std::size_t from = std::size_t{page} * kPageBytes;
  if (end <= from || begin >= from + kPageBytes) return;
  watch_->read(page, static_cast<std::uint32_t>(std::max(begin, from) - from),
               static_cast<std::uint32_t>(std::min(end, from + kPageBytes) - from), at_);
}

// In a fault handler, or before an access: a page that is here is in from now on.
void Core::show(PageId page) {
  if (state_[page] == State::hidden) {
    engine_->admit(page, 1);
    state_[page] = State::in;
  }
  if (shown_count_ < pages_) (*shown_)[shown_count_++] = page;
}

// An interval's reads were all that were noted since the call before. What it wrote was collected.
void Core::end_reads() {
  if (!apart_) return;
  watch_->end_reads(watch_->clock());
  for (std::size_t i = 0; i < shown_count_; ++i) hide((*shown_)[i]);
  shown_count_ = 0;
}

void Core::hide(PageId page) {
  if (state_[page] != State::in) return;
  engine_->expel(page, 1);
  state_[page] = State::hidden;
}

void Core::gather_profiles() {
  RankProfile mine = watch_->profile(port_.now());
  mine.prefetched = counts_.prefetched;
  mine.invalidations = counts_.invalidations;
  if (self_ == 0) profiles_.resize(size_);
  wire_.send(0, Kind::profile, 0, mine.words());
  const char* const what = "the ranks' profiles";
  if (self_ != 0) return drain();
  serve([this] { return profiles_taken_ == size_; }, {what});
}

// A rank may be earlier than rank 0 is here.
void Core::take_profile(const Message& message) {
  std::optional<RankProfile> profile = RankProfile::of_words(message.body, size_, pages_);
  if (!profile || watch_ == nullptr || self_ != 0) refuse(message);
  profiles_.resize(size_);
  profiles_[message.from] = std::move(*profile);
  ++profiles_taken_;
}

void Core::write_report() {
  JobProfile job;
  job.ranks = std::move(profiles_);
  job.lines = name_places(job.ranks);
  job.protocol = name_of(protocol_);
  job.engine = engine_->name();
  job.heap_address = reinterpret_cast<std::uintptr_t>(memory_->view(0));
  job.pages = pages_;
  job.is_virtual = (port_.caps(self_).flags & lci::kFreeWork) == 0;
  job.races = apart_;
  report(job, profile_);
}

}  // namespace fairlead::dsm
