// Credit-based sliding window between each pair of endpoints (LCI paper section 4.1): a sender
// transmits only into buffers the receiver has reserved for it; nothing is ever dropped or sent
// again. One object serves both directions of one endpoint.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/base/post.h"
#include "fairlead/proto/site.h"

namespace fairlead::proto {

// Buffers each receiver reserves per sender: all of them shared out evenly. 0: too many peers.
constexpr std::uint32_t credit_window_size(std::uint32_t receive_buffers, std::uint32_t endpoints) {
  return endpoints < 2 ? receive_buffers : receive_buffers / (endpoints - 1);
}

class CreditWindow {
 public:
  // `window` buffers per sender, at least 1; 4 bytes of state per peer.
  CreditWindow(std::uint32_t peers, std::uint32_t window)
      : window_(static_cast<std::uint16_t>(window)), peers_(peers, State{window_, 0}) {
    FAIRLEAD_CHECK(window >= 1 && window <= UINT16_MAX, "window {}", window);
  }

  std::uint32_t window() const { return window_; }
  std::uint32_t credits(Peer peer) const { return peers_[peer].credits; }

  // Sender: takes one of the peer's buffers. False: none is free, queue the packet.
  template <Site S>
  bool take(S& site, Peer peer) {
    site.charge(Step::window);
    State& state = peers_[peer];
    if (state.credits == 0) return false;
    --state.credits;
    return true;
  }

  // Sender: `count` buffers came back, on a packet or an acknowledgment. False: the peer returned
  // more than it was lent; the packet is not to be believed.
  template <Site S>
  [[nodiscard]] bool give(S& site, Peer peer, std::uint32_t count) {
    site.charge(Step::credit);
    State& state = peers_[peer];
    if (count > static_cast<std::uint32_t>(window_ - state.credits)) return false;
    state.credits = static_cast<std::uint16_t>(state.credits + count);
    return true;
  }

  // Receiver: one of the buffers reserved for `peer` is free again. True: send an explicit
  // acknowledgment now, half the window is owed and no traffic carried it (half-window ack).
  [[nodiscard]] bool released(Peer peer) {
    State& state = peers_[peer];
    FAIRLEAD_DCHECK(state.owed < window_, "peer {}", peer);
    ++state.owed;
    return state.owed * 2 >= window_;
  }

  // Receiver: what to piggyback on a packet that leaves for `peer` now; it is owed no longer.
  [[nodiscard]] std::uint32_t take_owed(Peer peer) {
    State& state = peers_[peer];
    const std::uint32_t owed = state.owed;
    state.owed = 0;
    return owed;
  }

 private:
  struct State {
    std::uint16_t credits;  // free buffers of mine at the peer
    std::uint16_t owed;     // buffers the peer may use again and does not know of
  };

  std::uint16_t window_;
  std::vector<State> peers_;
};

}  // namespace fairlead::proto
