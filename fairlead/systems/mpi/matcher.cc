#include "fairlead/systems/mpi/matcher.h"

#include <algorithm>
#include <bit>

namespace fairlead::mpi {
Matcher::Matcher(Rank ranks)
    : bin_mask_(std::bit_ceil(std::clamp<std::size_t>(ranks, 16, 1024)) - 1),
      posted_(bin_mask_ + 1),
      early_(bin_mask_ + 1) {}

Unexpected* Matcher::probe(const Envelope& wanted) const {
  if (early_all_.empty()) return nullptr;
  if (wanted.peer == kAnySource) {
    for (Unexpected* u = early_all_.front(); u != nullptr; u = All::next(u)) {
      if (matches(wanted, u->envelope)) return u;
    }
    return nullptr;
  }
  for (Unexpected* u = early_[bin(wanted)].front(); u != nullptr; u = Bin::next(u)) {
    if (matches(wanted, u->envelope)) return u;
  }
  return nullptr;
}

Unexpected* Matcher::take(const Envelope& wanted) {
  Unexpected* found = probe(wanted);
  if (found != nullptr) remove(found);
  return found;
}

Request* Matcher::search(Posted& own, const Envelope& message) {
  Request* exact = own.front();
  while (exact != nullptr && !matches(exact->envelope, message)) exact = Posted::next(exact);
  Request* any = posted_any_.front();
  while (any != nullptr && !matches(any->envelope, message)) any = Posted::next(any);

  if (any != nullptr && (exact == nullptr || any->order < exact->order)) {
    posted_any_.remove(any);
    return any;
  }
  if (exact != nullptr) own.remove(exact);
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
