// Matching: posted receives against arriving messages, each side in its order, as MPI and Tports
// ask for it. Both sides lie in bins by (context, source); receives from any source, or by masks,
// lie in a list of their own and compete by the order they were posted in; messages are also linked
// in order of arrival.
//
// Where such a list is long, it is hashed by the whole envelope. All receives then lie in indexes
// by what they ask for, one for each kind of wildcard: a message looks for the four envelopes that
// it matches, and takes what was posted first. Messages lie in an index for each kind of wildcard
// that was searched long for, beside their lists. Both end when there is little left, and receives
// by masks end theirs. Memory is allocated where bins double, and by indexes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fairlead/base/intrusive_list.h"
#include "fairlead/base/post.h"
#include "fairlead/proto/envelope_index.h"

namespace fairlead::proto {

// What a wanted envelope leaves open. Masked: bits of it, so that it is in no index.
enum Wild : unsigned { kNoWild = 0, kWildTag = 1, kWildSource = 2, kMasked = 4 };
constexpr unsigned kWilds = 4;

// Rules, a struct of static members, say what is matched and how:
//   Receive          with `link` and `order`; what it asks for is wanted(receive)
//   Message          with `envelope` and the links that are named below
//   Envelope, Hash   of a message: context, source, tag
//   Wanted           what a receive or a probe asks for
//   wanted(const Receive&), envelope(const Wanted&)  the latter with anything in what is wild
//   matches(const Wanted&, const Envelope&)
//   wild(const Wanted&)             kNoWild to kWildTag | kWildSource, or kMasked
//   in_one_bin(const Wanted&)       false: from any source, or masked
//   without(Envelope, unsigned wild)  alike for all envelopes that differ in what is wild only
//   bin(const Envelope&)            a number for its context and source
//   same_bin(const Wanted&, const Envelope&)  whether context and source are those of the message
//   posted(Receive&)                it was posted, and lies here
//   kMasks                          whether there are masked ones
template <class Rules>
class Matcher {
 public:
  using Receive = typename Rules::Receive;
  using Message = typename Rules::Message;
  using Envelope = typename Rules::Envelope;
  using Wanted = typename Rules::Wanted;
  using Posted = IntrusiveList<Receive, &Receive::link>;
  static constexpr std::size_t kFewBins = 16;

  // `ranks` of the job bounds the bins, 16 to 1024, of 16 bytes each per side; they double where
  // searches are long. `bins`: a power of two up to 16, of which they start as one where there are
  // many matchers that see little.
  explicit Matcher(Rank ranks, std::size_t bins = kFewBins);

  // The earliest message that `receive` matches, removed; else posts it and returns nullptr.
  Message* post(Receive* receive) {
    if (!early_all_.empty()) [[unlikely]]
      if (Message* found = take(Rules::wanted(*receive))) return found;
    post_unmatched(receive);
    return nullptr;
  }
  bool any_early() const { return !early_all_.empty(); }
  // As above, where nothing that came before matches it.
  void post_unmatched(Receive* receive) {
    receive->order = next_order_++;
    Rules::posted(*receive);
    if (hashes_posted_) [[unlikely]]
      return index_posted(receive);
    list_posted(receive);
  }
  // The earliest posted receive the message matches, removed, or nullptr.
  Receive* arrive(const Envelope& message) {
    if (Receive* const first = arrive_first(message); first != nullptr) [[likely]]
      return first;
    return search(posted_[bin(message)], message);
  }
  // As above, where it is the first one posted for its source and no other can be earlier; nullptr
  // says nothing.
  Receive* arrive_first(const Envelope& message) {
    return take_first(posted_[bin(message)], message);
  }
  // As above, with posted() of its context and source at hand.
  Receive* take_first(Posted& own, const Envelope& message) {
    Receive* const first = own.front();
    if (!posted_any_.empty() || first == nullptr || !Rules::matches(Rules::wanted(*first), message))
        [[unlikely]] {
      return nullptr;
    }
    own.remove_front();
    return first;
  }
  // Where receives of that context and source are; until add() or probe().
  Posted& posted(const Envelope& of) { return posted_[bin(of)]; }
  // Keeps a message no receive matched.
  void add(Message* message);
  // As post(), but the message stays.
  Message* probe(const Wanted& wanted) { return find(wanted); }
  void remove(Message* message);
  // A posted receive is posted no longer.
  void withdraw(Receive* receive) {
    if (hashes_posted_) return unindex_posted(receive);
    const Wanted& wanted = Rules::wanted(*receive);
    if (Rules::in_one_bin(wanted)) return posted_[bin(Rules::envelope(wanted))].remove(receive);
    remove_any(receive);
  }
  // What the next receive that is posted, or whoever calls this, has as its order.
  std::uint64_t take_order() { return next_order_++; }

 private:
  using Bin = IntrusiveList<Message, &Message::in_bin>;
  using All = IntrusiveList<Message, &Message::in_all>;

  static constexpr int kLongSearch = 8;
  // Receives that lie in lists again.
  static constexpr std::size_t kFewPosted = 4;

  void list_posted(Receive* receive) {
    const Wanted& wanted = Rules::wanted(*receive);
    if (Rules::in_one_bin(wanted)) return posted_[bin(Rules::envelope(wanted))].push_back(receive);
    if constexpr (Rules::kMasks) masked_ += Rules::wild(wanted) == kMasked;
    posted_any_.push_back(receive);
  }
  void remove_any(Receive* receive) {
    if constexpr (Rules::kMasks) masked_ -= Rules::wild(Rules::wanted(*receive)) == kMasked;
    posted_any_.remove(receive);
  }
  // As probe().
  Message* find(const Wanted& wanted);
  Message* find_indexed(const Wanted& wanted) const;
  Message* take(const Wanted& wanted);
  Receive* search(Posted& own, const Envelope& message);
  // Doubles the bins: what lay in one goes into two, in the same order.
  void grow();
  void index_posted(Receive* receive);
  void unindex_posted(Receive* receive);
  Receive* take_indexed(const Envelope& message);
  void begin_posted_index();
  void end_posted_index();
  void begin_early_index(unsigned wild);
  void index_early(Message* message, unsigned wild);
  void unindex_early(Message* message, unsigned wild);

  std::size_t bin(const Envelope& e) const { return Rules::bin(e) & bin_mask_; }

  std::uint64_t next_order_ = 0;
  std::size_t bin_mask_;
  std::size_t bin_mask_max_;
  std::vector<Posted> posted_;
  Posted posted_any_;
  std::vector<Bin> early_;
  All early_all_;
  bool hashes_posted_ = false;
  bool hashes_early_[kWilds] = {};
  bool hashes_any_early_ = false;
  // Rarely touched from here on.
  template <class T, ListLink<T> T::*kLink>
  using Index = EnvelopeIndex<Envelope, typename Rules::Hash, T, kLink>;
  std::size_t masked_ = 0;                               // receives in posted_any_
  Index<Receive, &Receive::link> posted_index_[kWilds];  // by their kind of wildcard
  std::size_t indexed_ = 0;
  Index<Message, &Message::by_envelope> early_by_envelope_;
  Index<Message, &Message::by_source> early_by_source_;
  Index<Message, &Message::by_tag> early_by_tag_;
  Index<Message, &Message::by_context> early_by_context_;
};

}  // namespace fairlead::proto
