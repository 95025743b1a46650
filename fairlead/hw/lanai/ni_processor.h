// The processor of a network interface: a non-preemptive server that runs one firmware step after
// the other to completion, in the order the work came (a control program's main loop).
#pragma once
#include <cstdint>

#include "fairlead/base/ring.h"
#include "fairlead/base/step.h"
#include "fairlead/base/units.h"
#include "fairlead/hw/event_kinds.h"
#include "fairlead/hw/lanai/lanai_params.h"
#include "fairlead/hw/resource.h"
#include "fairlead/sim/engine.h"

namespace fairlead::hw {

// One entry for the control program: what happened, to which packet, with which other node.
struct NiWork {
  std::uint32_t packet;
  std::uint32_t kind : 8;
  std::uint32_t peer : 24;

  NiWork() = default;
  NiWork(std::uint32_t work_kind, std::uint32_t its_packet, std::uint32_t its_peer = 0)
      : packet(its_packet), kind(work_kind & 0xFF), peer(its_peer & 0xFFFFFF) {}
};
static_assert(sim::EventKey::kNodeBits <= 24);

// What the processors of one machine have in common.
struct NiFirmware {
  using Program = void (*)(void* context, NiWork work);

  // `engine` outlives them.
  NiFirmware(sim::Engine& machine_engine, const LanaiParams& ni, Program control_program)
      : engine(machine_engine), program(control_program) {
    for (std::size_t i = 0; i < kSteps; ++i) {
      step[i] = time_for(ni.ni_cycles[i], ni.clock);
    }
  }

  sim::Engine& engine;
  Program program;
  Ps step[kSteps];  // what each takes
  // Told of each change of how much work waits, where somebody counts; set before the first event.
  void (*backlog)(void* context, std::uint32_t node, std::size_t waiting) = nullptr;
  void* backlog_context = nullptr;
};

class NiProcessor {
 public:
  // `firmware` outlives it, and its program gets `context`. `node` is the source of its events.
  NiProcessor(const NiFirmware& firmware, void* context, std::uint32_t node)
      : firmware_(firmware), context_(context), node_(node) {}

  // In an event: the control program gets `work` when it next is idle, now if it is.
  void submit(NiWork work) {
    if (!running_ && !turn_scheduled_ && firmware_.engine.now() >= clock_) {
      run(work);
      return;
    }
    pending_.push_back(work);
    if (firmware_.backlog != nullptr) [[unlikely]]
      tell_backlog();
    if (running_ || turn_scheduled_) return;
    if (sim::CriticalPath* path = firmware_.engine.path(); path != nullptr) [[unlikely]] {
      path->along(path->place(node_), [this] { schedule_turn(); });
    } else {
      schedule_turn();
    }
  }

  // The work that waits longest, or nullptr.
  const NiWork* next() const { return pending_.empty() ? nullptr : &pending_.front(); }
  // Whom it works for.
  void* context() const { return context_; }
  std::uint32_t node() const { return node_; }

  // Within the program only: time after the charges made so far.
  Ps now() const { return clock_; }
  void charge(Step step) { hold(firmware_.step[static_cast<std::size_t>(step)]); }
  void hold(Ps time) {
    clock_ += time;
    busy_ += time;
  }

  // A program runs now.
  bool running() const { return running_; }
  // Within the program: no other work waits.
  bool idle_after_this() const { return pending_.empty(); }

  Ps busy() const { return busy_; }

 private:
  static void on_turn(void* self, std::uint64_t, std::uint64_t) {
    auto* processor = static_cast<NiProcessor*>(self);
    processor->turn_scheduled_ = false;
    const NiWork work = processor->pending_.front();
    processor->pending_.pop_front();
    if (processor->firmware_.backlog != nullptr) [[unlikely]]
      processor->tell_backlog();
    processor->run(work);
  }
  void tell_backlog() const {
    firmware_.backlog(firmware_.backlog_context, node_, pending_.size());
  }
  void schedule_turn() {
    turn_scheduled_ = true;
    firmware_.engine.at(clock_, node_, kNiTurnEvent, &NiProcessor::on_turn, this,
                        pending_.front().packet);
  }
  void run(NiWork work) {
    sim::CriticalPath* path = firmware_.engine.path();
    if (path == nullptr) [[likely]]
      return turn(work);
    path->along(
        path->event(),
        [&] {
          turn(work);
          path->place(node_) = path->here();
        },
        &clock_, kNiResource);
  }
  void turn(NiWork work) {
    clock_ = firmware_.engine.now();
    running_ = true;
    firmware_.program(context_, work);
    charge(Step::main_loop);
    running_ = false;
    // Its turn starts when this one has ended, also where this one brought the work.
    if (!pending_.empty()) schedule_turn();
  }

  const NiFirmware& firmware_;
  void* context_;
  Ps clock_{};
  Ps busy_{};
  Ring<NiWork, 4> pending_;
  std::uint32_t node_;
  bool running_ = false;
  bool turn_scheduled_ = false;
};

}  // namespace fairlead::hw
