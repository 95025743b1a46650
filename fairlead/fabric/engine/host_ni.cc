#include "fairlead/fabric/engine/host_ni.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>

#include "fairlead/base/check.h"
#include "fairlead/fabric/shm/doorbell.h"
#include "fairlead/fabric/shm/view.h"

namespace fairlead::fabric::engine {
namespace {

// The client keeps packets or is slow: from here on what comes is copied out of the slots, so that
// the engine always has some to fill.
constexpr std::size_t kSpareMin = 64;
// A send buffer that only packets from this process's own memory get, which all others queue
// behind.
constexpr std::uint32_t kForWaiting = 1;
// Room in a queue to the engine need not ring.
constexpr Ps kRoomLook = microseconds(200);

}  // namespace

EngineHostNi::EngineHostNi(const ShmJob& job, const HostOptions& options)
    : area_(queue_area(job, options.self)),
      queues_(area_.queues()),
      status_(
          queue_area(job, options.nodes.leader_of(options.nodes.node_of(options.self))).status()),
      doorbell_(ShmView(job.base(), job.layout()).control(options.self).doorbell),
      counters_(ShmView(job.base(), job.layout()).control(options.self).counters),
      options_(options),
      ladder_(options_.wait),
      deaths_({&job.deaths(),
               [](void* of, Peer rank) { return static_cast<const ShmJob*>(of)->dead(rank); },
               const_cast<ShmJob*>(&job)}),
      dead_(options.nodes.ranks()),
      posted_(options.first),
      taken_back_(options.first),
      offered_(options.first),
      received_taken_(options.first),
      answers_taken_(options.first) {
  for (std::uint32_t buffer = kSendBuffers; buffer > 0; --buffer) free_.push_back(buffer - 1);
  for (std::uint32_t slot = kReceiveSlots; slot > 0; --slot) spare_.push_back(slot - 1);
  for (std::uint32_t i = 0; i < kReceiveBuffers; ++i) {
    offer(spare_.back());
    spare_.pop_back();
  }
}

bool EngineHostNi::await_engine(Ps limit) {
  const Ps give_up = now() + limit;
  for (;;) {
    const auto state = static_cast<EngineState>(status_.state.load());
    if (state == EngineState::ready) return true;
    if (state == EngineState::gone || now() >= give_up) return false;
    const std::uint32_t seen = doorbell_.rung.load();
    if (status_.state.load() == static_cast<std::uint32_t>(EngineState::absent)) {
      shm_sleep(doorbell_, seen, milliseconds(20));
    }
  }
}

void EngineHostNi::reset_packet(PacketId id, std::size_t bytes) {
  NiPacket& made = packet(id);
  std::memset(static_cast<void*>(&made), 0, sizeof made);
  made.id = id;
  made.slot_bytes = static_cast<std::uint16_t>(sizeof made + bytes);
  made.origin = kNoPacket;
}

// --- Sending

bool EngineHostNi::has_buffer(std::uint32_t reserve) {
  const std::size_t others = std::max(reserve, kForWaiting);
  if (free_.size() <= others) take_back_sent();
  return free_.size() > others;
}

bool EngineHostNi::alloc(std::size_t payload_bytes, std::uint32_t reserve, PacketId* id) {
  const bool some = has_buffer(reserve);
  if (payload_bytes > kPayloadMax || (!some && reserve > 0)) return false;
  if (!some) {
    *id = alloc_local(payload_bytes);
  } else {
    *id = free_.back();
    free_.pop_back();
    reset_packet(*id, payload_bytes);
  }
  packet(*id).holds = Holds::send_buffer;
  return true;
}

PacketId EngineHostNi::image(PacketId buffer) {
  const PacketId made = alloc_local(0);
  NiPacket& image = packet(made);
  std::memcpy(static_cast<void*>(&image), &packet(buffer), sizeof image);
  image.id = made;
  image.origin = buffer;
  image.holds = Holds::nothing;
  ++uses(buffer);
  return made;
}

void EngineHostNi::cancel(PacketId id) {
  const PacketId origin = packet(id).origin;
  if (is_send(id)) {
    free_.push_back(id);
  } else {
    release_local(id);
  }
  if (origin != kNoPacket) use_over(origin);
}

void EngineHostNi::post(PacketId id, std::size_t) {
  const NiPacket& leaving = packet(id);
  const Rank to = leaving.peer;
  const PacketId origin = leaving.origin;
  if (origin == kNoPacket) {
    ++uses(id);
    push_descriptor({id, to});
  } else {
    release_local(id);
    push_descriptor({origin, to});
  }
}

void EngineHostNi::push_descriptor(const Descriptor& descriptor) {
  if (!unposted_.empty() || !try_descriptor(descriptor)) unposted_.push_back(descriptor);
}

bool EngineHostNi::try_descriptor(Descriptor descriptor) {
  if (posted_ - taken_back_ >= kDescriptors) {
    take_back_sent();
    if (posted_ - taken_back_ >= kDescriptors) return false;
  }
  if (!is_send(descriptor.buffer)) [[unlikely]] {
    if (free_.empty()) take_back_sent();
    if (free_.empty()) return false;
    const PacketId kept = descriptor.buffer;
    descriptor.buffer = free_.back();
    free_.pop_back();
    const NiPacket& from = packet(kept);
    NiPacket& into = packet(descriptor.buffer);
    std::memcpy(static_cast<void*>(&into), &from, sizeof from + from.header.client.size);
    into.id = descriptor.buffer;
    uses(descriptor.buffer) = 1;
    use_over(kept);
  }
  const std::uint32_t at = posted_ % kDescriptors;
  in_ring_[at] = descriptor.buffer;
  queues_.descriptors[at] = descriptor;
  // Both in the one order of all such: either the engine sees the entry before it sleeps, or its
  // flag is seen here.
  queues_.posted.store(++posted_);
  if (status_.sleeping.load() != 0) [[unlikely]] {
    const std::uint64_t one = 1;
    (void)!::write(options_.bell, &one, sizeof one);
  }
  return true;
}

void EngineHostNi::take_back_sent() {
  const std::uint32_t taken = queues_.posted_taken.load(std::memory_order_acquire);
  if (taken - taken_back_ > posted_ - taken_back_) return;  // not the engine's word
  for (; taken_back_ != taken; ++taken_back_) use_over(in_ring_[taken_back_ % kDescriptors]);
}

void EngineHostNi::use_over(PacketId buffer) {
  if (--uses(buffer) > 0) return;
  if (is_send(buffer)) {
    free_.push_back(buffer);
  } else {
    release_local(buffer);
  }
}

// --- Receiving

void EngineHostNi::offer(std::uint32_t slot) {
  queues_.offers[offered_ % kReceiveSlots] = slot;
  queues_.offered.store(++offered_, std::memory_order_release);
}

bool EngineHostNi::reap_receive(PacketId* id) {
  if (queues_.received.load(std::memory_order_acquire) == received_taken_) return false;
  const std::uint32_t slot = queues_.receives[received_taken_ % kReceiveSlots];
  queues_.received_taken.store(++received_taken_, std::memory_order_release);
  FAIRLEAD_CHECK(slot < kReceiveSlots, "rank {}: the engine filled receive slot {}", options_.self,
                 slot);
  *id = kSendBuffers + slot;
  NiPacket& came = packet(*id);
  came.id = *id;
  came.slot_bytes = static_cast<std::uint16_t>(kSlotBytes);
  came.holds = Holds::host_buffer;
  came.origin = kNoPacket;
  if (spare_.size() < kSpareMin) [[unlikely]]
    *id = copied_out(*id);
  return true;
}

PacketId EngineHostNi::copied_out(PacketId id) {
  const NiPacket& came = packet(id);
  const std::size_t bytes = std::min<std::size_t>(came.header.client.size, kPayloadMax);
  const PacketId mine = alloc_local(bytes);
  NiPacket& copy = packet(mine);
  std::memcpy(static_cast<void*>(&copy), &came, sizeof copy + bytes);
  copy.id = mine;
  copy.holds = Holds::nothing;
  ++counters_.copied_out;
  offer(id - kSendBuffers);
  return mine;
}

bool EngineHostNi::reap_answer(Answer* answer) {
  if (queues_.answered.load(std::memory_order_acquire) == answers_taken_) return false;
  *answer = queues_.answers[answers_taken_ % kAnswers];
  queues_.answers_taken.store(++answers_taken_, std::memory_order_release);
  return true;
}

void EngineHostNi::release(PacketId id) { offer(id - kSendBuffers); }

// The client goes on with the packet in its slot; the engine gets another one.
void EngineHostNi::return_host_buffer(PacketId) {
  offer(spare_.back());
  spare_.pop_back();
}

PacketId EngineHostNi::alloc_local(std::size_t payload_bytes) {
  if (free_locals_.empty()) {
    free_locals_.push_back(kLocal + static_cast<PacketId>(locals_.size()));
    locals_.emplace_back();
    local_uses_.push_back(0);
  }
  const PacketId id = free_locals_.back();
  free_locals_.pop_back();
  locals_[id - kLocal].reset(static_cast<std::byte*>(
      ::operator new (sizeof(NiPacket) + payload_bytes, std::align_val_t{64})));
  reset_packet(id, payload_bytes);
  local_uses_[id - kLocal] = 0;
  return id;
}

void EngineHostNi::release_local(PacketId id) {
  if (id >= kLocal) {
    locals_[id - kLocal].reset();
    free_locals_.push_back(id);
  } else {
    spare_.push_back(id - kSendBuffers);
  }
}

// --- Waiting

void EngineHostNi::sync() {
  while (!unposted_.empty() && try_descriptor(unposted_.front())) unposted_.pop_front();
}

void EngineHostNi::check_engine(const char* what) {
  if (status_.state.load(std::memory_order_acquire) ==
      static_cast<std::uint32_t>(EngineState::ready)) [[likely]] {
    return;
  }
  const std::string_view why(status_.reason, ::strnlen(status_.reason, sizeof status_.reason));
  const std::string reason = fmt::format(
      "the NI engine of node {} is gone, and rank {} waits for {}{}{}",
      options_.nodes.node_of(options_.self), options_.self, what, why.empty() ? "" : ": ", why);
  FAIRLEAD_CHECK(options_.fatal != nullptr, "{}", reason);
  options_.fatal(options_.context, reason);
}

void EngineHostNi::block(Ps deadline, const char* what) {
  sync();
  if (anything_visible()) {
    ladder_.reset();
    return;
  }
  wait_a_little(deadline, what);
}

void EngineHostNi::wait_a_little(Ps deadline, const char* what) {
  sync();
  check_engine(*what != '\0' ? what : "an answer");
  const std::uint32_t touched = queues_.touched.load(std::memory_order_acquire);
  if (touched != touched_seen_) {
    touched_seen_ = touched;
    ladder_.reset();
    return;
  }
  climb(ladder_, [this, deadline] { sleep(deadline); });
}

void EngineHostNi::sleep(Ps deadline) {
  const Ps left = deadline == kNever ? options_.wait.sleep_max : deadline - now();
  if (left <= Ps{0}) return;
  // What moves the bell after this look ends the sleep.
  const std::uint32_t seen = doorbell_.rung.load();
  if (anything_visible() || queues_.touched.load() != touched_seen_) return;
  if (queues_.posted_taken.load() != taken_back_) return take_back_sent();
  ++counters_.sleeps;
  shm_sleep(doorbell_, seen, std::min(left, options_.wait.sleep_max));
}

bool EngineHostNi::listen(Bell& bell) {
  sync();
  if (!unposted_.empty()) bell.look_after(kRoomLook);
  const std::uint32_t seen = doorbell_.rung.load();
  const std::uint32_t touched = queues_.touched.load(std::memory_order_acquire);
  const bool silent = !anything_visible() && touched == touched_seen_;
  touched_seen_ = touched;
  bell.add(doorbell_, seen);
  return silent;
}

void EngineHostNi::settle() {
  WaitLadder ladder(options_.wait);
  while (!settled()) {
    sync();
    if (status_.state.load() != static_cast<std::uint32_t>(EngineState::ready)) return;
    climb(ladder, [this] { shm_sleep(doorbell_, doorbell_.rung.load(), milliseconds(1)); });
  }
}

// --- Words

bool EngineHostNi::add_ni_words(std::uint32_t segment, std::uint32_t count) {
  if (word_segments_ == kWordSegments || count > kWords - words_used_) return false;
  queues_.segments[word_segments_] = {segment, words_used_, count};
  words_used_ += count;
  queues_.word_segments.store(++word_segments_, std::memory_order_release);
  return true;
}

std::uint64_t* EngineHostNi::ni_word(std::uint32_t segment, std::uint64_t offset) {
  for (std::uint32_t i = word_segments_; i > 0; --i) {
    const WordSegment& entry = queues_.segments[i - 1];
    if (entry.segment != segment) continue;
    if (offset % 8 != 0 || offset / 8 >= entry.count) return nullptr;
    return &queues_.words[entry.first + offset / 8];
  }
  return nullptr;
}

}  // namespace fairlead::fabric::engine
