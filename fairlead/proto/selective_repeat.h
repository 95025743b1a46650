// Selective repeat with selective acknowledgments between each pair of endpoints: what go-back-N
// (go_back_n.h) is on a network that rarely loses, this is on one that does. The receiver keeps
// what comes early (selective_receiver.h); the sender sends again only what is missing
// (selective_sender.h), and its window follows the losses (loss_window.h). One object serves both
// directions of one endpoint; it owns no clock and sends nothing itself. Runs on the host (hrx over
// datagrams) or on a network interface (nirx over datagrams): it is a proto::Flow.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "fairlead/base/post.h"
#include "fairlead/base/units.h"
#include "fairlead/proto/deadlines.h"
#include "fairlead/proto/flow.h"
#include "fairlead/proto/selective_receiver.h"
#include "fairlead/proto/selective_repeat_options.h"
#include "fairlead/proto/selective_sender.h"
#include "fairlead/proto/site.h"

namespace fairlead::proto {

class SelectiveRepeat {
 public:
  using Options = SelectiveRepeatOptions;
  using Ack = SelectiveAck;
  using Again = SelectiveSender::Again;
  static constexpr bool kNumbers = true;
  static constexpr bool kRetransmits = true;
  static constexpr bool kReserves = false;
  static constexpr bool kKeepsEarly = true;
  static constexpr std::uint32_t kNothing = UINT32_MAX;

  explicit SelectiveRepeat(std::uint32_t peers, const Options& options)
      : options_(options), peers_(peers) {}

  // --- Sender.
  // The packets that the window has room for.
  std::uint32_t free_window(Peer peer) const {
    const State* state = peers_[peer].get();
    return state == nullptr ? options_.window_first : state->sender.free_window();
  }
  bool room(Peer peer) const { return free_window(peer) > 0; }
  // As above, for who pays for the look.
  template <Site S>
  bool open(S& site, Peer peer) {
    site.charge(Step::window);
    return room(peer);
  }
  // Keeps `item` until it is acknowledged; returns its sequence number. There is room.
  template <Site S>
  [[nodiscard]] std::uint32_t number(S& site, Peer peer, std::uint32_t item) {
    site.charge(Step::retain);
    return of(peer).sender.number(options_, deadlines_, site.now(), item);
  }
  // The peer says what has come: freed(item) for each packet that need not be kept any more; each
  // that is missing although a later one has come is lost, and waits to be sent again. False: it
  // never got so much from here; the packet is not to be believed, and nothing was done.
  template <Site S, class Freed>
  [[nodiscard]] bool acknowledged(S& site, Peer peer, const Ack& ack, Freed&& freed) {
    site.charge(Step::credit);
    State* const state = peers_[peer].get();
    if (state == nullptr) return ack.next == options_.first && none(ack.early);
    return state->sender.acknowledged(options_, deadlines_, site.now(), ack,
                                      [&](std::uint32_t item) {
                                        site.charge(Step::acknowledged);
                                        freed(item);
                                      });
  }
  template <Site S, class Freed>
  [[nodiscard]] bool acknowledged(S& site, Peer peer, std::uint32_t next, Freed&& freed) {
    return acknowledged(site, peer, Ack{next}, std::forward<Freed>(freed));
  }
  // Packets that wait to be sent again.
  std::uint32_t lost(Peer peer) const {
    const State* state = peers_[peer].get();
    return state == nullptr ? 0 : state->sender.lost();
  }
  // The oldest of those is sent now. There is one.
  template <Site S>
  [[nodiscard]] Again take_lost(S& site, Peer peer) {
    return of(peer).sender.take_lost(site.now());
  }
  // The peer had to drop what it has not acknowledged: all of that waits to be sent again.
  void lose_all(Peer peer) {
    if (State* state = peers_[peer].get(); state != nullptr) state->sender.lose_all();
  }
  // Gives up what of its packets the peer has not acknowledged: each is kept as what
  // replaced(item) returns from now on.
  template <class Replaced>
  void replace_unacknowledged(Peer peer, Replaced&& replaced) {
    if (State* state = peers_[peer].get(); state != nullptr) state->sender.replace(replaced);
  }
  // Where packets have been lost of late: time between two, so that what the window allows is
  // spread over the round trip, with room to go faster. 0: send as fast as you can.
  Ps interval(Peer peer) const {
    const State* state = peers_[peer].get();
    return state == nullptr ? Ps{0} : state->sender.interval();
  }
  // A round trip was measured: of the packet that the peer answers to.
  void measured(Peer peer, Ps round_trip) { of(peer).sender.measured(round_trip); }
  std::uint32_t unacknowledged(Peer peer) const {
    const State* state = peers_[peer].get();
    return state == nullptr ? 0 : state->sender.unacknowledged();
  }
  // The peer is gone: freed(item) for everything it has not acknowledged, dropped(item) for what is
  // kept of it, and it is as if it had never been met.
  template <class Freed, class Dropped>
  void forget(Peer peer, Freed&& freed, Dropped&& dropped) {
    if (State* state = peers_[peer].get(); state != nullptr) {
      state->sender.forget(freed);
      state->receiver.forget(dropped);
    }
    peers_[peer].reset();
  }

  // --- Receiver.
  // early: it lies ahead of a gap, and may be kept. gap: so far ahead that it must be dropped.
  template <Site S>
  Verdict arrived(S& site, Peer peer, std::uint32_t sequence) {
    site.charge(Step::sequence);
    return of(peer).receiver.arrived(options_, deadlines_, site.now(), sequence);
  }
  // Whether arrived() would return in_order or early now.
  bool wants(Peer peer, std::uint32_t sequence) const {
    const State* state = peers_[peer].get();
    return state != nullptr && state->receiver.wants(sequence);
  }
  // The packet that was in order is taken.
  void accept(Peer peer) { of(peer).receiver.accept(); }
  // The packet that was early, or is in order and cannot be taken now, is kept as `item`.
  void keep(Peer peer, std::uint32_t sequence, std::uint32_t item) {
    of(peer).receiver.keep(sequence, item);
  }
  // The next packet in order is a kept one: takes it. kNothing: it has not come. The peer is told
  // in time, whose window moves only then.
  template <Site S>
  [[nodiscard]] std::uint32_t take_kept(S& site, Peer peer) {
    return of(peer).receiver.take_kept(options_, deadlines_, site.now());
  }
  bool keeps(Peer peer) const {
    const State* state = peers_[peer].get();
    return state != nullptr && state->receiver.keeps();
  }
  // The buffer of one accepted packet is free again. True: acknowledge now. Of use with
  // Options::acks_released.
  template <Site S>
  [[nodiscard]] bool released(S& site, Peer peer) {
    return of(peer).receiver.released(options_, deadlines_, site.now());
  }
  // Acknowledge without waiting for a packet to ride on.
  bool urgent(Peer peer) const {
    const State* state = peers_[peer].get();
    return state != nullptr && state->receiver.urgent();
  }
  bool owes(Peer peer) const {
    const State* state = peers_[peer].get();
    return state != nullptr && state->receiver.owes();
  }
  // The cumulative part of an acknowledgment, which rides on everything that leaves; it settles
  // what is owed unless early packets are to be told of too.
  [[nodiscard]] std::uint32_t take_ack(Peer peer) {
    State* state = peers_[peer].get();
    return state == nullptr ? options_.first : state->receiver.take_ack(options_);
  }
  // Words of an acknowledgment of its own, early packets included: as many of `words` as it takes.
  [[nodiscard]] std::size_t take_early(Peer peer, std::span<std::uint64_t> words) {
    return of(peer).receiver.take_early(options_, words);
  }
  // The most words that take_early() gives.
  std::size_t early_words() const { return (options_.window_max + 63) / 64; }

  // --- Timers.
  Ps next_due() const { return deadlines_.earliest(); }
  // What is due by now: send_ack(peer), or resend(peer, item, sequence) of the oldest packet, whose
  // acknowledgment will tell what else is missing. `item` kNothing: a packet without content does.
  // It asks, as all has come and what was kept of it is freed, but the peer had not taken it when
  // it said so: that it has since may have been lost, and the window would stay closed. lost(peer):
  // the last try has failed; its packets stay.
  template <Site S, class SendAck, class Resend, class Lost>
  void run_due(S& site, SendAck&& send_ack, Resend&& resend, Lost&& lost) {
    const Ps now = site.now();
    while (deadlines_.earliest() <= now) {
      const Deadlines::Entry due = deadlines_.take();
      State* const state = peers_[due.peer].get();
      if (state == nullptr) continue;
      if (due.kind == kSelectiveAckDue) {
        if (!state->receiver.ack_due(deadlines_, now)) continue;
        site.charge(Step::timer);
        send_ack(due.peer);
        state->receiver.ack_was_due(options_);
      } else if (state->sender.is_timer(due.at)) {
        state->sender.run_timeout(
            options_, deadlines_, now,
            [&](std::uint32_t item, std::uint32_t sequence) {
              site.charge(Step::timer);
              resend(due.peer, item, sequence);
            },
            [&] { lost(due.peer); });
      }
    }
  }
  template <Site S, class SendAck, class Resend>
  void run_due(S& site, SendAck&& send_ack, Resend&& resend) {
    run_due(site, std::forward<SendAck>(send_ack), std::forward<Resend>(resend), [](Peer) {});
  }

  // For tests and statistics.
  std::uint32_t window(Peer peer) const {
    const State* state = peers_[peer].get();
    return state == nullptr ? options_.window_first : state->sender.window();
  }
  Ps timeout(Peer peer) const {
    const State* state = peers_[peer].get();
    return state == nullptr ? options_.timeout_first : state->sender.timeout(options_);
  }

 private:
  struct State {
    State(const Options& options, Peer peer) : sender(options, peer), receiver(options, peer) {}
    SelectiveSender sender;
    SelectiveReceiver receiver;
  };

  State& of(Peer peer) {
    if (peers_[peer] == nullptr) meet(peer);
    return *peers_[peer];
  }
  [[gnu::noinline, gnu::cold]] void meet(Peer peer) {
    peers_[peer] = std::make_unique<State>(options_, peer);
  }
  static bool none(std::span<const std::uint64_t> words) {
    for (const std::uint64_t word : words) {
      if (word != 0) return false;
    }
    return true;
  }

  Options options_;
  std::vector<std::unique_ptr<State>> peers_;  // met on first use
  Deadlines deadlines_;
};

}  // namespace fairlead::proto
