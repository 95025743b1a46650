#include "fairlead/fabric/model/lanai/remote_host_ni.h"

#include <algorithm>

#include "fairlead/fabric/model/lanai/host_ni.h"
#include "fairlead/fabric/model/lanai/ni_hardware.h"

namespace fairlead::fabric::model {

RemoteHostNi::RemoteHostNi(GateClient& gate, const GateMemory& memory)
    : gate_(gate),
      packets_(memory.packets().data()),
      words_(reinterpret_cast<std::uint64_t*>(memory.ni_memory().data()) +
             std::size_t{memory.ranks().node_of(gate.rank())} * NiHardware::kWords),
      rates_(lanai_header(memory).rates),
      nodes_(memory.ranks()),
      shares_(lanai_header(memory).shares),
      send_buffers_(shares_.send_buffers),
      near_buffers_(shares_.near_buffers) {
  gate_.on_answer([](void* self) { static_cast<RemoteHostNi*>(self)->take_visible(); }, this);
}

void RemoteHostNi::take_visible() {
  const LanaiVisible& seen = lanai_visible(gate_.slot());
  send_buffers_ = seen.send_buffers;
  near_buffers_ = seen.near_buffers;
  const std::uint32_t called = calling_;
  for (std::uint32_t i = 0; i < seen.received_count; ++i) {
    received_.push_back(seen.received[i]);
    if (!ModelHostNi::silent(packet(seen.received[i]))) ++calling_;
  }
  if (called == 0) visible_since_ = Ps{seen.visible_since_ps};
  completed_.insert(completed_.end(), seen.completed, seen.completed + seen.completed_count);
  answered_.insert(answered_.end(), seen.answered, seen.answered + seen.answered_count);
}

// Packets that the gate has taken from the model's host, and that this rank has not yet looked at,
// wait for the watchdog here.
Ps RemoteHostNi::compute(Ps time, Ps watchdog) {
  gate_.sync();
  const Ps began = gate_.now();
  Ps end = began + time;
  if (calling_ > 0) end = std::min(end, visible_since_ + watchdog);
  return end <= began ? Ps{0} : gate_.compute(end - began, watchdog);
}

Ps RemoteHostNi::time_of(const hw::HostWork& work) {
  const Ps alone = hw::work_time(rates_, work);
  const std::uint64_t bytes = nodes_.several() ? hw::moved_bytes(rates_, work) : 0;
  if (bytes == 0) return alone;
  const auto time = static_cast<std::uint64_t>(alone.count);
  return Ps{static_cast<std::int64_t>(gate_.hand_over(LanaiOp::slowed, 0, time, bytes).value)};
}

bool RemoteHostNi::reap_receive(PacketId* id) {
  if (!take(received_, id)) return false;
  if (!ModelHostNi::silent(packet(*id))) --calling_;
  if (calling_ > 0 && !gate_.clock_known()) gate_.hand_over(GateOp::observe);
  visible_since_ = gate_.shown();
  return true;
}

bool RemoteHostNi::alloc(std::size_t payload_bytes, std::uint32_t reserve, PacketId* id) {
  // No time has passed since the last answer, so no buffer has become free.
  if (gate_.clock_known() && send_buffers_ <= reserve) return false;
  const GateAnswer& answer = gate_.hand_over(LanaiOp::alloc, 0, payload_bytes, reserve);
  *id = answer.id;
  return answer.ok != 0;
}

bool RemoteHostNi::alloc_near(std::size_t payload_bytes, std::uint32_t reserve, PacketId* id) {
  if (gate_.clock_known() && near_buffers_ <= reserve) return false;
  const GateAnswer& answer = gate_.hand_over(LanaiOp::alloc_near, 0, payload_bytes, reserve);
  *id = answer.id;
  return answer.ok != 0;
}

PacketId RemoteHostNi::alloc_local(std::size_t payload_bytes) {
  return gate_.hand_over(LanaiOp::alloc_local, 0, payload_bytes).id;
}

void RemoteHostNi::block(Ps deadline, const char* what) {
  if (anything_visible()) return sync();
  gate_.block(deadline, what);
}

bool RemoteHostNi::add_ni_words(std::uint32_t segment, std::uint32_t count) {
  const GateAnswer& answer = gate_.hand_over(LanaiOp::add_words, segment, count);
  if (answer.ok == 0) return false;
  segments_.push_back({segment, answer.id, count});
  return true;
}

std::uint64_t* RemoteHostNi::ni_word(std::uint32_t segment, std::uint64_t offset) {
  for (std::size_t i = segments_.size(); i > 0; --i) {
    const Segment& entry = segments_[i - 1];
    if (entry.segment != segment) continue;
    if (offset % 8 != 0 || offset / 8 >= entry.count) return nullptr;
    return &words_[entry.first + offset / 8];
  }
  return nullptr;
}

}  // namespace fairlead::fabric::model
