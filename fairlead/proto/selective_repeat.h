// Selective repeat with selective acknowledgments between each pair of endpoints: what go-back-N
// (go_back_n.h) is on a network that rarely loses, this is on one that does. The receiver keeps
// what comes early; the sender sends again only what is missing, as soon as something sent later
// has arrived (RFC 8985, RACK), or when a timeout that follows the measured round trip (RFC 6298)
// has passed. The window shrinks with the share of packets lost (as DCTCP's does with marks), so
// that random loss costs little and a queue that overflows drains. One object serves both
// directions of one endpoint; it owns no clock and sends nothing itself.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/base/post.h"
#include "fairlead/base/units.h"
#include "fairlead/proto/deadlines.h"
#include "fairlead/proto/round_trip.h"
#include "fairlead/proto/site.h"

namespace fairlead::proto {

class SelectiveRepeat {
 public:
  struct Options {
    std::uint32_t window_max;  // packets under way to one peer; a power of two, at least 2
    std::uint32_t window_first = 16;
    Ps timeout_first;         // before a round trip was measured
    Ps timeout_min;           // however short the round trips are
    Ps timeout_max;           // however often it has doubled
    Ps ack_delay;             // an acknowledgment waits so long for a packet to ride on
    std::uint32_t ack_every;  // so many packets owed are acknowledged at once
    // In a stream twice as many each time, up to this; until the delay or a gap ends it. At least
    // ack_every, or 0: never more.
    std::uint32_t ack_every_max = 0;
    std::uint32_t first = 0;  // number of the first packet, the same at both ends; they wrap
  };

  // What stands in an acknowledgment: everything before `next` has come, and of what follows, bit i
  // of the words (the lowest bit first) says that next + i has.
  struct Ack {
    std::uint32_t next;
    std::span<const std::uint64_t> early = {};
    // When the packet left that came to the peer last before it said so; 0: it does not tell.
    Ps answers{};
  };

  explicit SelectiveRepeat(std::uint32_t peers, const Options& options)
      : options_(options), peers_(peers) {}

  // --- Sender.
  // The packets that the window has room for.
  std::uint32_t free_window(Peer peer) const {
    const State* state = peers_[peer].get();
    if (state == nullptr) return options_.window_first;
    const std::uint32_t out = state->next - state->base;
    return out < state->window_packets() ? state->window_packets() - out : 0;
  }
  bool room(Peer peer) const { return free_window(peer) > 0; }
  // Keeps `item` until it is acknowledged; returns its sequence number. There is room.
  template <Site S>
  [[nodiscard]] std::uint32_t number(S& site, Peer peer, std::uint32_t item) {
    site.charge(Step::retain);
    State& state = of(peer);
    FAIRLEAD_DCHECK(state.next - state.base < options_.window_max, "no room in a window of {}",
                    state.window_packets());
    const Ps now = site.now();
    if (state.out++ == 0) {
      start_timer(now, peer, state);
      state.paused = true;
    }
    sent_of(state, state.next) = {item, false, false, false, now};
    return state.next++;
  }
  // The peer says what has come: freed(item) for each packet that need not be kept any more; each
  // that is missing although a later one has come is lost, and waits to be sent again. False: it
  // never got so much from here; the packet is not to be believed, and nothing was done.
  template <Site S, class Freed>
  [[nodiscard]] bool acknowledged(S& site, Peer peer, const Ack& ack, Freed&& freed) {
    site.charge(Step::credit);
    State* const met = peers_[peer].get();
    if (met == nullptr) return ack.next == options_.first && none(ack.early);
    State& state = *met;
    const std::uint32_t news = ack.next - state.base;
    if (news > state.next - state.base) {
      // An old acknowledgment, overtaken by a later one, tells nothing.
      return static_cast<std::int32_t>(news) < 0;
    }
    if (!possible(state, ack)) return false;
    const std::uint32_t out = state.next - state.base;
    std::uint32_t taken = 0;
    const auto take = [&](std::uint32_t sequence) {
      Sent& sent = sent_of(state, sequence);
      if (sent.acked) return;
      site.charge(Step::acknowledged);
      sent.acked = true;
      if (std::exchange(sent.lost, false)) --state.lost;
      // It was overtaken, and not lost.
      if (!sent.again && static_cast<std::int32_t>(state.last_early - sequence) > 0) {
        state.overtakes = true;
      }
      --state.out;
      ++taken;
      // Nobody knows which copy of a packet sent twice has come, unless the peer names it.
      if (!sent.again) state.newest = std::max(state.newest, sent.at);
      freed(sent.item);
    };
    state.newest = std::max(state.newest, ack.answers);
    for (std::uint32_t i = 0; i < news; ++i) take(state.base + i);
    state.base = ack.next;
    for_each_early(ack, take);
    if (!ack.early.empty()) state.last_early = last_early(ack);
    if (taken > 0) {
      progress(site.now(), peer, state, taken, out);
    } else if (news > 0) {
      answered(site.now(), peer, state);
    }
    const bool recovering = static_cast<std::int32_t>(state.recovered - state.base) > 0;
    if (state.out > 0 && (!ack.early.empty() || recovering)) {
      find_lost(state);
    }
    return true;
  }
  // Packets that wait to be sent again.
  std::uint32_t lost(Peer peer) const {
    const State* state = peers_[peer].get();
    return state == nullptr ? 0 : state->lost;
  }
  // The oldest of those is sent now. There is one.
  struct Again {
    std::uint32_t item;
    std::uint32_t sequence;
  };
  template <Site S>
  [[nodiscard]] Again take_lost(S& site, Peer peer) {
    State& state = of(peer);
    if (static_cast<std::int32_t>(state.base - state.lost_from) > 0) state.lost_from = state.base;
    while (!sent_of(state, state.lost_from).lost) ++state.lost_from;
    return {send_again(site.now(), state, state.lost_from), state.lost_from};
  }
  // Where packets have been lost of late: time between two, so that what the window allows is
  // spread over the round trip, with room to go faster. 0: send as fast as you can.
  Ps interval(Peer peer) const {
    const State* state = peers_[peer].get();
    if (state == nullptr || state->careful_rounds == 0) return Ps{0};
    return state->trip.recent() * 4 / (std::int64_t{state->window_packets()} * 5);
  }
  // A round trip was measured: of the packet that the peer answers to.
  void measured(Peer peer, Ps round_trip) { of(peer).trip.measured(round_trip); }
  std::uint32_t unacknowledged(Peer peer) const {
    const State* state = peers_[peer].get();
    return state == nullptr ? 0 : state->next - state->base;
  }
  // The peer is gone: freed(item) for everything it has not acknowledged, dropped(item) for what is
  // kept of it, and it is as if it had never been met.
  template <class Freed, class Dropped>
  void forget(Peer peer, Freed&& freed, Dropped&& dropped) {
    if (State* state = peers_[peer].get(); state != nullptr) {
      for (std::uint32_t s = state->base; s != state->next; ++s) {
        if (const Sent& sent = sent_of(*state, s); !sent.acked) freed(sent.item);
      }
      for (std::uint32_t i = 0; i < options_.window_max; ++i) {
        if (state->kept[i] != kNothing) dropped(state->kept[i]);
      }
    }
    peers_[peer].reset();
  }

  // --- Receiver.
  // early: it lies ahead of a gap, and may be kept. beyond: so far ahead that it must be dropped.
  enum class Came : std::uint8_t { in_order, early, duplicate, beyond };
  template <Site S>
  Came arrived(S& site, Peer peer, std::uint32_t sequence) {
    site.charge(Step::sequence);
    State& state = of(peer);
    const std::uint32_t ahead = sequence - state.expected;
    if (ahead == 0 && state.kept[slot(sequence)] == kNothing) {
      owe(site.now(), peer, state, 1);
      return Came::in_order;
    }
    // What is not next is answered at once: the sender is to know what is missing, or that its
    // packet has come before.
    state.ack_every = options_.ack_every;
    owe(site.now(), peer, state, state.ack_every);
    if (static_cast<std::int32_t>(ahead) < 0) return Came::duplicate;
    if (ahead >= options_.window_max) return Came::beyond;
    return state.kept[slot(sequence)] == kNothing ? Came::early : Came::duplicate;
  }
  // Whether arrived() would return in_order or early now.
  bool wants(Peer peer, std::uint32_t sequence) const {
    const State* state = peers_[peer].get();
    return state != nullptr && sequence - state->expected < options_.window_max &&
           state->kept[slot(sequence)] == kNothing;
  }
  // The packet that was in order is taken.
  void accept(Peer peer) { ++of(peer).expected; }
  // The packet that was early, or is in order and cannot be taken now, is kept as `item`.
  void keep(Peer peer, std::uint32_t sequence, std::uint32_t item) {
    State& state = of(peer);
    state.kept[slot(sequence)] = item;
    ++state.kept_count;
  }
  // The next packet in order is a kept one: takes it. kNothing: it has not come. The peer is told
  // in time, whose window moves only then.
  static constexpr std::uint32_t kNothing = UINT32_MAX;
  template <Site S>
  [[nodiscard]] std::uint32_t take_kept(S& site, Peer peer) {
    State& state = of(peer);
    if (state.kept_count == 0) return kNothing;
    const std::uint32_t item = std::exchange(state.kept[slot(state.expected)], kNothing);
    if (item == kNothing) return kNothing;
    --state.kept_count;
    ++state.expected;
    owe(site.now(), peer, state, 1);
    return item;
  }
  bool keeps(Peer peer) const {
    const State* state = peers_[peer].get();
    return state != nullptr && state->kept_count > 0;
  }
  // Acknowledge without waiting for a packet to ride on.
  bool urgent(Peer peer) const {
    const State* state = peers_[peer].get();
    return state != nullptr && state->owed >= state->ack_every;
  }
  bool owes(Peer peer) const {
    const State* state = peers_[peer].get();
    return state != nullptr && state->owed > 0;
  }
  // The cumulative part of an acknowledgment, which rides on everything that leaves; it settles
  // what is owed unless early packets are to be told of too.
  [[nodiscard]] std::uint32_t take_ack(Peer peer) {
    State* state = peers_[peer].get();
    if (state == nullptr) return options_.first;
    if (state->kept_count == 0) settle(*state);
    return state->expected;
  }
  // Words of an acknowledgment of its own, early packets included: as many of `words` as it takes.
  [[nodiscard]] std::size_t take_early(Peer peer, std::span<std::uint64_t> words) {
    State& state = of(peer);
    if (state.kept_count == 0) {
      settle(state);
      return 0;
    }
    state.owed = 0;
    std::size_t used = 0;
    std::uint32_t left = state.kept_count;
    for (std::size_t w = 0; w < words.size() && left > 0; ++w) {
      words[w] = 0;
      for (std::uint32_t b = 0; b < 64 && w * 64 + b < options_.window_max; ++b) {
        const auto ahead = static_cast<std::uint32_t>(w * 64 + b);
        if (state.kept[slot(state.expected + ahead)] == kNothing) continue;
        words[w] |= std::uint64_t{1} << b;
        --left;
      }
      used = w + 1;
    }
    return used;
  }
  // The most words that take_early() gives.
  std::size_t early_words() const { return (options_.window_max + 63) / 64; }

  // --- Timers.
  Ps next_due() const { return deadlines_.earliest(); }
  // What is due by now: send_ack(peer), or resend(peer, item, sequence) of the oldest packet, whose
  // acknowledgment will tell what else is missing. `item` kNothing: a packet without content does.
  // It asks, as all has come and what was kept of it is freed, but the peer had not taken it when
  // it said so: that it has since may have been lost, and the window would stay closed.
  template <Site S, class SendAck, class Resend>
  void run_due(S& site, SendAck&& send_ack, Resend&& resend) {
    const Ps now = site.now();
    while (deadlines_.earliest() <= now) {
      const Deadlines::Entry due = deadlines_.take();
      State* const state = peers_[due.peer].get();
      if (state == nullptr) continue;
      if (due.kind == kAckDue) {
        run_ack(site, now, due.peer, *state, send_ack);
      } else if (due.at == state->timer_at) {
        run_timeout(site, now, due.peer, *state, resend);
      }
    }
  }

  // For tests and statistics.
  std::uint32_t window(Peer peer) const {
    const State* state = peers_[peer].get();
    return state == nullptr ? options_.window_first : state->window_packets();
  }
  Ps timeout(Peer peer) const {
    const State* state = peers_[peer].get();
    return state == nullptr ? options_.timeout_first : timeout_of(*state);
  }

 private:
  enum Kind : std::uint32_t { kAckDue, kTimeout };
  // The unit in which the window and the share of lost packets are counted.
  static constexpr std::uint32_t kFraction = 1024;
  static constexpr std::int32_t kOvertaken = 3;
  static constexpr std::uint32_t kWindowMin = kOvertaken + 1;  // so many can overtake a lost one
  static constexpr std::uint32_t kFullRounds = 2;              // without more: no more doubling
  static constexpr std::uint32_t kCarefulRounds = 256;         // after a loss: spread out

  struct Sent {
    std::uint32_t item;
    bool acked;
    bool again;  // sent more than once
    bool lost;   // waits to be sent again
    Ps at;       // last
  };
  struct State {
    std::unique_ptr<Sent[]> sent;
    std::unique_ptr<std::uint32_t[]> kept;
    std::uint32_t next = 0;       // to be sent
    std::uint32_t base = 0;       // the peer has taken everything before it
    std::uint32_t out = 0;        // since base: not acknowledged
    std::uint32_t lost = 0;       // of those: wait to be sent again
    std::uint32_t lost_from = 0;  // none of them before
    std::uint32_t expected = 0;   // to come
    std::uint32_t kept_count = 0;
    std::uint32_t recovered = 0;   // once everything before it has come, nothing lost is out
    std::uint32_t last_early = 0;  // as the peer told last
    std::uint32_t owed = 0;        // packets that came and were not acknowledged
    std::uint32_t ack_every = 0;   // as the options' at first
    bool ack_timed = false;        // has an entry of that kind
    bool timed = false;            // has one of that kind
    bool overtakes = false;        // packets on this path overtake each other
    std::uint8_t tries = 0;        // timeouts in a row
    // Window, in packets and 1/kFraction of one, and below which value it doubles every round trip.
    std::uint32_t window = 0;
    std::uint32_t threshold = UINT32_MAX;
    // The round of packets before round_end: how many were acknowledged and how many lost.
    std::uint32_t round_end = 0;
    std::uint32_t round_acked = 0;
    std::uint32_t round_lost = 0;
    std::uint32_t loss_share = 0;      // average, of kFraction
    std::uint32_t careful_rounds = 0;  // after one with a loss, this one included
    bool used = false;                 // the window was, in this round
    bool paused = false;               // nothing was out, at times in this round
    // While the window doubles: the least time that a packet of a round took, in ps, and rounds
    // since then.
    std::int64_t full_each = 0;
    std::uint32_t full_rounds = 0;
    Ps round_at{};  // it began
    Ps newest{};    // when the latest sent of what was acknowledged was sent
    RoundTrip trip;
    Ps since{};     // the oldest has waited since then
    Ps timer_at{};  // of the entry that counts, while timed
    Ps ack_at{};    // owed since then plus the delay

    std::uint32_t window_packets() const { return window / kFraction; }
  };

  std::uint32_t slot(std::uint32_t sequence) const { return sequence & (options_.window_max - 1); }
  Sent& sent_of(State& state, std::uint32_t sequence) const { return state.sent[slot(sequence)]; }

  State& of(Peer peer) {
    if (peers_[peer] == nullptr) meet(peer);
    return *peers_[peer];
  }
  [[gnu::noinline, gnu::cold]] void meet(Peer peer) {
    auto made = std::make_unique<State>();
    made->sent = std::make_unique<Sent[]>(options_.window_max);
    made->kept = std::make_unique_for_overwrite<std::uint32_t[]>(options_.window_max);
    std::fill_n(made->kept.get(), options_.window_max, kNothing);
    made->next = made->base = made->expected = made->round_end = made->recovered =
        made->last_early = made->lost_from = options_.first;
    made->window = std::min(options_.window_first, options_.window_max) * kFraction;
    made->ack_every = options_.ack_every;
    peers_[peer] = std::move(made);
  }

  static bool none(std::span<const std::uint64_t> words) {
    return std::all_of(words.begin(), words.end(), [](std::uint64_t w) { return w == 0; });
  }
  // Nothing is acknowledged that was not sent.
  static bool possible(const State& state, const Ack& ack) {
    const std::uint32_t out = state.next - ack.next;
    for (std::size_t w = 0; w < ack.early.size(); ++w) {
      if (ack.early[w] == 0) continue;
      const std::size_t last =
          w * 64 + 63 - static_cast<std::size_t>(std::countl_zero(ack.early[w]));
      if (last >= out) return false;
    }
    return true;
  }
  // The last packet that came early; before ack.next: none has.
  static std::uint32_t last_early(const Ack& ack) {
    for (std::size_t w = ack.early.size(); w-- > 0;) {
      if (ack.early[w] == 0) continue;
      return ack.next + static_cast<std::uint32_t>(w * 64 + 63) -
             static_cast<std::uint32_t>(std::countl_zero(ack.early[w]));
    }
    return ack.next - 1;
  }
  template <class Take>
  static void for_each_early(const Ack& ack, Take&& take) {
    for (std::size_t w = 0; w < ack.early.size(); ++w) {
      for (std::uint64_t bits = ack.early[w]; bits != 0; bits &= bits - 1) {
        take(ack.next + static_cast<std::uint32_t>(w * 64) +
             static_cast<std::uint32_t>(std::countr_zero(bits)));
      }
    }
  }

  // The peer has moved on: timeouts begin anew.
  void answered(Ps now, Peer peer, State& state) {
    state.since = now;
    // The entry of a timeout that was longer is too late now.
    if (std::exchange(state.tries, 0) == 0 || !state.timed) return;
    set_timer(now + timeout_of(state), peer, state);
  }
  // `taken` packets of `out` were acknowledged for the first time.
  void progress(Ps now, Peer peer, State& state, std::uint32_t taken, std::uint32_t out) {
    answered(now, peer, state);
    state.round_acked += taken;
    // A window that is not used tells nothing of what the way holds (RFC 7661).
    if (2 * out >= state.window_packets()) {
      state.used = true;
      grow(state, taken);
    }
    if (static_cast<std::int32_t>(state.base - state.round_end) > 0) end_round(now, state);
  }
  void grow(State& state, std::uint32_t taken) {
    const bool fast = state.window < state.threshold;
    const std::uint32_t more =
        fast ? taken * kFraction
             : std::max<std::uint32_t>(
                   1, static_cast<std::uint32_t>(std::uint64_t{taken} * kFraction * kFraction /
                                                 state.window));
    state.window = std::min(state.window + more, options_.window_max * kFraction);
  }
  // Once a round trip: the window follows the share of what was lost.
  void end_round(Ps now, State& state) {
    const std::uint32_t all = state.round_acked + state.round_lost;
    const std::uint32_t share =
        all == 0 ? 0 : std::min(kFraction, state.round_lost * kFraction / all);
    state.loss_share = (state.loss_share * 15 + share) / 16;
    if (state.round_lost > 0) {
      shrink(state, std::max(state.loss_share, share / 2) + 2 * share * share / kFraction);
      state.threshold = state.window;
    } else if (state.careful_rounds > 0) {
      --state.careful_rounds;
    } else if (state.window < state.threshold && state.used && !state.paused) {
      find_full(now, state);
    }
    state.used = state.paused = false;
    state.round_at = now;
    state.round_acked = state.round_lost = 0;
    state.round_end = state.next;
  }
  // A window that has doubled several times, and no more came through: it is large enough.
  static void find_full(Ps now, State& state) {
    const std::int64_t each = (now - state.round_at).count / std::max(state.round_acked, 1u);
    if (state.full_each == 0 || each * 5 < state.full_each * 4) {
      state.full_each = each;
      state.full_rounds = 0;
    } else if (++state.full_rounds == kFullRounds) {
      state.threshold = state.window;
    }
  }
  // By half of `share`, which may be more than all.
  static void shrink(State& state, std::uint32_t share) {
    const std::uint32_t kept = 2 * kFraction - std::min(share, 2 * kFraction);
    const auto left =
        static_cast<std::uint32_t>(std::uint64_t{state.window} * kept / (2 * kFraction));
    state.window = std::max(left, kWindowMin * kFraction);
  }

  // What was sent before something that has arrived is lost when it was passed by kOvertaken
  // packets, or by one sent so much later; only then by a whole round trip where packets do
  // overtake each other.
  void find_lost(State& state) {
    const Ps apart = state.overtakes ? std::max(state.trip.mean(), options_.timeout_min / 16)
                                     : std::max(state.trip.mean() / 4, options_.timeout_min / 16);
    for (std::uint32_t s = state.base; s != state.next; ++s) {
      Sent& sent = sent_of(state, s);
      if (sent.acked || sent.lost || sent.at > state.newest) continue;
      const bool passed = !state.overtakes && !sent.again &&
                          static_cast<std::int32_t>(state.last_early - s) >= kOvertaken;
      if (!passed && state.newest - sent.at < apart) continue;
      sent.lost = true;
      state.threshold = std::min(state.threshold, state.window);
      if (state.lost++ == 0 || static_cast<std::int32_t>(state.lost_from - s) > 0)
        state.lost_from = s;
      ++state.round_lost;
      state.careful_rounds = kCarefulRounds;
      state.recovered = state.next;
    }
  }
  // Returns its item.
  std::uint32_t send_again(Ps now, State& state, std::uint32_t sequence) {
    Sent& sent = sent_of(state, sequence);
    if (std::exchange(sent.lost, false)) --state.lost;
    sent.at = now;
    sent.again = true;
    return sent.item;
  }

  Ps timeout_of(const State& state) const {
    Ps base = state.trip.timeout(options_.timeout_first, options_.timeout_min);
    for (std::uint8_t i = 0; i < state.tries && base < options_.timeout_max; ++i) base = base * 2;
    return std::min(base, options_.timeout_max);
  }
  void start_timer(Ps now, Peer peer, State& state) {
    state.since = now;
    state.tries = 0;
    if (state.timed) return;
    set_timer(now + timeout_of(state), peer, state);
  }
  void set_timer(Ps at, Peer peer, State& state) {
    state.timed = true;
    state.timer_at = at;
    deadlines_.add(at, peer, kTimeout);
  }
  void owe(Ps now, Peer peer, State& state, std::uint32_t count) {
    const bool first = state.owed == 0;
    state.owed = std::min(state.owed + count, state.ack_every);
    if (!first) return;
    state.ack_at = now + options_.ack_delay;
    if (state.ack_timed) return;
    state.ack_timed = true;
    deadlines_.add(state.ack_at, peer, kAckDue);
  }

  // What is owed is told.
  void settle(State& state) {
    if (state.owed >= state.ack_every && state.ack_every < options_.ack_every_max) {
      state.ack_every = std::min(state.ack_every * 2, options_.ack_every_max);
    }
    state.owed = 0;
  }
  template <Site S, class SendAck>
  void run_ack(S& site, Ps now, Peer peer, State& state, SendAck&& send_ack) {
    state.ack_timed = state.owed > 0 && state.ack_at > now;
    if (state.ack_timed) return deadlines_.add(state.ack_at, peer, kAckDue);
    if (state.owed == 0) return;
    site.charge(Step::timer);
    send_ack(peer);
    // The sender waited for it, perhaps, as its window is smaller.
    state.ack_every = options_.ack_every;
  }
  template <Site S, class Resend>
  void run_timeout(S& site, Ps now, Peer peer, State& state, Resend&& resend) {
    state.timed = false;
    if (state.base == state.next) return;
    const Ps at = state.since + timeout_of(state);
    if (at <= now && state.out == 0) {
      site.charge(Step::timer);
      if (state.tries < UINT8_MAX) ++state.tries;
      state.since = now;
      resend(peer, kNothing, state.base);
    } else if (at <= now) {
      site.charge(Step::timer);
      // A second one in a row: more than a packet was lost, or the peer looks away.
      if (state.tries > 0) {
        shrink(state, kFraction);
        state.threshold = state.window;
      }
      // The first is a question (RFC 8985, tail loss probe): the peer may have been slow, and its
      // answer tells what is lost.
      if (state.tries > 0) ++state.round_lost;
      state.recovered = state.next;
      if (state.tries < UINT8_MAX) ++state.tries;
      state.since = now;
      std::uint32_t oldest = state.base;
      while (sent_of(state, oldest).acked) ++oldest;
      resend(peer, send_again(now, state, oldest), oldest);
    }
    set_timer(state.since + timeout_of(state), peer, state);
  }

  Options options_;
  std::vector<std::unique_ptr<State>> peers_;  // met on first use
  Deadlines deadlines_;
};

}  // namespace fairlead::proto
