// What a rank's client computes (Port::charge) on a host that its NI may interrupt: packets and
// timers do where upcalls may run, timers of the host's own protocol always.
#pragma once
#include <algorithm>
#include <cstdint>

#include "fairlead/base/counters.h"
#include "fairlead/base/units.h"
#include "fairlead/lci/client/client_side.h"
#include "fairlead/lci/ni/host_ni.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

// What interrupts a rank's work; Port::wake, enter and leave say it.
class Interrupts {
 public:
  void wake(Wake policy, Ps watchdog, Ps default_watchdog) {
    wakes_ = policy != Wake::poll_only;
    watchdog_ = Ps{0};
    if (policy == Wake::watchdog) watchdog_ = watchdog > Ps{0} ? watchdog : default_watchdog;
  }
  void enter() { ++entered_; }
  void leave() { --entered_; }
  bool allowed() const { return wakes_ && entered_ == 0; }
  Ps watchdog() const { return watchdog_; }

 private:
  bool wakes_ = false;
  std::uint32_t entered_ = 0;
  Ps watchdog_{};
};

// Made for one call: a machine has a port for each of very many ranks. HostFlowOf: the port's
// HostFlow.
template <HostNi Ni, class HostFlowOf>
class HostWork {
 public:
  HostWork(Ni& ni, HostFlowOf& flow, ClientSide& client, const Interrupts& interrupts,
           PortCounters& counters)
      : ni_(ni), flow_(flow), client_(client), interrupts_(interrupts), counters_(counters) {}

  // serve(): an interrupt runs upcalls. set_aside(): it may not, but the protocol goes on. `owed`:
  // packets were set aside, and no packet that comes will tell of them any more.
  template <class Serve, class SetAside>
  void charge(const Work& work, bool owed, Serve&& serve, SetAside&& set_aside) {
    const typename Ni::Work host{work.ops,          work.bytes,       work.working_set_bytes,
                                 work.copied_bytes, work.page_faults, work.protections};
    if (!interrupts_.allowed() || client_.quiet()) return work_quietly(host, set_aside);
    if (owed) interrupt(serve);
    for (Ps left = ni_.time_of(host);;) {
      if (runs_on(left, interrupts_.watchdog())) continue;
      if (left <= Ps{0}) return;
      interrupt(serve);
    }
  }

 private:
  static constexpr Ps kLongWatchdog = seconds(1'000'000);  // longer than any job

  template <class Handler>
  void interrupt(Handler& handler) {
    ++counters_.interrupts;
    ni_.interrupt();
    handler();
  }
  // Computes until something interrupts it, or all that is left is done. True: it was a timer that
  // had nothing to do, which costs nothing.
  bool runs_on(Ps& left, Ps watchdog) {
    const Ps before = before_timer(left);
    const Ps done = ni_.compute(before, watchdog);
    left -= done;
    return left > Ps{0} && done == before && !flow_.is_due();
  }
  // As much of `work` as is done when a timer of the host's protocol becomes due.
  Ps before_timer(Ps work) {
    if constexpr (!HostFlowOf::kRuns) return work;
    const Ps due = flow_.next_due();
    return due == kNever ? work : std::clamp(due - ni_.now(), Ps{0}, work);
  }
  // No upcall may run: a timer interrupts it, a packet does not. An upcall is not interrupted.
  template <class SetAside>
  void work_quietly(const typename Ni::Work& work, SetAside&& set_aside) {
    if constexpr (!HostFlowOf::kRuns) return ni_.work(work);
    Ps left = ni_.time_of(work);
    if (client_.in_upcall() || before_timer(left) == left) return ni_.work(work);
    for (;;) {
      if (runs_on(left, kLongWatchdog)) continue;
      if (left <= Ps{0}) return;
      interrupt(set_aside);
    }
  }

  Ni& ni_;
  HostFlowOf& flow_;
  ClientSide& client_;
  const Interrupts& interrupts_;
  PortCounters& counters_;
};

}  // namespace fairlead::lci
