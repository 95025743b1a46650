// The bodies of matcher.h that are not on the short way: for the one file of each user that makes
// its matcher (template class proto::Matcher<...>).
#pragma once
#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "fairlead/proto/matcher.h"

namespace fairlead::proto {
template <class Rules>
Matcher<Rules>::Matcher(Rank ranks, std::size_t bins)
    : bin_mask_(bins - 1),
      bin_mask_max_(std::bit_ceil(std::clamp<std::size_t>(ranks, kFewBins, 1024)) - 1),
      posted_(bins),
      early_(bins) {}

template <class Rules>
void Matcher<Rules>::grow() {
  if (bin_mask_ >= bin_mask_max_) return;
  std::vector<Posted> posted = std::move(posted_);
  std::vector<Bin> early = std::move(early_);
  bin_mask_ = bin_mask_ * 2 + 1;
  posted_ = std::vector<Posted>(bin_mask_ + 1);
  early_ = std::vector<Bin>(bin_mask_ + 1);
  for (Posted& old : posted) {
    while (Receive* const each = old.front()) {
      old.remove(each);
      posted_[bin(Rules::envelope(Rules::wanted(*each)))].push_back(each);
    }
  }
  for (Bin& old : early) {
    while (Message* const each = old.front()) {
      old.remove(each);
      early_[bin(each->envelope)].push_back(each);
    }
  }
}

// --- Receives.

template <class Rules>
void Matcher<Rules>::index_posted(Receive* receive) {
  const Wanted& wanted = Rules::wanted(*receive);
  const unsigned wild = Rules::wild(wanted);
  if (wild == kMasked) {
    end_posted_index();
    return list_posted(receive);
  }
  posted_index_[wild].add(Rules::envelope(wanted), receive);
  ++indexed_;
}

template <class Rules>
void Matcher<Rules>::unindex_posted(Receive* receive) {
  const Wanted& wanted = Rules::wanted(*receive);
  posted_index_[Rules::wild(wanted)].remove(Rules::envelope(wanted), receive);
  if (--indexed_ <= kFewPosted) end_posted_index();
}

template <class Rules>
void Matcher<Rules>::begin_posted_index() {
  if (masked_ != 0) return;
  hashes_posted_ = true;
  const auto move_all = [this](Posted& list) {
    while (Receive* const each = list.front()) {
      list.remove(each);
      index_posted(each);
    }
  };
  for (Posted& list : posted_) move_all(list);
  move_all(posted_any_);
}

template <class Rules>
void Matcher<Rules>::end_posted_index() {
  hashes_posted_ = false;
  std::vector<Receive*> left;
  left.reserve(indexed_);
  for (auto& index : posted_index_) index.clear([&](Receive* each) { left.push_back(each); });
  indexed_ = 0;
  std::sort(left.begin(), left.end(),
            [](const Receive* a, const Receive* b) { return a->order < b->order; });
  for (Receive* const each : left) list_posted(each);
}

template <class Rules>
auto Matcher<Rules>::take_indexed(const Envelope& message) -> Receive* {
  Receive* first = nullptr;
  for (unsigned wild = 0; wild < kWilds; ++wild) {
    if (posted_index_[wild].empty()) continue;
    Receive* const each = posted_index_[wild].first(Rules::without(message, wild));
    if (each != nullptr && (first == nullptr || each->order < first->order)) first = each;
  }
  if (first != nullptr) unindex_posted(first);
  return first;
}

template <class Rules>
auto Matcher<Rules>::search(Posted& own, const Envelope& message) -> Receive* {
  if (hashes_posted_) [[unlikely]]
    return take_indexed(message);
  Receive* exact = own.front();
  int steps = 0;
  int others = 0;  // of them, receives of other sources or contexts
  for (; exact != nullptr && !Rules::matches(Rules::wanted(*exact), message); ++steps) {
    others += !Rules::same_bin(Rules::wanted(*exact), message);
    exact = Posted::next(exact);
  }
  Receive* any = posted_any_.front();
  int any_steps = 0;
  for (; any != nullptr && !Rules::matches(Rules::wanted(*any), message); ++any_steps) {
    any = Posted::next(any);
  }
  Receive* found = exact;
  if (any != nullptr && (exact == nullptr || any->order < exact->order)) {
    remove_any(any);
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

template <class Rules>
void Matcher<Rules>::index_early(Message* message, unsigned wild) {
  const Envelope key = Rules::without(message->envelope, wild);
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

template <class Rules>
void Matcher<Rules>::unindex_early(Message* message, unsigned wild) {
  const Envelope key = Rules::without(message->envelope, wild);
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

template <class Rules>
void Matcher<Rules>::begin_early_index(unsigned wild) {
  hashes_early_[wild] = true;
  hashes_any_early_ = true;
  for (Message* u = early_all_.front(); u != nullptr; u = All::next(u)) index_early(u, wild);
}

template <class Rules>
auto Matcher<Rules>::find_indexed(const Wanted& wanted) const -> Message* {
  const Envelope key = Rules::envelope(wanted);
  switch (Rules::wild(wanted)) {
    case kNoWild:
      return early_by_envelope_.first(key);
    case kWildTag:
      return early_by_source_.first(key);
    case kWildSource:
      return early_by_tag_.first(key);
    default:
      return early_by_context_.first(key);
  }
}

template <class Rules>
auto Matcher<Rules>::find(const Wanted& wanted) -> Message* {
  if (early_all_.empty()) return nullptr;
  const unsigned wild = Rules::wild(wanted);
  if (wild != kMasked && hashes_early_[wild]) return find_indexed(wanted);
  int steps = 0;
  Message* found = nullptr;
  if (Rules::in_one_bin(wanted)) {
    found = early_[bin(Rules::envelope(wanted))].front();
    for (; found != nullptr && !Rules::matches(wanted, found->envelope); ++steps) {
      found = Bin::next(found);
    }
  } else {
    found = early_all_.front();
    for (; found != nullptr && !Rules::matches(wanted, found->envelope); ++steps) {
      found = All::next(found);
    }
  }
  if (steps > kLongSearch && wild != kMasked) [[unlikely]]
    begin_early_index(wild);
  return found;
}

template <class Rules>
auto Matcher<Rules>::take(const Wanted& wanted) -> Message* {
  Message* const found = find(wanted);
  if (found != nullptr) remove(found);
  return found;
}

template <class Rules>
void Matcher<Rules>::add(Message* message) {
  early_[bin(message->envelope)].push_back(message);
  early_all_.push_back(message);
  if (!hashes_any_early_) [[likely]]
    return;
  for (unsigned wild = 0; wild < kWilds; ++wild) {
    if (hashes_early_[wild]) index_early(message, wild);
  }
}

template <class Rules>
void Matcher<Rules>::remove(Message* message) {
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

}  // namespace fairlead::proto
