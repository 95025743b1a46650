// Who has left Active Messages in order, so that no message waits for a rank that takes no more: a
// rank that leaves tells the others, and takes what they have sent until they say that they know.
// On a channel of its own, on the lane of requests: what a rank says stands behind the requests
// that it has sent.
#pragma once
#include <cstdint>
#include <deque>
#include <vector>

#include "fairlead/lci/port.h"

namespace fairlead::am {

// One rank's; lives as long as its port's client. A byte a rank.
class Departures {
 public:
  struct Owner {
    void* context;
    // Whether everything that was sent to the rank is on its way. Outside of upcalls.
    bool (*is_sent)(void* context, Rank rank);
  };
  // In jobs of up to so many ranks all are told, in larger ones those that were met: who writes for
  // the first time to a rank that has left hears of it in the former alone.
  static constexpr std::uint32_t kTellAllMax = 256;
  // A rank that does not say so long that it knows, as it computes, is not waited for any more: it
  // learns of it when it polls. What it has sent is lost if it takes longer than that to come here.
  // One that was never met may have nothing to do with Active Messages.
  static constexpr std::int64_t kWaitMs = 1000;
  static constexpr std::int64_t kWaitUnmetMs = 100;

  Departures(lci::Port& port, lci::Chan chan, Owner owner);
  ~Departures();
  Departures(const Departures&) = delete;
  Departures& operator=(const Departures&) = delete;

  // A message was sent to the rank, or has come from it.
  void met(Rank rank) { flags_[rank] |= kMet; }
  // It has left, and takes nothing.
  bool gone(Rank rank) const { return (flags_[rank] & kGone) != 0; }

  // This rank leaves. Until all that it tells know that, or have left too, it calls
  // serve(context), which takes what comes and returns whether nothing waits to be sent. May wait;
  // not in an upcall.
  void leave(void* context, bool (*serve)(void* context));
  // It is back. Not in an upcall.
  void come_back();

 private:
  enum Flag : std::uint8_t { kMet = 1, kGone = 2, kKnows = 4, kTold = 8 };
  enum class Word : std::uint32_t { left, known, back };
  static constexpr std::uint32_t kWords = 3;
  // In the words of a packet, which tells it from one of other bytes.
  static constexpr std::uint32_t kMark = 0x616d'6279;
  static constexpr std::int64_t kRetryUs = 20;
  struct Item {
    Rank to;
    Word word;
  };

  void heard(Rank source, Word word);
  void say(Rank to, Word word);
  // Says what it can.
  void pump();
  bool said(const Item& item);
  // Whether all that are told know it; from `unmet` on, of those that were met.
  bool all_know(Ps unmet) const;

  lci::Port& port_;
  lci::Chan chan_;
  Owner owner_;
  bool away_ = false;
  bool pumping_ = false;
  std::vector<std::uint8_t> flags_;  // Flag, by rank
  std::deque<Item> unsaid_;          // a rank has two at most
};

}  // namespace fairlead::am
