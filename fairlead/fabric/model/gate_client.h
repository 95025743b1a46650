// A rank's side of its gate, in the rank's process: its clock, and the hand-over of control. The
// host's own work is timed here; what touches the modelled machine is queued and handed over with
// the next command that needs an answer.
#pragma once
#include <atomic>
#include <cstdint>

#include "fairlead/base/units.h"
#include "fairlead/fabric/model/gate.h"

namespace fairlead::fabric::model {

class GateClient {
 public:
  // `memory` outlives it. Joins: returns once the simulator gives this rank its first turn. From
  // then on this process runs in virtual time. `measured`: the calling thread's processor time,
  // this machine's, counts as the host's work.
  GateClient(const GateMemory& memory, Rank rank, bool measured = false);
  GateClient(const GateClient&) = delete;
  GateClient& operator=(const GateClient&) = delete;

  Rank rank() const { return rank_; }
  GateSlot& slot() { return slot_; }

  // Those marked * hand control over.
  Ps now() {
    if (measured_) count_processor_time();
    if (!clock_known_) hand_over(GateOp::observe);  // *
    return clock_;
  }
  // The host's own work.
  void advance(Ps time) {
    unsent_ += time;
    clock_ += time;
    shown_ps_.store(clock_.count, std::memory_order_relaxed);
    if (time > Ps{0}) ahead_ = true;
  }
  // now() as of the last time this rank looked; from any thread.
  Ps shown() const { return Ps{shown_ps_.load(std::memory_order_relaxed)}; }
  // What an empty look at the network, or at a clock, takes.
  Ps look() const { return look_; }
  bool clock_known() const { return clock_known_; }
  void sync() {
    if (ahead_) hand_over(GateOp::sync);  // *
  }
  // Host time that passes without work, whatever comes in: a program's sleep.
  void sleep(Ps time) {
    advance(time);
    sync();  // *
  }
  Ps compute(Ps time, Ps watchdog);                    // *
  void block(Ps deadline, const char* what);           // *
  void block_for_more(Ps deadline, const char* what);  // *
  void retire() { hand_over(GateOp::retire); }         // *
  // Once it is true nothing is handed over any more.
  bool dismissed() const { return dismissed_; }

  // A command that needs no answer; it is executed before the next that does.
  template <class Op>
  void queue(Op op, std::uint32_t id, std::uint64_t a = 0, std::uint64_t b = 0) {
    // One place stays free for the command that is answered.
    if (slot_.queued + 1 == GateSlot::kCommands) hand_over(GateOp::observe);  // *
    put(static_cast<std::uint32_t>(op), id, a, b);
  }
  // How long the last command takes the simulator knows.
  void time_passes() {
    clock_known_ = false;
    ahead_ = true;
  }
  template <class Op>
  const GateAnswer& hand_over(Op op, std::uint32_t id = 0, std::uint64_t a = 0,
                              std::uint64_t b = 0) {
    return take_turns(static_cast<std::uint32_t>(op), id, a, b);  // *
  }
  // What is called after each answer: takes what became visible.
  void on_answer(void (*taken)(void* context), void* context) {
    answered_ = taken;
    context_ = context;
  }

 private:
  void put(std::uint32_t op, std::uint32_t id, std::uint64_t a, std::uint64_t b) {
    slot_.commands[slot_.queued++] = GateCommand{op, id, unsent_.count, a, b};
    unsent_ = Ps{0};
  }
  const GateAnswer& take_turns(std::uint32_t op, std::uint32_t id, std::uint64_t a,
                               std::uint64_t b);
  void say(const char* what);
  void wait_for_turn();
  void serve_memory();
  void count_processor_time();

  Rank rank_;
  GateSlot& slot_;
  std::byte* packets_;
  Ps look_;
  const bool measured_;
  Ps counted_{};  // processor time up to here is in the clock
  Ps clock_{};    // now(), while clock_known_
  Ps unsent_{};   // work since the last command
  bool clock_known_ = true;
  bool ahead_ = false;  // sync() has something to do
  bool dismissed_ = false;
  std::atomic<std::int64_t> shown_ps_{0};
  void (*answered_)(void* context) = nullptr;
  void* context_ = nullptr;
};

}  // namespace fairlead::fabric::model
