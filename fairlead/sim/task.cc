#include "fairlead/sim/task.h"

#include <utility>

#include "fairlead/base/check.h"
#include "fairlead/base/prefetch.h"

namespace fairlead::sim {

Task::~Task() {
  FAIRLEAD_CHECK(state_ != State::running, "task {} is running", id());
  if (fiber_ != nullptr) pool_.reclaim(*fiber_);
}

void Task::prepare(void* self, std::uint64_t, std::uint64_t, unsigned stage) {
  const auto& task = *static_cast<const Task*>(self);
  if (stage == 0) return prefetch(self, sizeof(Task));
  if (task.fiber_ == nullptr || task.sleeper_ != nullptr) return;
  if (stage == 1) {
    prefetch(task.fiber_, sizeof(Fiber));
  } else {
    task.fiber_->prefetch_stack();
  }
  if (task.hooks_ != nullptr && task.hooks_->prepare != nullptr) task.hooks_->prepare(task, stage);
}

void Task::Place::prefetch() const {
  fairlead::prefetch(task, sizeof(Task));
  if (fiber != nullptr) fairlead::prefetch(fiber, sizeof(Fiber));
}

Result<void> Task::start(Ps when, Body body, void* argument) {
  FAIRLEAD_CHECK(state_ == State::idle && fiber_ == nullptr, "task {} was started before", id());
  Result<Fiber*> fiber = pool_.spawn(id(), &Task::run_body, this);
  if (!fiber.ok()) return fiber.error();
  fiber_ = fiber.value();
  body_ = body;
  argument_ = argument;
  state_ = State::sleeping;
  set_timer(when);
  return {};
}

void Task::run_body(Fiber&, void* self) {
  auto& task = *static_cast<Task*>(self);
  task.body_(task, task.argument_);
  task.state_ = State::done;
}

void Task::set_timer(Ps when) {
  engine().at(when, node(), kTaskEvent, &Task::on_timer, this, id(), ++generation_);
}

void Task::on_timer(void* self, std::uint64_t, std::uint64_t generation) {
  auto& task = *static_cast<Task*>(self);
  if (generation != task.generation_) return;
  if (const Sleeper* const sleeper = std::exchange(task.sleeper_, nullptr); sleeper != nullptr) {
    if (!sleeper->ready(sleeper->context) && !std::exchange(task.woken_, false)) {
      task.state_ = State::blocked;
      return task.set_blocked(sleeper->what);
    }
  }
  task.run();
}

void Task::wake(Ps when) {
  if (state_ == State::done || when == last_wake_) return;
  last_wake_ = when;
  // It runs next.
  if (when == now() && state_ == State::blocked) prepare(this, 0, 0, Engine::kStages - 1);
  engine().at(when, node(), kTaskEvent, &Task::on_wake, this, id(),
              static_cast<std::uint64_t>(when.count));
}

void Task::on_wake(void* self, std::uint64_t, std::uint64_t when) {
  auto& task = *static_cast<Task*>(self);
  if (task.last_wake_.count == static_cast<std::int64_t>(when)) task.last_wake_ = kNever;
  task.woken_ = true;
  if (task.state_ == State::blocked) task.run();
}

void Task::run() {
  state_ = State::running;
  if (hooks_ != nullptr && hooks_->enter != nullptr) hooks_->enter(*this);
  fiber_->resume();
  if (hooks_ != nullptr && hooks_->leave != nullptr) hooks_->leave(*this);
  if (fiber_->done()) {
    pool_.reclaim(*fiber_);
    fiber_ = nullptr;
  }
}

void Task::suspend_as(State state) {
  FAIRLEAD_CHECK(state_ == State::running, "task {} is not the one running", id());
  state_ = state;
  fiber_->suspend();
}

void Task::sleep_until(Ps when) {
  if (engine().advance_inline(when, node(), kTaskEvent, id())) return;
  set_timer(when);
  suspend_as(State::sleeping);
}

void Task::block(const char* what) {
  if (!woken_) {
    set_blocked(what);
    suspend_as(State::blocked);
    set_unblocked();
  }
  woken_ = false;
}

void Task::block_after(Ps when, Ready ready, void* context, const char* what) {
  if (engine().advance_inline(when, node(), kTaskEvent, id())) {
    if (!ready(context)) block(what);
    return;
  }
  const Sleeper sleeper{ready, context, what};
  sleeper_ = &sleeper;
  set_timer(when);
  suspend_as(State::sleeping);
  if (blocked_on() == nullptr) return;  // it did not block
  set_unblocked();
  woken_ = false;
}

bool Task::block_until(Ps deadline, const char* what) {
  if (!woken_ && deadline > now()) {
    set_timer(deadline);
    set_blocked(what);
    suspend_as(State::blocked);
    set_unblocked();
    ++generation_;  // the deadline event, where it is still to come, counts no more
  }
  const bool woken = woken_;
  woken_ = false;
  return woken;
}

}  // namespace fairlead::sim
