#include "fairlead/systems/am/departures.h"

#include <algorithm>

namespace fairlead::am {

Departures::Departures(lci::Port& port, lci::Chan chan, Owner owner)
    : port_(port), chan_(chan), owner_(owner), flags_(port.size()) {
  port_.bind(chan_,
             {[](void* self, lci::Packet*, const lci::Arrival& arrival) {
                const bool good = arrival.words[0] < kWords && arrival.words[1] == kMark &&
                                  arrival.lane == lci::Lane::request;
                if (good) {
                  static_cast<Departures*>(self)->heard(arrival.source,
                                                        static_cast<Word>(arrival.words[0]));
                }
                return Keep::no;
              },
              this},
             {});
}

Departures::~Departures() { port_.bind(chan_, {}, {}); }

void Departures::heard(Rank source, Word word) {
  std::uint8_t& flags = flags_[source];
  switch (word) {
    case Word::left:
      flags |= kGone;
      // Who leaves, too, has said so or is about to.
      if (!away_ || (flags & kTold) == 0) say(source, Word::known);
      return;
    case Word::known:
      flags |= kKnows;
      return;
    case Word::back:
      flags &= static_cast<std::uint8_t>(~kGone);
      return;
  }
}

void Departures::say(Rank to, Word word) {
  const auto same = [&](const Item& each) { return each.to == to && each.word == word; };
  if (std::any_of(unsaid_.begin(), unsaid_.end(), same)) return;
  unsaid_.push_back({to, word});
  if (pumping_) return;
  pumping_ = true;
  port_.defer({[](void* self) { static_cast<Departures*>(self)->pump(); }, this});
}

void Departures::pump() {
  pumping_ = false;
  std::erase_if(unsaid_, [this](const Item& item) { return said(item); });
  if (unsaid_.empty()) return;
  pumping_ = true;
  port_.after(microseconds(kRetryUs),
              {[](void* self) { static_cast<Departures*>(self)->pump(); }, this});
}

bool Departures::said(const Item& item) {
  if (port_.path(item.to).down) return true;
  if (item.word == Word::known && !owner_.is_sent(owner_.context, item.to)) return false;
  const lci::Words words = {static_cast<std::uint32_t>(item.word), kMark, 0, 0};
  const Post answer =
      port_.send_small({item.to}, chan_, lci::Lane::request, words, {}, lci::kNoBlock);
  return answer != Post::again_credit && answer != Post::again_buffer;
}

bool Departures::all_know(Ps unmet) const {
  const std::uint8_t asked = port_.now() < unmet ? kTold : kMet;
  for (Rank rank = 0; rank < flags_.size(); ++rank) {
    const bool waits = (flags_[rank] & asked) != 0 && (flags_[rank] & (kGone | kKnows)) == 0;
    if (waits && rank != port_.self() && !port_.path(rank).down) return false;
  }
  return true;
}

void Departures::leave(void* context, bool (*serve)(void* context)) {
  away_ = true;
  const bool all = flags_.size() <= kTellAllMax;
  for (Rank i = 1; i < flags_.size(); ++i) {
    const Rank rank = (port_.self() + i) % port_.size();
    flags_[rank] &= static_cast<std::uint8_t>(~kKnows);
    if ((!all && (flags_[rank] & kMet) == 0) || gone(rank)) continue;
    flags_[rank] |= kTold;
    say(rank, Word::left);
  }
  const Ps until = port_.now() + milliseconds(kWaitMs);
  const Ps unmet = port_.now() + milliseconds(kWaitUnmetMs);
  for (;;) {
    const bool know = unsaid_.empty() && all_know(unmet);
    // Behind what stood before the last word.
    if ((serve(context) && know) || port_.now() >= until) return;
    (void)port_.wait({.any_packet = true,
                      .any_change = true,
                      .deadline = std::min(until, port_.now() + milliseconds(1)),
                      .what = "other ranks, to leave Active Messages"});
  }
}

void Departures::come_back() {
  if (!away_) return;
  away_ = false;
  for (Rank rank = 0; rank < flags_.size(); ++rank) {
    if ((flags_[rank] & kTold) != 0) say(rank, Word::back);
    flags_[rank] &= static_cast<std::uint8_t>(~(kTold | kKnows));
  }
}

}  // namespace fairlead::am
