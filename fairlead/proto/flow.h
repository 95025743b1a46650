// What stands between two endpoints so that nothing overruns, and on some networks nothing is lost:
// the interface that the reliability schemes of LCI paper section 5.1 share, whichever side runs
// them. A scheme owns no clock and sends nothing; it says what may go and what came.
#pragma once
#include <concepts>
#include <cstdint>

#include "fairlead/base/post.h"
#include "fairlead/base/units.h"
#include "fairlead/proto/site.h"

namespace fairlead::proto {

// Where a packet stands in its sender's sequence.
// in_order: it is the next one. early: it lies ahead of a gap, and the scheme lets it be kept until
// that is filled. gap: it lies ahead of one and must be dropped.
enum class Verdict : std::uint8_t { in_order, duplicate, gap, early };

// kNumbers: it stamps what leaves and checks what comes (else another side does).
// kRetransmits: sent packets are kept until acknowledged, and those lost are sent again.
// kReserves: receive buffers are reserved per sender (else they are one pool for all), and what is
// not in order violates what the scheme assumes.
// kKeepsEarly: what comes early is kept by whoever asks, acknowledgments tell of it, and only what
// is missing is sent again (selective_repeat.h has the verbs for that).
// open(): a packet may leave for the peer now (a credit scheme takes the credit). number(): it
// leaves; its sequence number. take_ack(): the acknowledgment field of what leaves. arrived(),
// accept(), released(): of a packet that came; released() returns whether to acknowledge at once.
// acknowledged(): of an acknowledgment field that came; freed(item) for what need not be kept any
// more; false: it cannot be true.
template <class F, class S>
concept Flow = Site<S> &&
    requires(F flow, S& site, Peer peer, std::uint32_t number, void (*freed)(std::uint32_t)) {
  { F::kNumbers } -> std::convertible_to<bool>;
  { F::kRetransmits } -> std::convertible_to<bool>;
  { F::kReserves } -> std::convertible_to<bool>;
  { F::kKeepsEarly } -> std::convertible_to<bool>;
  { flow.open(site, peer) } -> std::same_as<bool>;
  { flow.number(site, peer, number) } -> std::same_as<std::uint32_t>;
  { flow.take_ack(peer) } -> std::same_as<std::uint32_t>;
  { flow.arrived(site, peer, number) } -> std::same_as<Verdict>;
  flow.accept(peer);
  { flow.released(site, peer) } -> std::same_as<bool>;
  { flow.acknowledged(site, peer, number, freed) } -> std::same_as<bool>;
  { flow.next_due() } -> std::same_as<Ps>;
};

// On an NI whose host runs the scheme (I-hrx): everything goes, everything comes.
struct NoFlow {
  static constexpr bool kNumbers = false;
  static constexpr bool kRetransmits = false;
  static constexpr bool kReserves = false;
  static constexpr bool kKeepsEarly = false;
  template <Site S>
  bool open(S&, Peer) {
    return true;
  }
  template <Site S>
  std::uint32_t number(S&, Peer, std::uint32_t) {
    return 0;
  }
  std::uint32_t take_ack(Peer) { return 0; }
  template <Site S>
  Verdict arrived(S&, Peer, std::uint32_t) {
    return Verdict::in_order;
  }
  void accept(Peer) {}
  template <Site S>
  bool released(S&, Peer) {
    return false;
  }
  template <Site S, class Freed>
  bool acknowledged(S&, Peer, std::uint32_t, Freed&&) {
    return true;
  }
  Ps next_due() const { return kNever; }
};

}  // namespace fairlead::proto
