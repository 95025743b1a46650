#include "fairlead/fabric/model/lanai/host_ni.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "fairlead/hw/trace_lines.h"

namespace fairlead::fabric::model {
namespace {
constexpr std::size_t kDescriptorLine = 8;  // bytes of one posted write
}

ModelHostNi::ModelHostNi(const LanaiParts& parts, NiHardware& ni)
    : parts_(parts), ni_(ni), send_buffers_(parts.params.send_buffers) {
  static constexpr HostSink kSink{
      .received =
          [](void* self, PacketId id) {
            changed(self, [id](ModelHostNi& host) {
              if (!silent(host.packet(id)) && host.calling_++ == 0) {
                host.visible_since_ = host.parts_.engine.now();
              }
              host.received_.push_back(id);
            });
          },
      .completed =
          [](void* self, std::uint64_t cookie) {
            changed(self, [cookie](ModelHostNi& host) { host.completed_.push_back(cookie); });
          },
      .answered =
          [](void* self, std::uint64_t cookie, std::uint64_t value) {
            changed(self, [cookie, value](ModelHostNi& host) {
              host.answered_.push_back({cookie, value});
            });
          },
      .buffers_free =
          [](void* self, std::uint32_t count) {
            changed(self, [count](ModelHostNi& host) { host.send_buffers_ += count; });
          },
      .prepare =
          [](const void* self) {
            const auto* host = static_cast<const ModelHostNi*>(self);
            if (host->waiting_) host->place_.prefetch();
          },
  };
  ni_.attach_host(kSink, this);
}

PacketId ModelHostNi::alloc_local(std::size_t payload_bytes) {
  const std::size_t bytes = sizeof(NiPacket) + payload_bytes;
  const PacketId id = ni_.pool().take(bytes);
  NiPacket& made = ni_.packet(id);
  std::memset(static_cast<void*>(&made), 0, sizeof made);
  made.id = id;
  made.slot_bytes = static_cast<std::uint16_t>(bytes);
  made.origin = kNoPacket;
  return id;
}

PacketId ModelHostNi::image(PacketId buffer) {
  const PacketId made = ni_.image(buffer);
  ni_.packet(made).origin = buffer;
  ++ni_.packet(buffer).uses;
  return made;
}

PacketId ModelHostNi::detached_image(PacketId buffer) {
  const PacketId made = ni_.image(buffer);
  ni_.packet(made).holds = Holds::send_buffer;  // it leaves as the buffer would
  return made;
}

bool ModelHostNi::alloc(std::size_t payload_bytes, std::uint32_t reserve, PacketId* id) {
  if (send_buffers_ <= reserve) return false;
  --send_buffers_;
  *id = alloc_local(payload_bytes);
  ni_.packet(*id).holds = Holds::send_buffer;
  if (parts_.journeys != nullptr) [[unlikely]]
    parts_.journeys->begin(*id, ni_.self(), now());
  return true;
}

void ModelHostNi::cancel(PacketId id) {
  ni_.free_packet(id);
  ++send_buffers_;
}

void ModelHostNi::write(std::size_t size) {
  if (size == 0) return;
  sync();
  spend_until(ni_.bus().write(now(), size).processor_free);
  spent(hw::kBusResource);
}

void ModelHostNi::post(PacketId id, std::size_t descriptor_lines) {
  sync();
  if (parts_.journeys != nullptr) [[unlikely]] {
    if (!parts_.journeys->known(id)) parts_.journeys->begin(id, ni_.self(), now());  // sent again
    parts_.journeys->passes(id, line(), now());
  }
  // Writes are posted in order: the doorbell is behind the data that is still on its way.
  const hw::IoBus::Written before = ni_.bus().write(now(), kDescriptorLine * descriptor_lines);
  const Ps issued = now() + parts_.bus.pio_issue * static_cast<std::int64_t>(descriptor_lines);
  spend_until(std::max(issued, before.processor_free));
  spent(hw::kBusResource);
  if (parts_.journeys != nullptr) [[unlikely]]
    parts_.journeys->mark(id, Stage::host_send, local_);
  ni_.ring_doorbell(local_ + parts_.bus.doorbell, id);
}

bool ModelHostNi::reap_receive(PacketId* id) {
  if (received_.empty()) return false;
  *id = received_.front();
  received_.pop_front();
  if (!silent(packet(*id))) --calling_;
  visible_since_ = now();
  if (parts_.journeys != nullptr) [[unlikely]] {
    parts_.journeys->mark(*id, Stage::wait_host, now());
    parts_.journeys->reaches(*id, line(), now());
  }
  return true;
}

bool ModelHostNi::reap_completion(std::uint64_t* cookie) {
  if (completed_.empty()) return false;
  *cookie = completed_.front();
  completed_.pop_front();
  return true;
}

bool ModelHostNi::reap_answer(Answer* answer) {
  if (answered_.empty()) return false;
  *answer = answered_.front();
  answered_.pop_front();
  return true;
}

void ModelHostNi::release(PacketId id) {
  show_end(id);
  ni_.free_packet(id);
  return_host_buffer();
}

void ModelHostNi::return_host_buffer() {
  if (++released_ < parts_.params.host_ring_batch) return;
  sync();
  spend_until(ni_.bus().write(now(), std::size_t{4} * released_).processor_free);
  spent(hw::kBusResource);
  ni_.return_host_buffers(now() + parts_.bus.doorbell, released_);
  released_ = 0;
}

void ModelHostNi::sync() {
  if (local_ <= parts_.engine.now()) return;
  spent(hw::kHostResource);
  task_->sleep_until(local_);
}

void ModelHostNi::block_for_more(Ps deadline, const char* what) {
  sync();
  if (parts_.engine.now() >= deadline) return;
  const Ps from = parts_.engine.now();
  place_ = task_->place();
  waiting_ = true;
  if (deadline == kNever) {
    task_->block(what);
  } else {
    (void)task_->block_until(deadline, what);
  }
  waiting_ = false;
  if (parts_.journeys != nullptr) [[unlikely]]
    trace_.interval(from, parts_.engine.now(), hw::kAsleep);
}

Ps ModelHostNi::compute(Ps time, Ps watchdog) {
  sync();
  const Ps began = parts_.engine.now();
  const Ps end = began + time;
  while (parts_.engine.now() < end) {
    const Ps alarm = calling_ == 0 ? kNever : visible_since_ + watchdog;
    if (alarm <= parts_.engine.now()) break;
    waiting_ = true;
    (void)task_->block_until(std::min(alarm, end), "computing");
    waiting_ = false;
  }
  return parts_.engine.now() - began;
}

// Catching up and sleeping are one suspension of the task where no deadline can come between.
void ModelHostNi::block(Ps deadline, const char* what) {
  if (deadline != kNever || !ahead()) {
    sync();
    if (!anything_visible()) block_for_more(deadline, what);
    return;
  }
  spent(hw::kHostResource);
  place_ = task_->place();
  const Ps from = local_;
  const auto ready = [](void* self) {
    auto* host = static_cast<ModelHostNi*>(self);
    host->waiting_ = !host->anything_visible();
    return !host->waiting_;
  };
  task_->block_after(from, ready, this, what);
  if (std::exchange(waiting_, false) && parts_.journeys != nullptr) [[unlikely]]
    trace_.interval(from, parts_.engine.now(), hw::kAsleep);
}

}  // namespace fairlead::fabric::model
