// A simulated activity with a stack of its own: it runs on a fiber inside the engine's events,
// sleeps in virtual time, and blocks until something wakes it.
#pragma once
#include <cstdint>

#include "fairlead/base/prefetch.h"
#include "fairlead/base/result.h"
#include "fairlead/base/units.h"
#include "fairlead/sim/engine.h"
#include "fairlead/sim/fiber.h"

namespace fairlead::sim {

class Task;

// Called around every stretch in which a task runs, on the scheduler's stack: where a pointer to
// the current rank is switched. Either may be null. Lives as long as the tasks.
struct TaskHooks {
  void (*enter)(Task& task) = nullptr;
  void (*leave)(Task& task) = nullptr;
  // Some events before one of the task: its owner's state may be fetched into the cache.
  void (*prepare)(const Task& task, unsigned stage) = nullptr;
};

class alignas(kCacheLine) Task : public Activity {
 public:
  using Body = void (*)(Task& self, void* argument);

  // `engine`, `pool` and `hooks` outlive the task; its events have `node` as their source. `id` is
  // what reports call it and enters the digest.
  Task(Engine& engine, FiberPool& pool, std::uint32_t node, std::uint32_t id,
       const TaskHooks* hooks = nullptr)
      : Activity(engine, node, id), pool_(pool), hooks_(hooks) {}
  // A task that is not done is abandoned where it stands, without unwinding; no event of it may run
  // afterwards.
  ~Task();

  // Where what a run touches first lies: for who will wake the task and has better things in the
  // cache than the task itself.
  struct Place {
    const Task* task = nullptr;
    const Fiber* fiber = nullptr;
    void prefetch() const;
  };
  Place place() const { return {this, fiber_}; }

  // Engine::Prepare of kTaskEvent.
  static void prepare(void* self, std::uint64_t, std::uint64_t, unsigned stage);

  // Runs body(*this, argument) from `when` on. Once. Fails when the pool has no stack left.
  Result<void> start(Ps when, Body body, void* argument);

  // From anywhere: at `when` (not before now), unblocks the task; if it is not blocked then, its
  // next block() returns at once. No wake is lost; several may become one.
  void wake(Ps when);

  // From inside the task.
  Ps now() const { return engine().now(); }
  // Continues at `when`; wakes do not cut it short. Costs no switch where nothing happens between.
  void sleep_until(Ps when);
  void sleep_for(Ps time) { sleep_until(now() + time); }
  // Suspends until woken. `what` ("MPI_Recv from 3") is for deadlock reports and lives as long as
  // the call. May return although the caller's condition does not hold: call it in a loop.
  void block(const char* what);
  // Sleeps until `when`, and blocks from then on unless ready(context) returns true there. Both are
  // one suspension: ready() runs in the event, on the scheduler's stack.
  using Ready = bool (*)(void* context);
  void block_after(Ps when, Ready ready, void* context, const char* what);
  // As block(), until `deadline` at the latest: false when that came first.
  [[nodiscard]] bool block_until(Ps deadline, const char* what);

  bool done() const { return state_ == State::done; }

  void* user = nullptr;  // the owner's

 private:
  enum class State : std::uint8_t { idle, sleeping, running, blocked, done };

  static void run_body(Fiber& fiber, void* self);
  static void on_timer(void* self, std::uint64_t id, std::uint64_t generation);
  static void on_wake(void* self, std::uint64_t id, std::uint64_t when);
  // On the stack of the task that sleeps before it blocks.
  struct Sleeper {
    Ready ready;
    void* context;
    const char* what;
  };

  void set_timer(Ps when);
  void suspend_as(State state);
  void run();

  FiberPool& pool_;
  const TaskHooks* hooks_;
  Fiber* fiber_ = nullptr;
  const Sleeper* sleeper_ = nullptr;
  Body body_ = nullptr;
  void* argument_ = nullptr;
  std::uint64_t generation_ = 0;  // of the one start, sleep or deadline event that counts
  Ps last_wake_ = kNever;         // a pending wake event, to join equal ones
  State state_ = State::idle;
  bool woken_ = false;
};

}  // namespace fairlead::sim
