// The thread that lets a rank's upcalls run while the rank computes (Port::wake) and rings its
// doorbell, and the turn that it and the rank's own threads take to use the port: one at a time.
// It sleeps until the fabric rings. While the rank polls by itself it stays away, as a bell that is
// armed costs the peers something; while the rank is inside a call it waits for the end of that.
#pragma once
#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>

#include "fairlead/base/fd.h"
#include "fairlead/base/library_thread.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/bell.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

struct WakeHooks {
  // Run first in the helper, which is the same rank from then on.
  void (*begin)(void* context) = nullptr;
  // The kernel refused something; may not return. nullptr: prints it and aborts.
  void (*failed)(void* context, const std::string& reason) = nullptr;
  void* context = nullptr;
  // Ranks are fibers of one thread: there is no helper, charge() serves.
  bool one_thread = false;
};

class WakeHelper {
 public:
  // A packet waits so long for a poll where the client names no time: longer than a busy rank takes
  // from one poll to the next, as the platforms' watchdogs (LCI paper section 4.1).
  static constexpr Ps kWatchdog = microseconds(100);

  // What it does to the port, in its turn.
  struct Target {
    void* port = nullptr;
    bool (*quiet)(void* port) = nullptr;  // no upcall may run
    int (*poll)(void* port) = nullptr;
    std::uint64_t (*changes)(void* port) = nullptr;            // Port::changes()
    bool (*listen)(void* port, fabric::Bell& bell) = nullptr;  // as fabric::Nic's
  };

  explicit WakeHelper(const WakeHooks& hooks) : hooks_(hooks) {}
  ~WakeHelper() { stop(); }
  WakeHelper(const WakeHelper&) = delete;
  WakeHelper& operator=(const WakeHelper&) = delete;

  bool one_thread() const { return hooks_.one_thread; }
  // Whose turn it is; calls nest.
  void lock();
  void unlock();
  // Several threads of the rank take turns from now on, where they can.
  bool shareable() const { return !hooks_.one_thread; }
  void share() { shared_ = true; }
  bool shared() const { return shared_; }
  // How many threads wait for the turn; whoever has it may look, and hand it over.
  const std::atomic<std::uint64_t>& wanted() const { return wanted_; }
  // Gives up the caller's turn, with all nested calls of lock(), lets a thread that waits for it go
  // first, and takes it again.
  void hand_over();
  // It is the caller's.
  bool mine() const {
    return hooks_.one_thread ? depth_ > 0
                             : owner_.load(std::memory_order_relaxed) == ::pthread_self();
  }

  // --- By the rank, not between lock() and unlock().
  // Begins to serve, with a thread where there is none yet.
  void set(const Target& target, Wake policy, Ps watchdog);
  // The descriptor of Port::doorbell(), and rings it from now on.
  int doorbell(const Target& target);
  // Whether the port must be locked: a policy other than poll_only, or a doorbell.
  bool needed() const { return policy_ != Wake::poll_only || doorbell_.valid() || shared_; }
  // No helper runs from here on. From any thread, the helper's included: an upcall may end the
  // program.
  void stop();

  // --- In the rank's turn.
  // It polled; fruitless: nothing was there, so that the doorbell rings again.
  void polled(bool fruitless);
  // Upcalls may run again.
  void allowed() {
    if (waits_) change_.notify_one();
  }
  // The helper ran upcalls, or operations ended in it, since this was last asked.
  bool take_served() { return std::exchange(served_, false); }
  // On one thread: whether charge() is to look for what came.
  bool serves_here(Ps now) const {
    return policy_ != Wake::poll_only && depth_ == 0 && now >= polled_at_ + watchdog_;
  }
  void served_here(int ran, Ps now) {
    served_ = served_ || ran > 0;
    polled_at_ = now;
  }

 private:
  using Self = pthread_t;

  void start(const Target& target);
  void run();
  // Each enters and leaves in the helper's turn.
  void serve();
  void ring_doorbell();
  void pause_until_changed();
  bool sleep_on(const fabric::Bell& bell);
  void calm();
  void take_turn();
  bool watch();
  // Without it.
  void nap(Ps length) const;
  void nap_while_it_polls() const;
  void take_over(Self self) {
    owner_.store(self, std::memory_order_relaxed);
    depth_ = 1;
    turns_.store(turns_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  bool rings() const { return doorbell_.valid() && !rung_; }
  bool works() const { return policy_ != Wake::poll_only || rings(); }
  void nudge();
  void fail(const char* what, int error) const;

  WakeHooks hooks_;
  Target target_;
  std::mutex mutex_;
  std::condition_variable change_;       // of what pause_until_changed() waits for
  std::atomic<Self> owner_{};            // of the mutex; compared with oneself only
  std::atomic<std::uint64_t> polls_{0};  // of the rank
  std::atomic<std::uint64_t> turns_{0};  // begun, by whomever
  std::atomic<std::uint64_t> wanted_{0};
  bool shared_ = false;
  std::atomic<bool> stop_{false};
  // In turn.
  std::uint32_t depth_ = 0;
  Wake policy_ = Wake::poll_only;
  Ps watchdog_{};
  Ps polled_at_{};
  std::uint64_t polls_seen_ = 0;
  std::uint64_t settings_ = 0;  // calls of set()
  bool waits_ = false;          // in pause_until_changed()
  bool watches_ = false;        // in watch()
  bool served_ = false;
  bool rung_ = false;    // the doorbell, and no fruitless poll came since
  bool sleeps_ = false;  // on bell_
  fabric::Bell bell_;
  Fd nudge_;
  Fd doorbell_;
  LibraryThread thread_;
};

}  // namespace fairlead::lci
