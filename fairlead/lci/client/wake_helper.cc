#include "fairlead/lci/client/wake_helper.h"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "fairlead/base/check.h"
#include "fairlead/base/wait_ladder.h"

namespace fairlead::lci {
namespace {

// How long the helper stays away from a rank that polls by itself, before it looks again whether
// that has ended: longer and longer, so that a rank which only communicates does not feel it. The
// first naps are short, as a rank that polls now and then and sleeps in a call of its own between,
// such as poll(2), is to be told of what comes meanwhile.
constexpr Ps kNapFirst = microseconds(20);
constexpr Ps kNapMax = microseconds(800);
// Before it asks again for what another had no room for.
constexpr Ps kRoomNap = microseconds(100);
// Polls in a row, before the rank gets its turn.
constexpr int kRounds = 16;
// Who wants its turn spins so often before it sleeps: a poll is short.
constexpr int kSpins = 100;
// How often who hands its turn over gives its processor away before it takes it to be unwanted.
constexpr int kYields = 1000;

// Naps end when they should: by default Linux adds up to 50 us to each.
void ask_for_exact_naps() { (void)::prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL); }

// The helper runs for microseconds at a time: with a short slice Linux (6.12 and later) lets it run
// at once where a rank computes on the same processor. Elsewhere it is refused or does nothing.
void ask_for_short_slices() {
  struct {
    std::uint32_t size;
    std::uint32_t policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime;
    std::uint64_t deadline;
    std::uint64_t period;
  } wanted{};
  constexpr std::uint64_t kSliceNs = 100'000;
  constexpr std::uint64_t kKeepPolicy = 0x08;  // SCHED_FLAG_KEEP_POLICY
  wanted.size = sizeof wanted;
  wanted.flags = kKeepPolicy;
  wanted.nice = ::getpriority(PRIO_PROCESS, 0);
  wanted.runtime = kSliceNs;
  (void)::syscall(SYS_sched_setattr, 0, &wanted, 0);
}

}  // namespace

void WakeHelper::lock() {
  if (hooks_.one_thread) {
    ++depth_;
    return;
  }
  const Self self = ::pthread_self();
  if (owner_.load(std::memory_order_relaxed) == self) {
    ++depth_;
    return;
  }
  if (!mutex_.try_lock()) {
    wanted_.fetch_add(1, std::memory_order_relaxed);
    for (int spin = 0; !mutex_.try_lock(); ++spin) {
      if (spin == kSpins) {
        mutex_.lock();
        break;
      }
      cpu_pause();
    }
    wanted_.fetch_sub(1, std::memory_order_relaxed);
  }
  take_over(self);
}

void WakeHelper::hand_over() {
  const std::uint32_t depth = depth_;
  const std::uint64_t mine = turns_.load(std::memory_order_relaxed);
  owner_.store(Self{}, std::memory_order_relaxed);
  mutex_.unlock();
  for (int i = 0; i < kYields && turns_.load(std::memory_order_relaxed) == mine &&
                  wanted_.load(std::memory_order_relaxed) != 0;
       ++i) {
    sched_yield();
  }
  lock();
  depth_ = depth;
}

void WakeHelper::unlock() {
  if (--depth_ > 0 || hooks_.one_thread) return;
  owner_.store(Self{}, std::memory_order_relaxed);
  mutex_.unlock();
}

void WakeHelper::set(const Target& target, Wake policy, Ps watchdog) {
  lock();
  FAIRLEAD_CHECK(depth_ == 1, "wake() in an upcall, or between enter() and leave()");
  policy_ = policy;
  watchdog_ = policy != Wake::watchdog ? Ps{0} : watchdog > Ps{0} ? watchdog : kWatchdog;
  ++settings_;
  if (policy != Wake::poll_only) start(target);
  if (waits_) change_.notify_one();
  // What it sleeps on may have been listened to under an earlier policy, and the rank's own waits
  // have used the bell since.
  if (watches_ || (sleeps_ && policy != Wake::poll_only)) nudge();
  unlock();
}

int WakeHelper::doorbell(const Target& target) {
  if (hooks_.one_thread) return -1;
  lock();
  if (!doorbell_.valid()) {
    doorbell_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!doorbell_.valid()) fail("a descriptor for its doorbell", errno);
    start(target);
    if (waits_) change_.notify_one();
  }
  unlock();
  return doorbell_.get();
}

void WakeHelper::fail(const char* what, int error) const {
  const std::string reason = fmt::format(
      "a rank that is served while it computes needs {}, and got none: {}; try fewer ranks on this "
      "machine, or raise ulimit -u and -n",
      what, std::strerror(error));
  if (hooks_.failed != nullptr) hooks_.failed(hooks_.context, reason);
  FAIRLEAD_CHECK(false, "{}", reason);
}

void WakeHelper::start(const Target& target) {
  if (hooks_.one_thread || thread_.started() || stop_.load()) return;
  target_ = target;
  nudge_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!nudge_.valid()) fail("a descriptor", errno);
  const int error = thread_.start("fairlead-wake", [this] { run(); });
  if (error != 0) fail("a thread", error);
}

void WakeHelper::stop() {
  stop_.store(true);
  if (!thread_.started()) return;
  // In a child that the rank forked there is no such thread; in the helper itself nobody waits for
  // it, and it keeps its turn until the process ends.
  if (!thread_.runs() || thread_.is_current()) return thread_.join();
  const bool was_mine = mine();
  const std::uint32_t depth = was_mine ? depth_ : 0;
  if (!was_mine) mutex_.lock();
  nudge();
  change_.notify_one();
  if (was_mine) owner_.store(Self{}, std::memory_order_relaxed);
  mutex_.unlock();
  thread_.join();
  if (!was_mine) return;
  mutex_.lock();
  take_over(::pthread_self());
  depth_ = depth;
}

void WakeHelper::nudge() {
  const std::uint64_t one = 1;
  (void)!::write(nudge_.get(), &one, sizeof one);
  if (sleeps_) bell_.ring();
}

void WakeHelper::polled(bool fruitless) {
  if (hooks_.one_thread) return;
  const std::uint64_t polls = polls_.load(std::memory_order_relaxed) + 1;
  polls_.store(polls, std::memory_order_relaxed);
  if (!fruitless || !rung_) return;
  std::uint64_t rings = 0;
  (void)!::read(doorbell_.get(), &rings, sizeof rings);
  rung_ = false;
  polls_seen_ = polls;  // it is about to sleep, and not busy
  if (waits_) change_.notify_one();
}

// --- The helper

void WakeHelper::pause_until_changed() {
  owner_.store(Self{}, std::memory_order_relaxed);
  std::unique_lock hold(mutex_, std::adopt_lock);
  waits_ = true;
  change_.wait(hold);
  waits_ = false;
  (void)hold.release();
  take_over(::pthread_self());
}

void WakeHelper::nap(Ps length) const {
  const timespec time{0, static_cast<long>(length.count / 1000)};
  (void)::nanosleep(&time, nullptr);
}

// Returns once the rank has not polled for a while: it computes, or is inside a long call.
void WakeHelper::nap_while_it_polls() const {
  for (Ps length = kNapFirst; !stop_.load(); length = std::min(length + length, kNapMax)) {
    const std::uint64_t before = polls_.load(std::memory_order_relaxed);
    nap(length);
    if (polls_.load(std::memory_order_relaxed) == before) break;
  }
}

void WakeHelper::calm() {
  unlock();
  nap_while_it_polls();
  mutex_.lock();
  take_over(::pthread_self());
  polls_seen_ = polls_.load(std::memory_order_relaxed);
}

// False: nothing rang; what did at the very end of the time rings again.
bool WakeHelper::sleep_on(const fabric::Bell& bell) {
  bell_ = bell;
  sleeps_ = true;
  unlock();
  const std::int64_t begin = monotonic_ns();
  bell.sleep(nudge_.get());
  const bool rang = nanoseconds(monotonic_ns() - begin) < fabric::Bell::kLongest;
  take_turn();
  sleeps_ = false;
  std::uint64_t nudges = 0;
  (void)!::read(nudge_.get(), &nudges, sizeof nudges);
  return rang;
}

// At once where the rank computes; where it is inside a call, that serves what came.
void WakeHelper::take_turn() {
  if (mutex_.try_lock()) return take_over(::pthread_self());
  nap_while_it_polls();
  mutex_.lock();
  take_over(::pthread_self());
}

// False: the rank polled meanwhile, or asked for something else.
bool WakeHelper::watch() {
  const std::uint64_t polls = polls_.load(std::memory_order_relaxed);
  const std::uint64_t settings = settings_;
  const std::int64_t ns = watchdog_.count / 1000;
  const timespec time{ns / 1'000'000'000, static_cast<long>(ns % 1'000'000'000)};
  // What was left of an earlier nudge must not end it.
  std::uint64_t nudges = 0;
  (void)!::read(nudge_.get(), &nudges, sizeof nudges);
  watches_ = true;
  unlock();
  pollfd nudged{nudge_.get(), POLLIN, 0};
  if (!stop_.load()) (void)::ppoll(&nudged, 1, &time, nullptr);
  take_turn();
  watches_ = false;
  return settings == settings_ && polls == polls_.load(std::memory_order_relaxed);
}

void WakeHelper::serve() {
  for (int round = 0; round < kRounds && !stop_.load(); ++round) {
    if (target_.quiet(target_.port)) return;
    const std::uint64_t before = target_.changes(target_.port);
    const int ran = target_.poll(target_.port);
    served_ = served_ || ran > 0 || target_.changes(target_.port) != before;
    if (ran == 0) return;
  }
}

void WakeHelper::ring_doorbell() {
  rung_ = true;
  const std::uint64_t one = 1;
  (void)!::write(doorbell_.get(), &one, sizeof one);
}

void WakeHelper::run() {
  ask_for_short_slices();
  ask_for_exact_naps();
  if (hooks_.begin != nullptr) hooks_.begin(hooks_.context);
  mutex_.lock();
  take_over(::pthread_self());
  while (!stop_.load()) {
    if (!works() || target_.quiet(target_.port)) {
      pause_until_changed();
      continue;
    }
    if (policy_ == Wake::immediate) serve();
    if (polls_seen_ != polls_.load(std::memory_order_relaxed)) {
      calm();
      continue;
    }
    fabric::Bell bell;
    bool came = true;
    if (target_.listen(target_.port, bell)) {
      came = sleep_on(bell);
    } else if (policy_ == Wake::immediate) {
      // It could not be taken yet: what it needs is another's to give.
      unlock();
      nap(kRoomNap);
      take_turn();
    }
    if (rings()) ring_doorbell();
    if (policy_ == Wake::watchdog && came && watch()) serve();
  }
  unlock();
}

}  // namespace fairlead::lci
