#include "fairlead/systems/mpi/matcher.h"

#include <algorithm>
#include <bit>
#include <iterator>

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

// --- Receives.

void Matcher::index_posted(Request* receive) {
  posted_index_.add(receive->envelope, receive);
  ++posted_wild_[wild_of(receive->envelope)];
}

void Matcher::unindex_posted(Request* receive) {
  posted_index_.remove(receive->envelope, receive);
  --posted_wild_[wild_of(receive->envelope)];
  if (posted_index_.size() <= kFewPosted) end_posted_index();
}

void Matcher::begin_posted_index() {
  hashes_posted_ = true;
  const auto move_all = [this](Posted& list) {
    while (Request* const each = list.front()) {
      list.remove(each);
      index_posted(each);
    }
  };
  for (Posted& list : posted_) move_all(list);
  move_all(posted_any_);
}

void Matcher::end_posted_index() {
  hashes_posted_ = false;
  Request* few[kFewPosted];
  std::size_t count = 0;
  posted_index_.clear([&](Request* each) { few[count++] = each; });
  std::fill(std::begin(posted_wild_), std::end(posted_wild_), 0);
  std::sort(few, few + count,
            [](const Request* a, const Request* b) { return a->order < b->order; });
  for (std::size_t i = 0; i < count; ++i) list_posted(few[i]);
}

Request* Matcher::take_indexed(const Envelope& message) {
  Request* first = nullptr;
  for (unsigned wild = 0; wild < kWilds; ++wild) {
    if (posted_wild_[wild] == 0) continue;
    Request* const each = posted_index_.first(with_wild(message, wild));
    if (each != nullptr && (first == nullptr || each->order < first->order)) first = each;
  }
  if (first != nullptr) unindex_posted(first);
  return first;
}

Request* Matcher::search(Posted& own, const Envelope& message) {
  if (hashes_posted_) [[unlikely]]
    return take_indexed(message);
  Request* exact = own.front();
  int steps = 0;
  int others = 0;  // of them, receives of other sources or contexts
  for (; exact != nullptr && !matches(exact->envelope, message); ++steps) {
    others += exact->envelope.peer != message.peer || exact->envelope.context != message.context;
    exact = Posted::next(exact);
  }
  Request* any = posted_any_.front();
  int any_steps = 0;
  for (; any != nullptr && !matches(any->envelope, message); ++any_steps) any = Posted::next(any);

  Request* found = exact;
  if (any != nullptr && (exact == nullptr || any->order < exact->order)) {
    posted_any_.remove(any);
    found = any;
  } else if (exact != nullptr) {
    own.remove(exact);
  }
  if (steps - others > kLongSearch || any_steps > kLongSearch) [[unlikely]]
    begin_posted_index();
  else if (steps > kLongSearch) [[unlikely]]
    grow();
  return found;
}

// --- Messages.

void Matcher::index_early(Unexpected* message, unsigned wild) {
  const Envelope key = with_wild(message->envelope, wild);
  switch (wild) {
    case kNoWild:
      return early_by_envelope_.add(key, message);
    case kWildTag:
      return early_by_source_.add(key, message);
    case kWildSource:
      return early_by_tag_.add(key, message);
    default:
      return early_by_context_.add(key, message);
  }
}

void Matcher::unindex_early(Unexpected* message, unsigned wild) {
  const Envelope key = with_wild(message->envelope, wild);
  switch (wild) {
    case kNoWild:
      return early_by_envelope_.remove(key, message);
    case kWildTag:
      return early_by_source_.remove(key, message);
    case kWildSource:
      return early_by_tag_.remove(key, message);
    default:
      return early_by_context_.remove(key, message);
  }
}

void Matcher::begin_early_index(unsigned wild) {
  hashes_early_[wild] = true;
  hashes_any_early_ = true;
  for (Unexpected* u = early_all_.front(); u != nullptr; u = All::next(u)) index_early(u, wild);
}

Unexpected* Matcher::find_indexed(const Envelope& wanted) const {
  switch (wild_of(wanted)) {
    case kNoWild:
      return early_by_envelope_.first(wanted);
    case kWildTag:
      return early_by_source_.first(wanted);
    case kWildSource:
      return early_by_tag_.first(wanted);
    default:
      return early_by_context_.first(wanted);
  }
}

Unexpected* Matcher::find(const Envelope& wanted) {
  if (early_all_.empty()) return nullptr;
  const unsigned wild = wild_of(wanted);
  if (hashes_early_[wild]) return find_indexed(wanted);
  int steps = 0;
  Unexpected* found = nullptr;
  if (wanted.peer == kAnySource) {
    found = early_all_.front();
    for (; found != nullptr && !matches(wanted, found->envelope); ++steps) found = All::next(found);
  } else {
    found = early_[bin(wanted)].front();
    for (; found != nullptr && !matches(wanted, found->envelope); ++steps) found = Bin::next(found);
  }
  if (steps > kLongSearch) [[unlikely]]
    begin_early_index(wild);
  return found;
}

Unexpected* Matcher::take(const Envelope& wanted) {
  Unexpected* const found = find(wanted);
  if (found != nullptr) remove(found);
  return found;
}

void Matcher::add(Unexpected* message) {
  early_[bin(message->envelope)].push_back(message);
  early_all_.push_back(message);
  if (!hashes_any_early_) [[likely]]
    return;
  for (unsigned wild = 0; wild < kWilds; ++wild) {
    if (hashes_early_[wild]) index_early(message, wild);
  }
}

void Matcher::remove(Unexpected* message) {
  early_[bin(message->envelope)].remove(message);
  early_all_.remove(message);
  if (!hashes_any_early_) [[likely]]
    return;
  for (unsigned wild = 0; wild < kWilds; ++wild) {
    if (hashes_early_[wild]) unindex_early(message, wild);
  }
  if (!early_all_.empty()) return;
  std::fill(std::begin(hashes_early_), std::end(hashes_early_), false);
  hashes_any_early_ = false;
}

}  // namespace fairlead::mpi
