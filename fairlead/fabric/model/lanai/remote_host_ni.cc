#include "fairlead/fabric/model/lanai/remote_host_ni.h"

#include <time.h>

#include <algorithm>
#include <cstring>

#include "fairlead/fabric/model/lanai/host_ni.h"
#include "fairlead/fabric/model/lanai/ni_hardware.h"

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

RemoteHostNi::RemoteHostNi(const GateMemory& memory, Rank rank, bool measured)
    : slot_(memory.slot(rank)),
      packets_(memory.packets().data()),
      words_(&memory.words()[std::size_t{rank} * NiHardware::kWords]),
      rates_(memory.header().rates),
      measured_(measured),
      send_buffers_(memory.header().send_buffers),
      host_ring_batch_(memory.header().host_ring_batch) {
  give_turn(slot_, GateTurn::simulator);
  wait_for_turn();
  counted_ = processor_time();
}

void RemoteHostNi::count_processor_time() {
  const Ps now = processor_time();
  advance(now - counted_);
  counted_ = now;
}

void RemoteHostNi::wait_for_turn() {
  while (!await_turn(slot_, GateTurn::rank, kSleep)) {
  }
}

void RemoteHostNi::put(GateOp op, std::uint32_t id, std::uint64_t a, std::uint64_t b) {
  slot_.commands[slot_.queued++] =
      GateCommand{static_cast<std::uint32_t>(op), id, unsent_.count, a, b};
  unsent_ = Ps{0};
}

void RemoteHostNi::queue(GateOp op, PacketId id, std::uint64_t a) {
  // One place stays free for the command that is answered.
  if (slot_.queued + 1 == GateSlot::kCommands) hand_over(GateOp::observe);
  put(op, id, a, 0);
}

const GateAnswer& RemoteHostNi::hand_over(GateOp op, std::uint32_t id, std::uint64_t a,
                                          std::uint64_t b) {
  if (dismissed_) {  // nobody would answer
    slot_.queued = 0;
    return slot_.answer;
  }
  if (measured_) count_processor_time();
  put(op, id, a, b);
  give_turn(slot_, GateTurn::simulator);
  wait_for_turn();
  take_answer();
  if (measured_) counted_ = processor_time();
  return slot_.answer;
}

void RemoteHostNi::take_answer() {
  const GateAnswer& answer = slot_.answer;
  slot_.queued = 0;
  clock_ = Ps{answer.now_ps};
  shown_ps_.store(clock_.count, std::memory_order_relaxed);
  clock_known_ = true;
  ahead_ = answer.ahead != 0;
  dismissed_ = answer.dismissed != 0;
  send_buffers_ = answer.send_buffers;
  const std::uint32_t called = calling_;
  for (std::uint32_t i = 0; i < answer.received; ++i) {
    received_.push_back(slot_.received[i]);
    if (!ModelHostNi::silent(packet(slot_.received[i]))) ++calling_;
  }
  if (called == 0) visible_since_ = Ps{answer.visible_since_ps};
  completed_.insert(completed_.end(), slot_.completed, slot_.completed + answer.completed);
  answered_.insert(answered_.end(), slot_.answered, slot_.answered + answer.answered);
}

// Packets that the gate has taken from the model's host, and that this rank has not yet looked at,
// wait for the watchdog here.
Ps RemoteHostNi::compute(Ps time, Ps watchdog) {
  if (!clock_known_ || ahead_) hand_over(GateOp::sync);
  const Ps began = clock_;
  Ps end = began + time;
  if (calling_ > 0) end = std::min(end, visible_since_ + watchdog);
  if (end <= began) return Ps{0};
  hand_over(GateOp::compute, 0, static_cast<std::uint64_t>((end - began).count),
            static_cast<std::uint64_t>(watchdog.count));
  return clock_ - began;
}

bool RemoteHostNi::reap_receive(PacketId* id) {
  if (!take(received_, id)) return false;
  if (!ModelHostNi::silent(packet(*id))) --calling_;
  if (calling_ > 0 && !clock_known_) hand_over(GateOp::observe);
  visible_since_ = clock_;
  return true;
}

bool RemoteHostNi::alloc(std::size_t payload_bytes, std::uint32_t reserve, PacketId* id) {
  // No time has passed since the last answer, so no buffer has become free.
  if (clock_known_ && send_buffers_ <= reserve) return false;
  const GateAnswer& answer = hand_over(GateOp::alloc, 0, payload_bytes, reserve);
  *id = answer.id;
  return answer.ok != 0;
}

PacketId RemoteHostNi::alloc_local(std::size_t payload_bytes) {
  return hand_over(GateOp::alloc_local, 0, payload_bytes).id;
}

void RemoteHostNi::block_for_more(Ps deadline, const char* what) {
  const std::size_t size = std::min(std::strlen(what), GateSlot::kWhatBytes - 1);
  std::memcpy(slot_.what, what, size);
  slot_.what[size] = '\0';
  hand_over(GateOp::block_for_more, 0, static_cast<std::uint64_t>(deadline.count));
}

void RemoteHostNi::block(Ps deadline, const char* what) {
  if (anything_visible()) return sync();
  const std::size_t size = std::min(std::strlen(what), GateSlot::kWhatBytes - 1);
  std::memcpy(slot_.what, what, size);
  slot_.what[size] = '\0';
  hand_over(GateOp::block, 0, static_cast<std::uint64_t>(deadline.count));
}

bool RemoteHostNi::add_ni_words(std::uint32_t segment, std::uint32_t count) {
  const GateAnswer& answer = hand_over(GateOp::add_words, segment, count);
  if (answer.ok == 0) return false;
  segments_.push_back({segment, answer.id, count});
  return true;
}

std::uint64_t* RemoteHostNi::ni_word(std::uint32_t segment, std::uint64_t offset) {
  for (const Segment& entry : segments_) {
    if (entry.segment != segment) continue;
    if (offset % 8 != 0 || offset / 8 >= entry.count) return nullptr;
    return &words_[entry.first + offset / 8];
  }
  return nullptr;
}

}  // namespace fairlead::fabric::model
