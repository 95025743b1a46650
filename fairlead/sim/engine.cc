#include "fairlead/sim/engine.h"

#include <algorithm>
#include <bit>

namespace fairlead::sim {

Activity::Activity(Engine& engine, std::uint32_t node, std::uint32_t id)
    : engine_(engine), node_(node), id_(id), previous_(engine.last_activity_) {
  (previous_ != nullptr ? previous_->next_ : engine.first_activity_) = this;
  engine.last_activity_ = this;
}

Activity::~Activity() {
  set_unblocked();
  (previous_ != nullptr ? previous_->next_ : engine_.first_activity_) = next_;
  (next_ != nullptr ? next_->previous_ : engine_.last_activity_) = previous_;
}

void Activity::set_blocked(const char* what) {
  FAIRLEAD_DCHECK(what != nullptr && blocked_on_ == nullptr, "activity {}", id_);
  blocked_on_ = what;
  blocked_since_ = engine_.now_;
  ++engine_.blocked_;
}

void Activity::set_unblocked() {
  if (blocked_on_ == nullptr) return;
  blocked_on_ = nullptr;
  --engine_.blocked_;
}

// On 64 modelled LANai a node makes an event each 3 us (LEQ), so that a bucket has one or two.
static unsigned width_bits(std::uint32_t nodes) {
  const auto bits = static_cast<unsigned>(std::bit_width(4'000'000u / std::max(nodes, 1u)));
  return std::clamp(bits, EventQueue::kLeastWidthBits, EventQueue::kMostWidthBits);
}

Engine::Engine(std::uint32_t nodes, std::size_t max_pending)
    : queue_(max_pending, width_bits(nodes)), next_sequence_(nodes, 0) {
  FAIRLEAD_CHECK(nodes <= EventKey::kMaxNodes, "{} nodes", nodes);
}

Engine::~Engine() {
  FAIRLEAD_CHECK(first_activity_ == nullptr, "activity {} outlives its engine",
                 first_activity_->id());
}

void Engine::run_first_explained() {
  const Event event = queue_.pop();
  begin(event.at, event.key, event.a);
  path_->began(event.at, event.key);
  event.run(event.context, event.a, event.b);
}

// How many events before its own each stage of an event's preparation runs.
static constexpr std::array<std::size_t, Engine::kStages> kDistances = {20, 13, 7};

void Engine::look_ahead() {
  if (queue_.open()) {
    // Nothing was prepared across the border of buckets.
    for (unsigned stage = 0; stage < kStages; ++stage) {
      for (std::size_t i = 0; i < kDistances[stage]; ++i) {
        const Event* const event = queue_.ahead(i);
        if (event == nullptr) break;
        prepare_one(event, stage);
      }
    }
  } else {
    queue_.fetch_on();
  }
  for (unsigned stage = 0; stage < kStages; ++stage) {
    prepare_one(queue_.ahead(kDistances[stage]), stage);
  }
}

bool Engine::step() {
  if (queue_.empty()) return false;
  path_ == nullptr ? run_first() : run_first_explained();
  return true;
}

bool Engine::run_some(std::uint32_t most) {
  stopped_ = false;
  if (path_ != nullptr) {
    for (; most > 0 && !stopped_ && !queue_.empty(); --most) run_first_explained();
  } else {
    for (; most > 0 && !stopped_ && !queue_.empty(); --most) run_first();
  }
  return !stopped_ && !queue_.empty();
}

bool Engine::run_until(Ps limit) {
  FAIRLEAD_CHECK(limit >= now_, "limit {} ps, now {} ps", limit.count, now_.count);
  limit_ = limit;
  stopped_ = false;
  if (path_ != nullptr) {
    while (!stopped_ && !queue_.empty() && queue_.top().at <= limit) run_first_explained();
  } else if (limit == kNever) {
    while (!stopped_ && !queue_.empty()) run_first();
  } else {
    while (!stopped_ && !queue_.empty() && queue_.top().at <= limit) run_first();
  }
  if (limit != kNever && !stopped_) now_ = limit;
  limit_ = kNever;
  return queue_.empty();
}

std::string blocked_report(const Engine& engine, const char* noun, std::size_t lines) {
  std::string text;
  std::size_t written = 0;
  for (const Activity* a = engine.activities(); a != nullptr && written < lines; a = a->next()) {
    if (a->blocked_on() == nullptr) continue;
    text += fmt::format("{} {}: blocked since {:.3f} us in {}\n", noun, a->id(),
                        to_us(a->blocked_since()), a->blocked_on());
    ++written;
  }
  if (engine.blocked() > written) text += fmt::format("and {} more\n", engine.blocked() - written);
  return text;
}

}  // namespace fairlead::sim
