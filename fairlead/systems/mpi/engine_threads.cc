// Waiting where several threads call (MPI_THREAD_MULTIPLE). One of those that wait polls for all:
// it has the lock, and gives it up as soon as another thread wants to call. The others have left
// the lock; they look whether they were called, with the processor given away between, then sleep.
// Whoever gives the lock up calls those whose request is done, and those that wait for any change:
// but not where the next thread is there already, which does it when it goes or begins to poll.
// When the one that polls has left, one of those that are awake follows it by itself; where all
// sleep, one is called. Port::share() would not do: a thread of its that waits takes the port's
// turn to look at its own condition, where here who polls finds it done for it, and a port that is
// shared has none of the short ways that a message takes here while one thread calls.
#include <sched.h>

#include <algorithm>

#include "fairlead/base/wait_ladder.h"
#include "fairlead/lci/until.h"
#include "fairlead/systems/mpi/engine.h"

namespace fairlead::mpi {
namespace {

// In the modelled world, where threads take real time and the port waits in virtual time: how long
// one waits before the next may call.
constexpr Ps kOthersTurn = microseconds(20);
// Looks of who polls while others wait before it gives its processor away: some microseconds. What
// it waits for is often an answer that is on its way, and another thread on this processor would
// have to give it back for it: 2 us on a virtual machine, ten times what the answer takes.
constexpr int kOwnLooks = 100;
// Further looks, with the processor given away between; then it waits as one thread does.
constexpr int kSharedLooks = 2000;
// Looks of those that do not poll, with the processor given away between, before they sleep.
constexpr int kYields = 2000;
// The longest sleep: what a word or a deadline ends is looked for so often.
constexpr std::int64_t kNapNs = 1'000'000;

bool has_condition(const lci::Until& until) {
  return until.word != nullptr || until.word4 != nullptr || until.counter != nullptr;
}

bool holds(const lci::Until& until) { return lci::Ending(until).holds(false, false); }

}  // namespace

void Engine::enter_port() {
  port_.enter();
  in_port_ = true;
}

void Engine::leave_port() {
  in_port_ = false;
  port_.leave();
}

void Engine::call_waiters(bool changed) {
  uncalled_ = false;
  bool one_is_awake = polls_.load();
  for (ThreadWaiter* each = waiters_.front(); each != nullptr;
       each = IntrusiveList<ThreadWaiter, &ThreadWaiter::link>::next(each)) {
    if (each->request == nullptr ? changed : each->request->done()) each->nap.call();
    one_is_awake |= !each->nap.asleep();
  }
  if (!one_is_awake) waiters_.front()->nap.call();
}

void Engine::tell_waiters(bool changed) {
  if (waiters_.empty()) return;
  if (lock_->contended()) {
    uncalled_ |= changed;
  } else {
    call_waiters(true);
  }
}

Post Engine::wait_among_threads(lci::Until until, const Request* request) {
  if (polls_.load()) return wait_for_others(until, request);
  polls_.store(true);
  const Post answer = poll_for_all(until);
  polls_.store(false);
  if (!lock_->contended() || answer == Post::peer_down) return answer;
  // Those that came meanwhile go first.
  return request != nullptr && request->done() ? answer : wait_for_others(until, request);
}

// Until something has changed or another thread wants to call.
Post Engine::poll_for_all(lci::Until until) {
  // What this thread called before it came to wait may have done others' requests, too.
  if (!waiters_.empty()) call_waiters(uncalled_);
  const FairLock::Queue queue = lock_->queue();
  lci::Until others;
  others.word = queue.word;
  others.cmp = lci::Cmp::ne;
  others.value = queue.alone;
  for (ThreadWaiter* each = waiters_.front(); each != nullptr;
       each = IntrusiveList<ThreadWaiter, &ThreadWaiter::link>::next(each)) {
    if (!has_condition(each->until)) continue;
    each->until.also = others.also;
    others.also = &each->until;
  }
  until.also = &others;
  if (!has_condition(until)) {
    until.word = others.word;
    until.cmp = others.cmp;
    until.value = others.value;
    until.also = others.also;
  }
  const std::uint64_t changes = port_.changes();
  if (!free_work_) {
    until.deadline = std::min(until.deadline, port_.now() + kOthersTurn);
  } else if (!waiters_.empty()) {
    for (int i = 0; i < kOwnLooks + kSharedLooks; ++i) {
      device_->poll();
      const bool moved = has_work() && progress();
      if (moved || port_.changes() != changes || holds(until)) {
        tell_waiters(moved || port_.changes() != changes);
        return Post::done;
      }
      if (i < kOwnLooks) {
        cpu_pause();
      } else {
        sched_yield();
      }
    }
  }
  const Post answer = device_->wait(until);
  tell_waiters(port_.changes() != changes);
  return answer;
}

// Until this thread is called, or finds that nobody polls any more.
Post Engine::wait_for_others(const lci::Until& until, const Request* request) {
  lci::Until own = until;
  own.also = nullptr;
  ThreadWaiter me{{}, request, own, {}};
  waiters_.push_back(&me);
  const bool ends = until.deadline != kNever;
  const std::int64_t end_ns =
      ends ? monotonic_ns() + (until.deadline - port_.now()).count / 1000 : 0;
  if (in_port_) leave_port();
  lock_->unlock();
  bool locked = false;
  bool late = false;
  for (int looks = 0; !me.nap.called() && !locked && !late && !holds(own); ++looks) {
    if (looks < kYields) {
      sched_yield();
    } else {
      me.nap.sleep(kNapNs, [&] { return polls_.load(); });
    }
    if (!polls_.load()) locked = lock_->try_lock();
    late = ends && monotonic_ns() >= end_ns;
  }
  if (!locked) lock_->lock();
  if (port_.wakes()) enter_port();
  waiters_.remove(&me);
  return late && !me.nap.called() ? Post::again_credit : Post::done;
}

}  // namespace fairlead::mpi
