// What keeps the messages of VIs from overrunning their receiver: credits on reliable VIs
// (Split-C paper, section 5.4), windows of numbered messages on unreliable ones, which also bring
// each message there once and in order (section 5.5). One object for each size of message; peers
// are ranks.
#pragma once
#include <algorithm>
#include <cstdint>

#include "fairlead/lci/port.h"
#include "fairlead/proto/credit_window.h"
#include "fairlead/proto/go_back_n.h"
#include "fairlead/proto/selective_repeat.h"
#include "fairlead/systems/via/vipl.h"

namespace fairlead::splitc {

// Where the protocols run: their steps are not priced apart from the calls they are in.
struct FlowSite {
  const lci::Port& port;
  Ps now() const { return port.now(); }
  void charge(Step) {}
};

// An acknowledgment goes out by itself once a quarter of the credits are owed.
constexpr std::uint16_t kAckPart = 4;

struct CreditFlow {
  static constexpr VIP_RELIABILITY_LEVEL kLevel = VIP_SERVICE_RELIABLE_DELIVERY;
  static constexpr bool kNumbers = false;
  static constexpr bool kKeepsEarly = false;
  static constexpr std::uint32_t kAcksMax = 0;  // messages that are neither request nor reply
  struct Numbers {};
  static constexpr std::size_t kNumbersBytes = 0;

  CreditFlow(std::uint32_t ranks, std::uint32_t credits) : window(ranks, credits, 0, kAckPart) {}

  Ps next_due() const { return kNever; }

  proto::CreditWindow window;
};

// Both directions of requests, and of replies. A request's credit is room in the window: an
// acknowledgment says that it was processed.
struct NumberFlow {
  using Window = proto::GoBackN;
  static constexpr VIP_RELIABILITY_LEVEL kLevel = VIP_SERVICE_UNRELIABLE;
  static constexpr bool kNumbers = true;
  static constexpr bool kKeepsEarly = false;
  static constexpr std::uint32_t kAcksMax = 4;
  // In every message: its own number among requests or replies, and what of the other side's has
  // been processed.
  struct Numbers {
    std::uint32_t sequence;
    std::uint32_t requests;
    std::uint32_t replies;
  };
  static constexpr std::size_t kNumbersBytes = sizeof(Numbers);

  // The first round trip is not known; later ones are measured. Loss is rare, a peer that computes
  // is not: timeouts are long, and a gap is asked for at once.
  static constexpr Ps kTimeout = milliseconds(20);
  static constexpr Ps kTimeoutMin = milliseconds(2);
  static constexpr Ps kAckDelay = microseconds(500);
  // A rank that computes for long is not lost: the Port tells of one that is.
  static constexpr std::uint32_t kForEver = UINT32_MAX;

  NumberFlow(std::uint32_t ranks, std::uint32_t credits)
      : requests(options(credits)), replies(options(credits)) {
    // States are made here, and stay where they are.
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      (void)requests.room(rank);
      (void)replies.room(rank);
    }
  }

  Ps next_due() const { return std::min(requests.next_due(), replies.next_due()); }

  // What a message says to the peer of this side's progress, and the reverse. False: the peer
  // cannot have seen so much.
  Numbers acknowledgments(Rank peer) {
    return {0, requests.take_ack(peer), replies.take_ack(peer)};
  }
  template <class Site, class Freed>
  bool acknowledged(Site& site, Rank peer, const Numbers& numbers, Freed&& freed) {
    return requests.acknowledged(site, peer, numbers.requests, freed) &&
           replies.acknowledged(site, peer, numbers.replies, freed);
  }

  proto::GoBackN requests;
  proto::GoBackN replies;

 private:
  static proto::GoBackN::Options options(std::uint32_t credits) {
    return {.window = credits,
            .timeout = kTimeout,
            .ack_delay = kAckDelay,
            .tries_max = kForEver,
            .timeout_min = kTimeoutMin,
            .asks = true,
            .ack_part = kAckPart};
  }
};

// As NumberFlow, by selective repeat: what comes behind a gap is kept, and each message says which
// those are, so that only what was lost is sent again.
struct SelectiveFlow {
  using Window = proto::SelectiveRepeat;
  static constexpr VIP_RELIABILITY_LEVEL kLevel = NumberFlow::kLevel;
  static constexpr bool kNumbers = true;
  static constexpr bool kKeepsEarly = true;
  static constexpr std::uint32_t kAcksMax = NumberFlow::kAcksMax;
  struct Numbers {
    std::uint32_t sequence;
    std::uint32_t requests;
    std::uint32_t replies;
    std::uint32_t none;
    // Bit i: the one i behind what `requests` says has come, or has been processed; of replies.
    std::uint64_t early_requests;
    std::uint64_t early_replies;
  };
  static constexpr std::size_t kNumbersBytes = sizeof(Numbers);
  static constexpr std::uint32_t kWindowMax = 64;  // credits: bits of the above

  SelectiveFlow(std::uint32_t ranks, std::uint32_t credits)
      : requests(ranks, options(credits)), replies(ranks, options(credits)) {}

  Ps next_due() const { return std::min(requests.next_due(), replies.next_due()); }

  Numbers acknowledgments(Rank peer) {
    Numbers made{};
    (void)requests.take_early(peer, {&made.early_requests, 1});
    (void)replies.take_early(peer, {&made.early_replies, 1});
    made.requests = requests.take_ack(peer);
    made.replies = replies.take_ack(peer);
    return made;
  }
  template <class Site, class Freed>
  bool acknowledged(Site& site, Rank peer, const Numbers& numbers, Freed&& freed) {
    const auto takes = [&](Window& window, std::uint32_t next, const std::uint64_t& early) {
      return window.acknowledged(site, peer, {next, {&early, early == 0 ? 0u : 1u}}, freed);
    };
    return takes(requests, numbers.requests, numbers.early_requests) &&
           takes(replies, numbers.replies, numbers.early_replies);
  }

  Window requests;
  Window replies;

 private:
  static Window::Options options(std::uint32_t credits) {
    return {.window_max = credits,
            .window_first = credits,
            .timeout_first = NumberFlow::kTimeout,
            .timeout_min = NumberFlow::kTimeoutMin,
            .timeout_max = NumberFlow::kTimeout * 16,
            .ack_delay = NumberFlow::kAckDelay,
            .ack_every = credits / kAckPart,
            .acks_released = true,
            .measures = true};
  }
};

}  // namespace fairlead::splitc
