#include "fairlead/systems/mpi/background.h"

#include "fairlead/base/wait_ladder.h"

namespace fairlead::mpi {

// Not where ranks are fibers or time is the model's: no other thread serves them there.
bool Background::exists(Engine& engine, lci::Port& port) {
  return engine.short_ways() && port.shareable() &&
         (port.caps(port.self()).flags & lci::kInterrupt) != 0;
}

// The Port has a timer with its address.
Background::~Background() {
  while (looks_later_) port_.poll();
}

bool Background::wanted() {
  if (computes_) return true;
  if (rest_ != 0) {
    --rest_;
    return false;
  }
  const std::int64_t computed = engine_.time_computing();
  computes_ = computed >= kComputesNs;
  if (computes_) return true;
  if (computed >= 0) {
    rest_ = kRestFirst;
  } else {
    engine_.begin_computing();
  }
  return false;
}

void Background::start() {
  on_ = true;
  asked_ = skipped_ = compared_ = computed_ = false;
  calls_ = 0;
  left_ns_ = 0;
  inner_ = engine_.direct().upcalls();
  engine_.direct().bind({&Background::run, this, &Background::run_small});
  port_.wake(lci::Wake::immediate, Ps{0});
}

void Background::stop() {
  port_.wake(lci::Wake::poll_only, Ps{0});
  engine_.direct().bind(inner_);
  on_ = false;
  if (computed_) {
    next_rest_ = kRestFirst;
  } else if (compared_) {
    computes_ = false;
    rest_ = next_rest_;
    next_rest_ = std::min(2 * next_rest_, kRestMax);
  }
}

void Background::entered() {
  if (++calls_ > 1 || computed_ || left_ns_ == 0) return;
  compared_ = true;
  computed_ = monotonic_ns() - left_ns_ >= kComputesNs;
}

bool Background::leaving() {
  if (calls_ > 1) {
    --calls_;
    return false;
  }
  if (skipped_) {
    skipped_ = false;
    engine_.go_on_alone();
  }
  calls_ = 0;
  if (!engine_.any_alone()) return true;
  look_later();
  left_ns_ = monotonic_ns();
  return false;
}

Keep Background::run(void* self, lci::Packet* packet, const lci::Arrival& arrival) {
  Background& background = *static_cast<Background*>(self);
  background.ask();
  return background.inner_.run(background.inner_.context, packet, arrival);
}

bool Background::run_small(void* self, Rank source, lci::WordVector words, const std::byte* data,
                           std::size_t size) {
  Background& background = *static_cast<Background*>(self);
  background.ask();
  return background.inner_.run_small(background.inner_.context, source, words, data, size);
}

void Background::ask() {
  if (asked_) return;
  asked_ = true;
  port_.defer({[](void* self) { static_cast<Background*>(self)->go_on(); }, this});
}

// Within a call the engine may be at work already, below which this runs.
void Background::go_on() {
  asked_ = false;
  if (!on_) return;
  if (calls_ != 0) {
    skipped_ = true;
  } else {
    engine_.go_on_alone();
    look_later();
  }
}

void Background::look_later() {
  if (looks_later_ || !engine_.any_untold()) return;
  looks_later_ = true;
  port_.after(kLookAgain, {[](void* self) {
                             Background& background = *static_cast<Background*>(self);
                             background.looks_later_ = false;
                             background.go_on();
                           },
                           this});
}

}  // namespace fairlead::mpi
