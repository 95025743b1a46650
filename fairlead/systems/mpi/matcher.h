// MPI matching: posted receives against arriving messages, in the order the standard asks for.
// Both sides lie in bins by (context, source); receives from any source lie in a list of their own
// and compete by the order they were posted in; messages are also linked in order of arrival.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/systems/mpi/request.h"

namespace fairlead::mpi {

class Matcher {
 public:
  using Posted = IntrusiveList<Request, &Request::link>;

  // `ranks` of the job bounds the bins, 16 to 1024, of 16 bytes each per side; they start as 16 and
  // double where searches are long.
  explicit Matcher(Rank ranks);

  // The earliest message that `receive` matches, removed; else posts it and answers nullptr.
  Unexpected* post(Request* receive) {
    if (!early_all_.empty()) [[unlikely]]
      if (Unexpected* found = take(receive->envelope)) return found;
    post_unmatched(receive);
    return nullptr;
  }
  bool any_early() const { return !early_all_.empty(); }
  // The same where nothing that came before matches it.
  void post_unmatched(Request* receive) {
    receive->order = next_order_++;
    receive->state = State::posted;
    const bool any = receive->envelope.peer == kAnySource;
    (any ? posted_any_ : posted_[bin(receive->envelope)]).push_back(receive);
  }
  // The earliest posted receive the message matches, removed, or nullptr.
  Request* arrive(const Envelope& message) {
    if (Request* const first = arrive_first(message); first != nullptr) [[likely]]
      return first;
    return search(posted_[bin(message)], message);
  }
  // The same where it is the first one posted for its source and no other can be earlier; nullptr
  // says nothing.
  Request* arrive_first(const Envelope& message) {
    return take_first(posted_[bin(message)], message);
  }
  // The same with posted() of its context and source at hand.
  Request* take_first(Posted& own, const Envelope& message) {
    Request* const first = own.front();
    if (!posted_any_.empty() || first == nullptr || !matches(first->envelope, message))
        [[unlikely]] {
      return nullptr;
    }
    own.remove_front();
    return first;
  }
  // Where receives of that context and source are; until add() or probe().
  Posted& posted(const Envelope& of) { return posted_[bin(of)]; }
  // Keeps a message no receive matched.
  void add(Unexpected* message);
  // As post(), but the message stays.
  Unexpected* probe(const Envelope& wanted) const {
    int steps = 0;
    return find(wanted, steps);
  }
  void remove(Unexpected* message);
  // A posted receive is posted no longer.
  void withdraw(Request* receive) {
    const bool any = receive->envelope.peer == kAnySource;
    (any ? posted_any_ : posted_[bin(receive->envelope)]).remove(receive);
  }

 private:
  using Bin = IntrusiveList<Unexpected, &Unexpected::in_bin>;
  using All = IntrusiveList<Unexpected, &Unexpected::in_all>;

  // `wanted` is a receive's envelope, `message` a message's (no wildcards).
  static bool matches(const Envelope& wanted, const Envelope& message) {
    return wanted.context == message.context &&
           (wanted.tag == message.tag || wanted.tag == kAnyTag) &&
           (wanted.peer == message.peer || wanted.peer == kAnySource);
  }
  static constexpr std::size_t kFewBins = 16;
  static constexpr int kLongSearch = 8;

  // As probe(); adds the messages of one bin that it passed.
  Unexpected* find(const Envelope& wanted, int& steps) const;
  Unexpected* take(const Envelope& wanted);
  Request* search(Posted& own, const Envelope& message);
  // Doubles the bins: what lay in one goes into two, in the same order.
  void grow();

  std::size_t bin(const Envelope& e) const {
    return (e.peer ^ e.context * 0x9e3779b1u) & bin_mask_;
  }

  std::uint64_t next_order_ = 0;
  std::size_t bin_mask_ = kFewBins - 1;
  std::size_t bin_mask_max_;
  std::vector<Posted> posted_;
  Posted posted_any_;
  std::vector<Bin> early_;
  All early_all_;
};

}  // namespace fairlead::mpi
