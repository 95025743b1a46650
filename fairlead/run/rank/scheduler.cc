#include "fairlead/run/rank/threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/run/rank/blocked_threads.h"
#include "fairlead/run/rank/thread.h"
#include "fairlead/sim/fiber_guard.h"

namespace fairlead::run {
namespace {

// So many turns of threads that wake each other, and the port is polled.
constexpr std::uint32_t kTurnsMax = 256;
// For each rank, however many share a process.
constexpr std::uint32_t kGuardsMin = 16;

std::uint32_t guards_of(Rank ranks) {
  return std::max(sim::FiberPool::kMaxGuarded / std::max(ranks, Rank{1}), kGuardsMin);
}

bool any(const lci::Until& until) { return until.any_packet || until.any_change; }

// No upcall runs in between.
class Quiet {
 public:
  explicit Quiet(lci::Port& port) : port_(port) { port_.hold(); }
  ~Quiet() { port_.allow(); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  lci::Port& port_;
};

}  // namespace

struct Threads::Parts {
  std::string noun;
  std::unique_ptr<sim::FiberPool> pool;
  sim::FiberGuard guard;
  std::uint32_t threads_max = 0;
  std::uint32_t spawned = 0;
  std::vector<std::unique_ptr<Thread>> objects;
  std::vector<Thread*> spare;  // of those
  Thread own;
  ThreadQueue ready;
  BlockedThreads blocked;
  Counter readied;           // make_ready() counts, which ends a wait of the port
  Thread* handed = nullptr;  // a thread left its stack for this one
  std::uint32_t turns = 0;   // since the port was polled
  std::uint32_t yields = 0;

  void release(Thread& thread) { spare.push_back(&thread); }
};

Result<std::unique_ptr<Threads>> Threads::create(lci::Port& port, const ThreadOptions& options) {
  auto parts = std::make_unique<Parts>();
  parts->noun = fmt::format("rank {}: thread", port.self());
  parts->threads_max = options.threads_max;
  sim::FiberPoolOptions stacks;
  stacks.stack_bytes = options.stack_bytes;
  stacks.max_fibers = options.threads_max;
  stacks.guard = sim::StackGuard::always;
  stacks.guards_max = guards_of(port.size());
  stacks.noun = parts->noun.c_str();
  stacks.advice = "give its threads larger ones (ThreadOptions::stack_bytes)";
  Result<std::unique_ptr<sim::FiberPool>> pool = sim::FiberPool::create(stacks);
  if (!pool.ok()) return pool.error();
  parts->pool = std::move(pool.value());
  FAIRLEAD_CHECK(parts->guard.watch(*parts->pool));
  parts->own.name = "its own thread";
  parts->own.state = Thread::State::running;
  return std::unique_ptr<Threads>(new Threads(port, std::move(parts)));
}

Threads::Threads(lci::Port& port, std::unique_ptr<Parts> parts)
    : port_(port), parts_(std::move(parts)), running_(&parts_->own) {}

Threads::~Threads() { parts_->guard.unwatch(*parts_->pool); }

Result<Thread*> Threads::spawn(const char* name, Entry entry, void* argument) {
  const Quiet quiet(port_);
  const std::size_t used = parts_->objects.size() - parts_->spare.size();
  if (used == parts_->threads_max) {
    return Error{fmt::format(
        "rank {}: no thread '{}': {} live or were not joined; raise ThreadOptions::threads_max",
        port_.self(), name, used)};
  }
  Result<sim::Fiber*> fiber = parts_->pool->spawn(parts_->spawned, &Threads::run_entry, nullptr);
  if (!fiber.ok()) return fiber.error();
  if (parts_->spare.empty()) {
    parts_->objects.push_back(std::make_unique<Thread>());
    parts_->spare.push_back(parts_->objects.back().get());
  }
  Thread* const thread = parts_->spare.back();
  parts_->spare.pop_back();
  *thread = Thread{};
  thread->fiber = fiber.value();
  thread->fiber->user = thread;
  thread->fiber->name = name;
  thread->name = name;
  thread->entry = entry;
  thread->argument = argument;
  ++parts_->spawned;
  ++live_;
  parts_->ready.push(*thread);
  parts_->readied.ok.fetch_add(1, std::memory_order_release);
  return thread;
}

void Threads::run_entry(sim::Fiber& fiber, void*) {
  const Thread& thread = *static_cast<const Thread*>(fiber.user);
  thread.entry(thread.argument);
}

void Threads::ended(Thread& thread) {
  parts_->pool->reclaim(*thread.fiber);
  thread.fiber = nullptr;
  thread.state = Thread::State::ended;
  --live_;
  if (thread.detached) return parts_->release(thread);
  // It may run already, as a peer was lost.
  Thread* const joiner = thread.joiner;
  if (joiner != nullptr && joiner->state == Thread::State::blocked) make_ready(*joiner, Post::done);
}

Post Threads::join(Thread* thread) {
  FAIRLEAD_CHECK(thread != running_ && thread->joiner == nullptr && !thread->detached,
                 "thread '{}' joins '{}', which is itself, detached, or another's to join",
                 running_->name, thread->name);
  if (thread->state != Thread::State::ended) {
    thread->joiner = running_;
    (void)block(nullptr, kNever, "the end of a thread", true);
    thread->joiner = nullptr;
    if (thread->state != Thread::State::ended) return Post::peer_down;
  }
  const Quiet quiet(port_);
  parts_->release(*thread);
  return Post::done;
}

void Threads::detach(Thread* thread) {
  FAIRLEAD_CHECK(thread->joiner == nullptr && !thread->detached, "thread '{}'", thread->name);
  const Quiet quiet(port_);
  thread->detached = true;
  if (thread->state == Thread::State::ended) parts_->release(*thread);
}

// --- Who runs

void Threads::make_ready(Thread& thread, Post answer) {
  if (thread.queue != nullptr) std::exchange(thread.queue, nullptr)->remove(thread);
  parts_->blocked.remove(thread);
  thread.state = Thread::State::ready;
  thread.answer = answer;
  parts_->ready.push(thread);
  parts_->readied.ok.fetch_add(1, std::memory_order_release);
}

Post Threads::block(ThreadQueue* queue, Ps deadline, const char* what, bool hears_losses) {
  Thread& me = *running_;
  const std::uint32_t held = port_.held();
  port_.hold();
  me.state = Thread::State::blocked;
  me.deadline = deadline;
  me.what = what;
  me.hears_losses = hears_losses;
  me.queue = queue;
  if (queue != nullptr) queue->push(me);
  if (me.until != nullptr && any(*me.until)) me.changes = port_.changes();
  parts_->blocked.add(me);
  port_.allow();
  switch_from(me, held);
  return me.answer;
}

void Threads::switch_from(Thread& me, std::uint32_t held) {
  for (std::uint32_t i = 0; i < held; ++i) port_.allow();
  dispatch(me);
  for (std::uint32_t i = 0; i < held; ++i) port_.hold();
}

// The rank's own stack resumes the fibers; a fiber that leaves says which comes next.
void Threads::dispatch(Thread& me) {
  for (;;) {
    Thread* const handed = std::exchange(parts_->handed, nullptr);
    Thread* const next = handed != nullptr ? handed : pick();
    if (next == &me) return;
    if (next == nullptr) {
      idle(me);
    } else if (me.fiber != nullptr) {
      parts_->handed = next;
      return me.fiber->suspend();
    } else {
      next->fiber->resume();
      // Whoever left it last may have gone on.
      Thread& left = *running_;
      if (parts_->handed != nullptr || left.fiber == nullptr || !left.fiber->done()) continue;
      const Quiet quiet(port_);
      running_ = &me;
      ended(left);
    }
  }
}

// The next that can run, which runs from now on; nullptr: none can.
Thread* Threads::pick() {
  if (parts_->turns >= kTurnsMax) poll_port();
  const Quiet quiet(port_);
  Thread* const next = parts_->ready.pop();
  if (next == nullptr) return nullptr;
  next->state = Thread::State::running;
  if (next == running_) return next;
  ++switches_;
  ++parts_->turns;
  running_ = next;
  return next;
}

void Threads::poll_port() {
  parts_->turns = 0;
  parts_->yields = 0;
  in_port_.store(true, std::memory_order_relaxed);
  port_.poll();
  in_port_.store(false, std::memory_order_relaxed);
  const Quiet quiet(port_);
  look_around();
}

void Threads::yield() {
  Thread& me = *running_;
  const std::uint32_t held = port_.held();
  port_.hold();
  look_around();
  const bool alone = parts_->ready.empty();
  for (std::uint32_t i = 0; i <= held; ++i) port_.allow();
  if (alone || ++parts_->yields > live_) poll_port();
  {
    const Quiet quiet(port_);
    me.state = Thread::State::ready;
    parts_->ready.push(me);
  }
  dispatch(me);
  for (std::uint32_t i = 0; i < held; ++i) port_.hold();
}

// --- Waiting

// Readies those whose condition holds, or whose time has come. True: there were some.
bool Threads::look_around() {
  bool found = false;
  Ps now = kNever;
  for (Thread* thread = parts_->blocked.first_watched(); thread != nullptr;) {
    Thread& each = *std::exchange(thread, thread->blocked_next);
    const bool holds = each.ending != nullptr && each.ending->holds(false, false);
    const bool changed =
        each.until != nullptr && any(*each.until) && port_.changes() != each.changes;
    if (holds || changed) {
      make_ready(each, each.ending->answer());
      found = true;
    } else if (each.deadline != kNever) {
      if (now == kNever) now = port_.now();
      if (now < each.deadline) continue;
      make_ready(each, Post::again_credit);
      found = true;
    }
  }
  return found;
}

void Threads::lost() {
  for (Thread* first : {parts_->blocked.first_watched(), parts_->blocked.first_other()}) {
    for (Thread* thread = first; thread != nullptr;) {
      Thread& each = *std::exchange(thread, thread->blocked_next);
      if (each.hears_losses) make_ready(each, Post::peer_down);
    }
  }
}

// Every thread is blocked; this one, the last, waits on its own stack for what any of them waits.
void Threads::idle(Thread& me) {
  lci::Until until;
  lci::Until signal;
  {
    const Quiet quiet(port_);
    if (!parts_->ready.empty() || look_around()) return;
    if (me.until != nullptr) until = *me.until;
    until.what = parts_->blocked.text(me);
    until.also = &signal;
    signal.counter = &parts_->readied;
    signal.at = parts_->readied.ok.load(std::memory_order_acquire) + 1;
    for (Thread* each = parts_->blocked.first_watched(); each != nullptr;
         each = each->blocked_next) {
      until.deadline = std::min(until.deadline, each->deadline);
      if (each->until == nullptr) continue;
      until.any_packet |= each->until->any_packet;
      until.any_change |= each->until->any_change;
      if (each != &me) each->until->also = std::exchange(signal.also, each->until);
    }
  }
  const Post answer = wait_port(until);
  parts_->turns = 0;
  parts_->yields = 0;
  const Quiet quiet(port_);
  if (answer == Post::peer_down) return lost();
  look_around();
  // Whatever ended it: a port may tell one wait alone that there may be room again, or that
  // something was stored into a segment.
  for (Thread* thread = parts_->blocked.first_watched(); thread != nullptr;) {
    Thread& each = *std::exchange(thread, thread->blocked_next);
    if (each.until == nullptr) continue;
    if (each.until->any_change || each.until->segment != lci::kNoSegment) {
      make_ready(each, Post::done);
    }
  }
}

Post Threads::wait(const lci::Until& until) {
  FAIRLEAD_CHECK(until.also == nullptr, "a thread waits for one condition");
  if (live_ == 0) {
    const std::uint64_t before = parts_->readied.ok.load(std::memory_order_acquire);
    const Post answer = wait_alone(until);
    // Unless an upcall spawned somebody, who may have to run before it holds.
    if (answer != Post::done || until.any_change ||
        parts_->readied.ok.load(std::memory_order_acquire) == before) {
      return answer;
    }
  }
  Thread& me = *running_;
  lci::Until mine = until;
  const lci::Ending ending(until);
  if (ending.holds(false, false)) return ending.answer();
  me.until = &mine;
  me.ending = &ending;
  const Post answer = block(nullptr, until.deadline, until.what, true);
  me.until = nullptr;
  me.ending = nullptr;
  return answer;
}

Post Threads::wait_alone(const lci::Until& until) {
  lci::Until signal;
  signal.counter = &parts_->readied;
  signal.at = parts_->readied.ok.load(std::memory_order_acquire) + 1;
  lci::Until mine = until;
  mine.also = &signal;
  const std::uint32_t held = port_.held();
  for (std::uint32_t i = 0; i < held; ++i) port_.allow();
  const Post answer = wait_port(mine);
  for (std::uint32_t i = 0; i < held; ++i) port_.hold();
  return answer;
}

Post Threads::wait_port(const lci::Until& until) {
  in_port_.store(true, std::memory_order_relaxed);
  const Post answer = port_.wait(until);
  in_port_.store(false, std::memory_order_relaxed);
  return answer;
}

// --- Mutexes and conditions

void Mutex::lock() {
  if (try_lock()) return;
  FAIRLEAD_CHECK(owner_ != threads_.self(), "thread '{}' locks what it has locked", owner_->name);
  (void)threads_.block(&waiting_, kNever, "a mutex", false);
}

bool Mutex::try_lock() {
  const Quiet quiet(threads_.port());
  if (owner_ != nullptr) return false;
  owner_ = threads_.self();
  return true;
}

void Mutex::unlock() {
  const Quiet quiet(threads_.port());
  FAIRLEAD_CHECK(owner_ == threads_.self(), "thread '{}' unlocks what it has not locked",
                 threads_.self()->name);
  owner_ = waiting_.first();
  if (owner_ != nullptr) threads_.make_ready(*owner_, Post::done);
}

Post Condition::wait_until(Mutex* mutex, Ps deadline, const char* what) {
  if (mutex != nullptr) mutex->unlock();
  const Post answer = threads_.block(&waiting_, deadline, what, true);
  if (mutex != nullptr) mutex->lock();
  return answer;
}

void Condition::signal() {
  const Quiet quiet(threads_.port());
  if (!waiting_.empty()) threads_.make_ready(*waiting_.first(), Post::done);
}

void Condition::broadcast() {
  const Quiet quiet(threads_.port());
  while (!waiting_.empty()) threads_.make_ready(*waiting_.first(), Post::done);
}

}  // namespace fairlead::run
