#include "fairlead/systems/mpi/matcher.h"

#include <algorithm>
#include <bit>

namespace fairlead::mpi {
Matcher::Matcher(Rank ranks)
    : bin_mask_max_(std::bit_ceil(std::clamp<std::size_t>(ranks, kFewBins, 1024)) - 1),
      posted_(kFewBins),
      early_(kFewBins) {}

void Matcher::grow() {
  if (bin_mask_ >= bin_mask_max_) return;
  std::vector<Posted> posted = std::move(posted_);
  std::vector<Bin> early = std::move(early_);
  bin_mask_ = bin_mask_ * 2 + 1;
  posted_ = std::vector<Posted>(bin_mask_ + 1);
  early_ = std::vector<Bin>(bin_mask_ + 1);
  for (Posted& old : posted) {
    while (Request* const each = old.front()) {
      old.remove(each);
      posted_[bin(each->envelope)].push_back(each);
    }
  }
  for (Bin& old : early) {
    while (Unexpected* const each = old.front()) {
      old.remove(each);
      early_[bin(each->envelope)].push_back(each);
    }
  }
}

Unexpected* Matcher::find(const Envelope& wanted, int& steps) const {
  if (early_all_.empty()) return nullptr;
  if (wanted.peer == kAnySource) {
    for (Unexpected* u = early_all_.front(); u != nullptr; u = All::next(u)) {
      if (matches(wanted, u->envelope)) return u;
    }
    return nullptr;
  }
  for (Unexpected* u = early_[bin(wanted)].front(); u != nullptr; u = Bin::next(u), ++steps) {
    if (matches(wanted, u->envelope)) return u;
  }
  return nullptr;
}

Unexpected* Matcher::take(const Envelope& wanted) {
  int steps = 0;
  Unexpected* found = find(wanted, steps);
  if (found != nullptr) remove(found);
  if (steps > kLongSearch) [[unlikely]]
    grow();
  return found;
}

Request* Matcher::search(Posted& own, const Envelope& message) {
  Request* exact = own.front();
  int steps = 0;
  for (; exact != nullptr && !matches(exact->envelope, message); ++steps) {
    exact = Posted::next(exact);
  }
  Request* any = posted_any_.front();
  while (any != nullptr && !matches(any->envelope, message)) any = Posted::next(any);

  if (any != nullptr && (exact == nullptr || any->order < exact->order)) {
    posted_any_.remove(any);
    return any;
  }
  if (exact != nullptr) own.remove(exact);
  if (steps > kLongSearch) [[unlikely]]
    grow();
  return exact;
}

void Matcher::add(Unexpected* message) {
  early_[bin(message->envelope)].push_back(message);
  early_all_.push_back(message);
}

void Matcher::remove(Unexpected* message) {
  early_[bin(message->envelope)].remove(message);
  early_all_.remove(message);
}

}  // namespace fairlead::mpi
