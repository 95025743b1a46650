// Credit-based sliding window between each pair of endpoints (LCI paper section 4.1): a sender
// transmits only into buffers the receiver has reserved for it; nothing is ever dropped or sent
// again. Sequence numbers only check that paths are FIFO, as it assumes. One object serves both
// directions of one endpoint.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/base/post.h"
#include "fairlead/base/units.h"
#include "fairlead/proto/flow.h"
#include "fairlead/proto/site.h"

namespace fairlead::proto {

// Buffers each receiver reserves per sender: all of them shared out evenly. 0: too many peers.
constexpr std::uint32_t credit_window_size(std::uint32_t receive_buffers, std::uint32_t endpoints) {
  return endpoints < 2 ? receive_buffers : receive_buffers / (endpoints - 1);
}

class CreditWindow {
 public:
  static constexpr bool kNumbers = true;
  static constexpr bool kRetransmits = false;
  static constexpr bool kReserves = true;
  static constexpr bool kKeepsEarly = false;

  // `window` buffers per sender, at least 1; 12 bytes of state per peer. `first`: number of the
  // first packet, the same at both ends; they wrap. `ack_part`: released() asks for an
  // acknowledgment once so large a part of the window is owed, one in two or one in four.
  CreditWindow(std::uint32_t peers, std::uint32_t window, std::uint32_t first = 0,
               std::uint16_t ack_part = 2)
      : window_(static_cast<std::uint16_t>(window)),
        ack_part_(ack_part),
        peers_(peers, State{window_, 0, first, first}) {
    FAIRLEAD_CHECK(window >= 1 && window <= UINT16_MAX, "window {}", window);
  }

  std::uint32_t window() const { return window_; }
  std::uint32_t credits(Peer peer) const { return peers_[peer].credits; }

  // Sender: takes one of the peer's buffers. False: none is free, queue the packet.
  template <Site S>
  bool open(S& site, Peer peer) {
    site.charge(Step::window);
    State& state = peers_[peer];
    if (state.credits == 0) return false;
    --state.credits;
    return true;
  }
  // Sender: the sequence number of a packet that leaves for `peer` now.
  template <Site S>
  [[nodiscard]] std::uint32_t number(S&, Peer peer, std::uint32_t) {
    return peers_[peer].next++;
  }

  // Sender: `count` buffers came back, on a packet or an acknowledgment. False: the peer returned
  // more than it was lent; the packet is not to be believed.
  template <Site S, class Freed>
  [[nodiscard]] bool acknowledged(S& site, Peer peer, std::uint32_t count, Freed&&) {
    site.charge(Step::credit);
    State& state = peers_[peer];
    if (count > static_cast<std::uint32_t>(window_ - state.credits)) return false;
    state.credits = static_cast<std::uint16_t>(state.credits + count);
    return true;
  }

  // Receiver: anything but in_order violates what this protocol assumes.
  template <Site S>
  Verdict arrived(S&, Peer peer, std::uint32_t sequence) {
    const State& state = peers_[peer];
    if (sequence == state.expected) return Verdict::in_order;
    return static_cast<std::int32_t>(sequence - state.expected) < 0 ? Verdict::duplicate
                                                                    : Verdict::gap;
  }

  void accept(Peer peer) { ++peers_[peer].expected; }

  // Receiver: one of the buffers reserved for `peer` is free again. True: send an explicit
  // acknowledgment now, the given part of the window is owed and no traffic carried it (half-window
  // ack).
  template <Site S>
  [[nodiscard]] bool released(S&, Peer peer) {
    State& state = peers_[peer];
    FAIRLEAD_DCHECK(state.owed < window_, "peer {}", peer);
    ++state.owed;
    return state.owed * ack_part_ >= window_;
  }

  // Receiver: what to piggyback on a packet that leaves for `peer` now; it is owed no longer.
  [[nodiscard]] std::uint32_t take_ack(Peer peer) {
    State& state = peers_[peer];
    const std::uint32_t owed = state.owed;
    state.owed = 0;
    return owed;
  }

  bool owes(Peer peer) const { return peers_[peer].owed > 0; }

  // It has no timers.
  Ps next_due() const { return kNever; }

 private:
  struct State {
    std::uint16_t credits;   // free buffers of mine at the peer
    std::uint16_t owed;      // buffers the peer may use again and does not know of
    std::uint32_t next;      // sequence number to be sent
    std::uint32_t expected;  // to come
  };

  std::uint16_t window_;
  std::uint16_t ack_part_;
  std::vector<State> peers_;
};

}  // namespace fairlead::proto
