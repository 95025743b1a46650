// Go-back-N sliding window between each pair of endpoints (LCI paper section 5.1): the sender keeps
// its packets until they are acknowledged and sends all of them again when the oldest has waited
// too long; the receiver drops what is not next. Runs on the network interface (I-nirx) or on the
// host (I-hrx) alike. One object serves both directions of one endpoint; it owns no clock and sends
// nothing itself.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>

#include "fairlead/base/post.h"
#include "fairlead/base/units.h"
#include "fairlead/proto/deadlines.h"
#include "fairlead/proto/flow.h"
#include "fairlead/proto/item_lists.h"
#include "fairlead/proto/peer_table.h"
#include "fairlead/proto/round_trip.h"
#include "fairlead/proto/site.h"

namespace fairlead::proto {

class GoBackN {
 public:
  struct Options {
    std::uint32_t window;     // packets under way to one peer, at least 1
    Ps timeout;               // without progress, until everything is sent again
    Ps ack_delay;             // an acknowledgment waits so long for a packet to ride on
    std::uint32_t tries_max;  // timeouts in a row, each twice the last up to 16 times the first
    std::uint32_t first = 0;  // number of the first packet, the same at both ends; they wrap
    // On a network whose round trip nobody knows: the timeout follows what is measured, from
    // `timeout` at first down to this, and may come too soon where many send to one: then the
    // oldest packet alone is sent again, and everything where that was all that came until the
    // next timeout. 0: the timeout stays what it is, and everything is sent again.
    Ps timeout_min{};
    // A receiver that sees a gap asks for what is missing, and need not wait for that timeout.
    bool asks = false;
    // released() asks for an acknowledgment once so large a part of the window is owed: one in two,
    // one in four.
    std::uint32_t ack_part = 2;
  };
  static constexpr bool kNumbers = true;
  static constexpr bool kRetransmits = true;
  static constexpr bool kReserves = false;
  static constexpr bool kKeepsEarly = false;

  explicit GoBackN(const Options& options)
      : options_(options), peers_(State::beginning_at(options.first)) {
    if (adapts() || options_.asks) haste_ = std::make_unique<Haste>();
  }

  // --- Sender.
  // Room in the window for one packet more.
  template <Site S>
  bool open(S& site, Peer peer) {
    site.charge(Step::window);
    return room(peer);
  }
  // As above, and nothing of it is charged: whether it is worth a try.
  bool room(Peer peer) {
    const State& state = peers_.of(peer);
    return state.next - state.base < options_.window;
  }
  // Keeps `item` until it is acknowledged; returns its sequence number. The window is open.
  template <Site S>
  [[nodiscard]] std::uint32_t number(S& site, Peer peer, std::uint32_t item) {
    site.charge(Step::retain);
    State& state = peers_.of(peer);
    if (state.unacked.empty()) start_timer(site.now(), peer, state);
    lists_.push(state.unacked, item);
    if (adapts()) haste_->paces.of(peer).begin(state.next, site.now());
    return state.next++;
  }
  // The peer has taken every packet before `ack`: freed(item) for each. False: it never got so many
  // from here; the packet is not to be believed.
  template <Site S, class Freed>
  [[nodiscard]] bool acknowledged(S& site, Peer peer, std::uint32_t ack, Freed&& freed) {
    site.charge(Step::credit);
    State& state = peers_.of(peer);
    const std::uint32_t news = ack - state.base;
    if (news > state.next - state.base) {
      // An old acknowledgment, overtaken by a later one, tells nothing.
      return static_cast<std::int32_t>(news) < 0;
    }
    if (news == 0) return true;
    state.base = ack;
    state.since = site.now();
    if (adapts()) haste_->paces.of(peer).end(ack, state.since);
    const bool shorter = state.tries > 0 && state.timed;
    state.tries = 0;
    // The entry of a timeout that was longer is too late now.
    if (shorter) set_timer(state.since + timeout_of(peer, state), peer, state);
    for (std::uint32_t i = 0; i < news; ++i) {
      State& now = peers_.of(peer);
      const std::uint32_t item = lists_.front(now.unacked);
      lists_.pop(now.unacked);
      site.charge(Step::acknowledged);
      freed(item);
    }
    return true;
  }
  std::uint32_t unacknowledged(Peer peer) {
    const State& state = peers_.of(peer);
    return state.next - state.base;
  }
  // Whether no peer has anything unacknowledged.
  bool idle() const { return lists_.size() == 0; }
  // Calls resend(peer, item, sequence) for everything the peer has not acknowledged.
  template <Site S, class Resend>
  void resend_all(S& site, Peer peer, Resend&& resend) {
    State& state = peers_.of(peer);
    state.since = site.now();
    if (adapts()) haste_->paces.of(peer).timing = false;
    std::uint32_t sequence = state.base;
    lists_.for_each(state.unacked, [&](std::uint32_t item) { resend(peer, item, sequence++); });
  }

  // --- Receiver.
  template <Site S>
  Verdict arrived(S& site, Peer peer, std::uint32_t sequence) {
    site.charge(Step::sequence);
    State& state = peers_.of(peer);
    if (sequence == state.expected) return Verdict::in_order;
    if (static_cast<std::int32_t>(sequence - state.expected) > 0) return Verdict::gap;
    // Sent again: the acknowledgment was lost, or is late.
    owe(site.now(), peer, state);
    return Verdict::duplicate;
  }
  // A packet has come that is not next. True: ask for all from the next one on, which the sender
  // answers by resend_all(). Once, until that one has come or the sender begins again without it.
  [[nodiscard]] bool asks(Peer peer, std::uint32_t sequence) {
    if (!options_.asks) return false;
    Gap& gap = haste_->gaps.of(peer);
    const bool goes_on = gap.asked && static_cast<std::int32_t>(sequence - gap.last) >= 0;
    gap = {sequence, true};
    return !goes_on;
  }
  // The packet that was in order is taken.
  void accept(Peer peer) {
    ++peers_.of(peer).expected;
    if (options_.asks) haste_->gaps.of(peer).asked = false;
  }
  // The buffer of one accepted packet is free again. True: acknowledge now, the given part of the
  // window is owed and no traffic carried it (half-window ack).
  template <Site S>
  [[nodiscard]] bool released(S& site, Peer peer) {
    State& state = peers_.of(peer);
    ++state.released;
    owe(site.now(), peer, state);
    return (state.released - state.told) * options_.ack_part >= options_.window;
  }
  // What a packet that leaves for `peer` now says in its acknowledgment field.
  [[nodiscard]] std::uint32_t take_ack(Peer peer) {
    State& state = peers_.of(peer);
    state.told = state.released;
    state.owes = false;
    return state.released;
  }
  // take_ack() would tell something new.
  bool owes(Peer peer) { return peers_.of(peer).owes; }

  // Brings the peer's state into the cache.
  void prepare(Peer peer) const { peers_.prepare(peer); }
  // What run_due() will need.
  void prepare_due() const {
    if (deadlines_.earliest() == kNever) return;
    deadlines_.prepare();
    peers_.prepare(deadlines_.first().peer);
  }

  // --- Timers.
  Ps next_due() const { return deadlines_.earliest(); }
  // Whether run_due() has anything to do by now. A deadline behind which nothing stands any more
  // goes: its packet has been acknowledged, its acknowledgment has left with a packet.
  template <Site S>
  bool is_due(S& site) {
    while (deadlines_.earliest() <= site.now()) {
      const Deadlines::Entry first = deadlines_.first();
      State& state = peers_.of(first.peer);
      if (stands(site.now(), first, state)) return true;
      (void)deadlines_.take();
      if (first.kind == kAckDue) {
        run_ack(site, first.peer, state, [](Peer) {});
      } else if (first.at == state.timer_at) {
        run_timeout(
            site, first.peer, state, [](Peer, std::uint32_t, std::uint32_t) {}, [](Peer) {});
      }
    }
    return false;
  }
  // What is due by now: send_ack(peer), resend(peer, item, sequence), or lost(peer) where the last
  // try has failed; that peer's packets stay.
  template <Site S, class SendAck, class Resend, class Lost>
  void run_due(S& site, SendAck&& send_ack, Resend&& resend, Lost&& lost) {
    while (deadlines_.earliest() <= site.now()) {
      const Deadlines::Entry due = deadlines_.take();
      State& state = peers_.of(due.peer);
      if (due.kind == kAckDue) {
        run_ack(site, due.peer, state, send_ack);
      } else {
        if (due.at == state.timer_at) run_timeout(site, due.peer, state, resend, lost);
      }
    }
  }

 private:
  enum Kind : std::uint32_t { kAckDue, kTimeout };
  static constexpr std::uint32_t kBackoffMax = 4;  // doublings

  struct State {
    Ps since{};     // the oldest has waited since then
    Ps timer_at{};  // of the entry that counts, while timed
    Ps ack_at{};    // owed since then plus the delay
    ItemList unacked;
    std::uint32_t next = 0;      // to be sent
    std::uint32_t base = 0;      // oldest not acknowledged
    std::uint32_t expected = 0;  // to come
    std::uint32_t released = 0;  // of what came
    std::uint32_t told = 0;      // of those: the peer was told
    std::uint16_t tries = 0;
    bool owes = false;
    bool ack_timed = false;  // has an entry of that kind
    bool timed = false;      // has one of that kind

    static State beginning_at(std::uint32_t first) {
      State made;
      made.next = made.base = made.expected = made.released = made.told = first;
      return made;
    }
  };

  // What the sender knows of a peer's round trips.
  struct Pace {
    RoundTrip trip;
    Ps timed_at{};            // when packet `timed` was sent, while timing
    std::uint32_t timed = 0;  // one at a time
    std::uint32_t late = 0;   // timeouts since the last that was measured
    std::uint32_t probe = 0;  // the packet that a timeout sent again alone, while probing
    bool timing = false;
    bool probing = false;  // others were under way behind it

    void begin(std::uint32_t sequence, Ps now) {
      if (timing) return;
      timing = true;
      timed = sequence;
      timed_at = now;
    }
    // What was sent again meanwhile tells nothing: resend_all() has ended the timing.
    void end(std::uint32_t ack, Ps now) {
      if (!timing || static_cast<std::int32_t>(ack - timed) <= 0) return;
      timing = false;
      late = 0;
      trip.measured(now - timed_at);
    }
  };
  // The last packet that came too early, and whether what is missing was asked for.
  struct Gap {
    std::uint32_t last = 0;
    bool asked = false;
  };

  bool adapts() const { return options_.timeout_min > Ps{0}; }

  // A measured timeout doubles up to the given one, and stays so until a round trip says better;
  // who makes no progress even so is asked less and less often.
  Ps timeout_of(Peer peer, const State& state) {
    Ps first = options_.timeout;
    std::uint32_t doublings = state.tries;
    if (adapts()) {
      const Pace& pace = haste_->paces.of(peer);
      const Ps measured = pace.trip.timeout(options_.timeout, options_.timeout_min);
      first = std::min(measured * (1 << std::min(pace.late, kBackoffMax)),
                       std::max(measured, options_.timeout));
      doublings -= std::min(doublings, kBackoffMax);
      // What is not lost is acknowledged soon behind it.
      if (came_alone(pace, state)) {
        return std::min(first, pace.trip.mean() * 2 + options_.ack_delay);
      }
    }
    return first * (1 << std::min(doublings, kBackoffMax));
  }
  void start_timer(Ps now, Peer peer, State& state) {
    state.since = now;
    state.tries = 0;
    if (state.timed) return;
    set_timer(now + timeout_of(peer, state), peer, state);
  }
  void set_timer(Ps at, Peer peer, State& state) {
    state.timed = true;
    state.timer_at = at;
    deadlines_.add(at, peer, kTimeout);
  }
  void owe(Ps now, Peer peer, State& state) {
    if (state.owes) return;
    state.owes = true;
    state.ack_at = now + options_.ack_delay;
    if (state.ack_timed) return;
    state.ack_timed = true;
    deadlines_.add(state.ack_at, peer, kAckDue);
  }

  // Whether the deadline `due`, which has come, is for something.
  bool stands(Ps now, const Deadlines::Entry& due, const State& state) {
    if (due.kind == kAckDue) return state.owes && state.ack_at <= now;
    return due.at == state.timer_at && !state.unacked.empty() &&
           state.since + timeout_of(due.peer, state) <= now;
  }

  template <Site S, class SendAck>
  void run_ack(S& site, Peer peer, State& state, SendAck&& send_ack) {
    state.ack_timed = state.owes && state.ack_at > site.now();
    if (state.ack_timed) return deadlines_.add(state.ack_at, peer, kAckDue);
    if (!state.owes) return;
    site.charge(Step::timer);
    send_ack(peer);
  }
  // The packet that was sent again alone has come, and nothing else.
  static bool came_alone(const Pace& pace, const State& state) {
    return pace.probing && state.base == pace.probe + 1;
  }
  // Sends the oldest packet again, alone. False, and nothing has happened: it is all that has come
  // since it was sent alone before, so that the others are lost as well.
  template <class Resend>
  bool probes(Ps now, Peer peer, Resend&& resend) {
    State& state = peers_.of(peer);
    Pace& pace = haste_->paces.of(peer);
    const bool others_are_lost = came_alone(pace, state);
    pace.probing = !others_are_lost && state.next - state.base > 1;
    if (others_are_lost) return false;
    pace.probe = state.base;
    pace.timing = false;
    state.since = now;
    resend(peer, lists_.front(state.unacked), state.base);
    return true;
  }
  template <Site S, class Resend, class Lost>
  void run_timeout(S& site, Peer peer, State& state, Resend&& resend, Lost&& lost) {
    state.timed = false;
    if (state.unacked.empty()) return;
    const Ps at = state.since + timeout_of(peer, state);
    if (at <= site.now()) {
      site.charge(Step::timer);
      if (adapts()) ++haste_->paces.of(peer).late;
      if (++state.tries > options_.tries_max) return lost(peer);
      if (!adapts() || !probes(site.now(), peer, resend)) resend_all(site, peer, resend);
    }
    State& after = peers_.of(peer);
    set_timer(after.since + timeout_of(peer, after), peer, after);
  }

  static_assert(PeerTable<State>::entry_bytes() == kCacheLine);

  Deadlines deadlines_;
  Options options_;
  ItemLists lists_;
  PeerTable<State> peers_;
  // Where the options want one of them.
  struct Haste {
    PeerTable<Pace> paces;
    PeerTable<Gap> gaps;
  };
  std::unique_ptr<Haste> haste_;
};

}  // namespace fairlead::proto
