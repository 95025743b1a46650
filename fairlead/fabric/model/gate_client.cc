#include "fairlead/fabric/model/gate_client.h"

#include <time.h>

#include <algorithm>
#include <cstring>

namespace fairlead::fabric::model {
namespace {
// Simulator and guardian end this process when the job is over: it need not look for that itself.
constexpr Ps kSleep = seconds(3600);

Ps processor_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return nanoseconds(std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec);
}
}  // namespace

GateClient::GateClient(const GateMemory& memory, Rank rank, bool measured)
    : rank_(rank),
      slot_(memory.slot(rank)),
      packets_(memory.packets().data()),
      look_(memory.header().look),
      measured_(measured) {
  give_turn(slot_, GateTurn::simulator);
  wait_for_turn();
  counted_ = processor_time();
}

void GateClient::count_processor_time() {
  const Ps now = processor_time();
  advance(now - counted_);
  add_time(slot_.tally.host, HostPart::compute, now - counted_);
  counted_ = now;
}

void GateClient::wait_for_turn() {
  for (;;) {
    if (!await_turn(slot_, GateTurn::rank, kSleep)) continue;
    if (slot_.memory.what == GateMemoryRequest::kNone) return;
    serve_memory();
    give_turn(slot_, GateTurn::simulator);
  }
}

void GateClient::serve_memory() {
  GateMemoryRequest& asked = slot_.memory;
  auto* const mine = reinterpret_cast<std::byte*>(asked.address);
  std::byte* const other =
      asked.word_only != 0 ? reinterpret_cast<std::byte*>(&asked.word) : packets_ + asked.offset;
  if (asked.what == GateMemoryRequest::kRead) {
    std::memcpy(other, mine, asked.size);
  } else {
    std::memcpy(mine, other, asked.size);
  }
}

const GateAnswer& GateClient::take_turns(std::uint32_t op, std::uint32_t id, std::uint64_t a,
                                         std::uint64_t b) {
  if (dismissed_) {  // nobody would answer
    slot_.queued = 0;
    return slot_.answer;
  }
  if (measured_) count_processor_time();
  put(op, id, a, b);
  give_turn(slot_, GateTurn::simulator);
  wait_for_turn();
  slot_.queued = 0;
  clock_ = Ps{slot_.answer.now_ps};
  shown_ps_.store(clock_.count, std::memory_order_relaxed);
  clock_known_ = true;
  ahead_ = slot_.answer.ahead != 0;
  dismissed_ = slot_.answer.dismissed != 0;
  if (answered_ != nullptr) answered_(context_);
  if (measured_) counted_ = processor_time();
  return slot_.answer;
}

Ps GateClient::compute(Ps time, Ps watchdog) {
  if (!clock_known_ || ahead_) hand_over(GateOp::sync);
  const Ps began = clock_;
  hand_over(GateOp::compute, 0, static_cast<std::uint64_t>(time.count),
            static_cast<std::uint64_t>(watchdog.count));
  return clock_ - began;
}

void GateClient::say(const char* what) {
  const std::size_t size = std::min(std::strlen(what), GateSlot::kWhatBytes - 1);
  std::memcpy(slot_.what, what, size);
  slot_.what[size] = '\0';
}

void GateClient::block(Ps deadline, const char* what) {
  say(what);
  hand_over(GateOp::block, 0, static_cast<std::uint64_t>(deadline.count));
}

void GateClient::block_for_more(Ps deadline, const char* what) {
  say(what);
  hand_over(GateOp::block_for_more, 0, static_cast<std::uint64_t>(deadline.count));
}

}  // namespace fairlead::fabric::model
