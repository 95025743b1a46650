// MPI matching: posted receives against arriving messages, in the order the standard asks for.
// Both sides lie in bins by (context, source); receives from any source lie in a list of their own
// and compete by the order they were posted in; messages are also linked in order of arrival.
//
// Where such a list is long, it is hashed by the whole envelope. All receives then lie in an index
// by what they ask for, wildcards included: a message looks for the four envelopes that it
// matches, and takes what was posted first. Messages lie in an index for each kind of wildcard
// that was searched long for, beside their lists. Both end when there is little left.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/systems/mpi/envelope_index.h"
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
    if (hashes_posted_) [[unlikely]]
      return index_posted(receive);
    list_posted(receive);
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
  Unexpected* probe(const Envelope& wanted) { return find(wanted); }
  void remove(Unexpected* message);
  // A posted receive is posted no longer.
  void withdraw(Request* receive) {
    if (hashes_posted_) return unindex_posted(receive);
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
  // Which parts of an envelope are wildcards; an index of messages has no other.
  enum Wild : unsigned { kNoWild = 0, kWildTag = 1, kWildSource = 2, kWilds = 4 };
  static unsigned wild_of(const Envelope& e) {
    return (e.peer == kAnySource ? kWildSource : 0u) | (e.tag == kAnyTag ? kWildTag : 0u);
  }
  static Envelope with_wild(Envelope e, unsigned wild) {
    if ((wild & kWildSource) != 0) e.peer = kAnySource;
    if ((wild & kWildTag) != 0) e.tag = kAnyTag;
    return e;
  }
  static constexpr std::size_t kFewBins = 16;
  static constexpr int kLongSearch = 8;
  // Receives that lie in lists again.
  static constexpr std::size_t kFewPosted = 4;

  void list_posted(Request* receive) {
    const bool any = receive->envelope.peer == kAnySource;
    (any ? posted_any_ : posted_[bin(receive->envelope)]).push_back(receive);
  }
  // As probe().
  Unexpected* find(const Envelope& wanted);
  Unexpected* find_indexed(const Envelope& wanted) const;
  Unexpected* take(const Envelope& wanted);
  Request* search(Posted& own, const Envelope& message);
  // Doubles the bins: what lay in one goes into two, in the same order.
  void grow();
  void index_posted(Request* receive);
  void unindex_posted(Request* receive);
  Request* take_indexed(const Envelope& message);
  void begin_posted_index();
  void end_posted_index();
  void begin_early_index(unsigned wild);
  void index_early(Unexpected* message, unsigned wild);
  void unindex_early(Unexpected* message, unsigned wild);

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
  bool hashes_posted_ = false;
  bool hashes_early_[kWilds] = {};
  bool hashes_any_early_ = false;
  // Rarely touched from here on.
  EnvelopeIndex<Request, &Request::link> posted_index_;
  std::size_t posted_wild_[kWilds] = {};  // how many of them have such wildcards
  EnvelopeIndex<Unexpected, &Unexpected::by_envelope> early_by_envelope_;
  EnvelopeIndex<Unexpected, &Unexpected::by_source> early_by_source_;
  EnvelopeIndex<Unexpected, &Unexpected::by_tag> early_by_tag_;
  EnvelopeIndex<Unexpected, &Unexpected::by_context> early_by_context_;
};

}  // namespace fairlead::mpi
