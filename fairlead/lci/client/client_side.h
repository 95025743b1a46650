// What every Port does for its client, whatever carries the packets: the table of channels, upcalls
// and their rules, deferred tasks and timers, hold and allow. A port owns one and stays in charge
// of its fabric.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/base/units.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

class ClientSide {
 public:
  static constexpr std::size_t kTasksMax = 1024;     // deferred, and timers, each
  static constexpr std::size_t kOwnTasks = 1;        // deferred by the port itself, beyond those
  static constexpr std::size_t kUnboundMax = 16384;  // packets that wait for a bind()
  static constexpr std::size_t kChannels = 256;      // clients' and lci's own

  ClientSide() { pages_.fill(&kUnbound); }
  ~ClientSide() {
    for (const Page* page : pages_) {
      if (page != &kUnbound) delete page;
    }
  }
  ClientSide(const ClientSide&) = delete;
  ClientSide& operator=(const ClientSide&) = delete;

  // --- Port::bind, defer, after, hold, allow.
  void bind(Chan chan, Upcall upcall, Returned returned);
  void defer(Task task);
  void after(Ps due, Task task);
  void hold() { ++held_; }
  void allow();
  std::uint32_t held() const { return held_; }

  // As defer(), the port's own: at most kOwnTasks outstanding.
  void defer_own(Task task) { deferred_.push_back(task); }

  // No upcall may run now: the client holds them off, or one is running.
  bool quiet() const { return held_ > 0 || in_upcall_; }
  bool in_upcall() const { return in_upcall_; }
  // Small packets may be had now, as none waits here that came before them.
  bool takes_now() const { return !quiet() && !newly_bound_; }

  // Runs the channel's upcall; not while quiet(). Keep::yes: the packet is the client's until
  // release(), or waits here for its channel to be bound, or behind packets that did (`packet` and
  // what `arrival` points to must stay valid then). arrival.chan is known().
  Keep deliver(Packet* packet, const Arrival& arrival) {
    const Channel& channel = channel_of(arrival.chan);
    // None overtakes those that wait for a channel which has been bound meanwhile, on whatever
    // channel it is: a sender's packets keep their order.
    if (channel.upcall.run == nullptr || newly_bound_) [[unlikely]]
      return wait_for_bind(packet, arrival);
    in_upcall_ = true;
    upcall_lane_ = arrival.lane;
    const Keep keep = channel.upcall.run(channel.upcall.context, packet, arrival);
    in_upcall_ = false;
    return keep;
  }
  // Does so by the channel's short way. False: it has none or did not take the packet.
  bool deliver_small(Chan chan, Lane lane, Rank source, WordVector words, const std::byte* data,
                     std::size_t size) {
    const Upcall& upcall = channel_of(chan).upcall;
    if (upcall.run_small == nullptr || newly_bound_) return false;
    in_upcall_ = true;
    upcall_lane_ = lane;
    const bool taken = upcall.run_small(upcall.context, source, words, data, size);
    in_upcall_ = false;
    return taken;
  }
  static bool known(Chan chan) { return chan < kChannels; }
  // Hands an undeliverable packet back; does nothing where the channel has no `returned`.
  void give_back(const Arrival& arrival, Post why);

  // Runs what is due: packets whose channel was bound meanwhile (`release` gets those that were not
  // kept), deferred tasks, timers. Returns how many ran. Not while quiet().
  int run_due(Ps now, void (*release)(void* context, Packet* packet), void* context);
  // next_due() is not kNever.
  bool has_due() const { return newly_bound_ || !deferred_.empty() || !timers_.empty(); }
  // When run_due() next has something to do: kNever, or a time; now or earlier means at once.
  Ps next_due() const;

  // Debug builds: a send from inside an upcall goes to a higher lane only.
  void check_send(Lane lane) const {
    FAIRLEAD_DCHECK(!in_upcall_ || lane > upcall_lane_, "an upcall on lane {} sends on lane {}",
                    static_cast<int>(upcall_lane_), static_cast<int>(lane));
    (void)lane;
  }
  // Debug builds: not from inside an upcall.
  void check_may_block() const {
    FAIRLEAD_DCHECK(!in_upcall_, "poll, wait or a blocking send inside an upcall");
  }

 private:
  struct Channel {
    Upcall upcall;
    Returned returned;
  };
  struct Timer {
    Ps due;
    std::uint64_t order;
    Task task;
  };
  struct Waiting {
    Packet* packet;
    Arrival arrival;
  };
  // Channels lie in pages made by the first bind() of one: a port binds a few of 256.
  static constexpr std::size_t kPage = 8;
  using Page = std::array<Channel, kPage>;
  static const Page kUnbound;

  const Channel& channel_of(Chan chan) const { return (*pages_[chan / kPage])[chan % kPage]; }
  static bool later(const Timer& a, const Timer& b);
  Keep wait_for_bind(Packet* packet, const Arrival& arrival);
  int run_bound(void (*release)(void* context, Packet* packet), void* context);

  std::uint32_t held_ = 0;
  bool in_upcall_ = false;
  bool newly_bound_ = false;
  Lane upcall_lane_ = Lane::request;
  std::vector<Task> deferred_;
  std::vector<Timer> timers_;  // a heap, earliest first
  // Its own, or kUnbound: one pointer each, as an idle modelled rank is counted in bytes.
  std::array<const Page*, kChannels / kPage> pages_;
  std::vector<Waiting> unbound_;
  std::uint64_t timer_order_ = 0;
};

}  // namespace fairlead::lci
