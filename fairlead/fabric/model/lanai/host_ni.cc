#include "fairlead/fabric/model/lanai/host_ni.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "fairlead/hw/event_kinds.h"
#include "fairlead/hw/trace_lines.h"

namespace fairlead::fabric::model {
namespace {
constexpr std::size_t kDescriptorLine = 8;  // bytes of one posted write
}

ModelHostNi::ModelHostNi(const LanaiParts& parts, NiHardware& ni, std::uint32_t place,
                         RankHosts hosts)
    : parts_(parts),
      ni_(ni),
      send_buffers_(parts.shares.send_buffers),
      number_(place),
      rank_(parts.nodes.rank_at(ni.self(), place)),
      near_buffers_(parts.shares.near_buffers),
      hosts_(hosts) {
  static constexpr HostSink kSink{
      .received =
          [](void* self, PacketId id) {
            changed(self, [id](ModelHostNi& host) {
              NiPacket& packet = host.packet(id);
              // On a host it is the rank that sent it.
              packet.peer = host.parts_.nodes.rank_at(packet.peer, packet.place);
              host.came(id);
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
            changed(self, [count](ModelHostNi& host) {
              host.send_buffers_ += count;
              host.count_buffers();
            });
          },
      .prepare =
          [](const void* self) {
            const auto* host = static_cast<const ModelHostNi*>(self);
            if (host->waiting_) host->place_.prefetch();
          },
      .doorbell_free = [](void* self) { changed(self, [](ModelHostNi&) {}); },
  };
  ni_.attach_host(place, kSink, this);
}

void ModelHostNi::came(PacketId id) {
  if (!silent(packet(id)) && calling_++ == 0) visible_since_ = parts_.engine.now();
  received_.push_back(id);
  count_received();
}

void ModelHostNi::count_end(PacketId id) {
  const NiPacket& ended = packet(id);
  const ClientHeader& header = ended.header.client;
  if (header.kind != PacketKind::data && header.kind != PacketKind::multicast) return;
  parts_.figures->ends(id, now(), {header.source, rank_, header.chan, header.lane}, ended.part);
}

PacketId ModelHostNi::alloc_local(std::size_t payload_bytes) {
  const std::size_t bytes = sizeof(NiPacket) + payload_bytes;
  const PacketId id = ni_.pool().take(bytes);
  NiPacket& made = ni_.packet(id);
  std::memset(static_cast<void*>(&made), 0, sizeof made);
  made.id = id;
  made.slot_bytes = static_cast<std::uint16_t>(bytes);
  made.origin = kNoPacket;
  made.place = static_cast<std::uint8_t>(number_);
  if (parts_.figures != nullptr) [[unlikely]]
    parts_.figures->begins(id, now());
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
  count_buffers();
  *id = alloc_local(payload_bytes);
  ni_.packet(*id).holds = Holds::send_buffer;
  if (parts_.journeys != nullptr) [[unlikely]]
    parts_.journeys->begin(*id, ni_.self(), now());
  return true;
}

void ModelHostNi::cancel(PacketId id) {
  ++(packet(id).holds == Holds::near_buffer ? near_buffers_ : send_buffers_);
  count_buffers();
  ni_.free_packet(id);
}

void ModelHostNi::write(std::size_t size) {
  if (size == 0) return;
  sync();
  spend_until(ni_.bus().write(now(), size).processor_free, HostPart::send);
  spent(hw::kBusResource);
}

// From the rank to its node's NI, and to the rank there.
void ModelHostNi::address(NiPacket& packet) const {
  packet.place = static_cast<std::uint8_t>(number_);
  packet.to = 0;
  if (!parts_.nodes.several()) return;
  packet.to = kEveryPlace;
  if (packet.peer >= parts_.nodes.ranks) return;
  packet.to = static_cast<std::uint8_t>(parts_.nodes.place_of(packet.peer));
  packet.peer = parts_.nodes.node_of(packet.peer);
}

std::uint32_t ModelHostNi::open_vi() {
  if (!ni_.has_doorbells()) return 0;
  sync();
  const std::uint32_t made = ni_.doorbells().add(number_);
  return made == Doorbells::kNone ? 0 : made + 1;
}

void ModelHostNi::close_vi(std::uint32_t number) {
  if (!ni_.has_doorbells()) return;
  sync();
  ni_.vi_table().disconnect(number_, number);
  ni_.doorbells().give_back(number - 1);
}

// Set-up is the system software's and not timed, but what it changes is changed at the rank's time.
void ModelHostNi::allow(const ViMemory& memory) {
  if (!ni_.has_doorbells()) return;
  sync();
  (void)ni_.vi_table().allow(number_, memory);  // no room: what asks for it is refused
}
void ModelHostNi::forbid(std::uint32_t handle) {
  if (!ni_.has_doorbells()) return;
  sync();
  ni_.vi_table().forbid(number_, handle);
}
void ModelHostNi::connect_vi(const ViEnd& end) {
  if (!ni_.has_doorbells()) return;
  sync();
  ni_.vi_table().connect(number_, end);
}
void ModelHostNi::disconnect_vi(std::uint32_t number) {
  if (!ni_.has_doorbells()) return;
  sync();
  ni_.vi_table().disconnect(number_, number);
}
void ModelHostNi::count_entries(std::uint32_t number, bool of_receives, const ViEntries& entries) {
  if (!ni_.has_doorbells()) return;
  sync();
  ni_.vi_table().count_entries(number_, number, of_receives, entries);
}

void ModelHostNi::forget_vis() {
  if (ni_.has_doorbells()) ni_.vi_table().forget(number_);
}

std::uint32_t ModelHostNi::vi_of(Rank peer) {
  // What is for all ranks has one of its own.
  const Rank ranks = parts_.nodes.ranks;
  return ni_.doorbells().for_peer(number_, std::min(peer, ranks), ranks + 1);
}

// The library reads the doorbell back before it writes it: across the bus and back.
void ModelHostNi::await_doorbell(NiPacket& packet) {
  const auto own = static_cast<std::uint32_t>(packet.operand);
  const std::uint32_t vi = own > 0 ? own - 1 : vi_of(packet.peer);
  packet.operand = vi;
  const Ps look = parts_.bus.doorbell * 2;
  for (;;) {
    spend_until(now() + look, HostPart::send);
    spent(hw::kBusResource);
    sync();
    if (!ni_.doorbells().full(vi)) return ni_.doorbells().fill(vi);
    const Ps from = now();
    while (ni_.doorbells().full(vi)) block_for_more(kNever, "its doorbell, which the NI looks at");
    library_busy_ += now() - from;
  }
}

void ModelHostNi::post(PacketId id, std::size_t descriptor_lines) {
  sync();
  if (ni_.has_doorbells()) [[unlikely]]
    await_doorbell(packet(id));
  if (parts_.journeys != nullptr) [[unlikely]] {
    if (!parts_.journeys->known(id)) parts_.journeys->begin(id, ni_.self(), now());  // sent again
    parts_.journeys->posted(id, packet(id).header.client, packet(id).peer);
  }
  address(packet(id));
  const Ps reached = write_descriptor(descriptor_lines);
  if (parts_.journeys != nullptr) [[unlikely]]
    parts_.journeys->mark(id, Stage::host_send, local_);
  ni_.ring_doorbell(reached, id);
}

// Writes are posted in order: the doorbell is behind the data that is still on its way.
Ps ModelHostNi::write_descriptor(std::size_t lines) {
  const hw::IoBus::Written before = ni_.bus().write(now(), kDescriptorLine * lines);
  const Ps issued = now() + parts_.bus.pio_issue * static_cast<std::int64_t>(lines);
  spend_until(std::max(issued, before.processor_free), HostPart::send);
  spent(hw::kBusResource);
  return local_ + parts_.bus.doorbell;
}

// A token has 8 bytes: the memory handle, and where in that memory the descriptor is.
void ModelHostNi::post_vi_send(std::uint32_t number, const ViToken& token) {
  if (!ni_.has_doorbells()) return;
  sync();
  const PacketId id = ni_.make_scratch(sizeof(ViControl) + kViSegmentsMax * sizeof(ViSegment));
  NiPacket& made = packet(id);
  made.source = static_cast<std::uint8_t>(ViOp::send_token);
  made.place = static_cast<std::uint8_t>(number_);
  made.operand = number;
  made.cookie = token.address;
  ViMessageHead head;
  head.queue = static_cast<std::uint16_t>(number);
  head.connection = token.connection;
  head.sequence = token.sequence;
  head.immediate = token.handle;
  head.write(made.header.client.words);
  await_doorbell(made);
  ni_.ring_doorbell(write_descriptor(1), id);
}

void ModelHostNi::post_vi_receive(std::uint32_t number, const ViToken& token) {
  if (!ni_.has_doorbells()) return;
  sync();
  ni_.ring_receive_doorbell(write_descriptor(1), number_, number, token);
}

bool ModelHostNi::alloc_near(std::size_t payload_bytes, std::uint32_t reserve, PacketId* id) {
  if (near_buffers_ <= reserve) return false;
  --near_buffers_;
  *id = alloc_local(payload_bytes);
  ni_.packet(*id).holds = Holds::near_buffer;
  if (parts_.journeys != nullptr) [[unlikely]]
    parts_.journeys->begin(*id, ni_.self(), now());
  return true;
}

// The data goes to memory, then the line that says so: another processor's look at it is a transfer
// of that line.
void ModelHostNi::post_near(PacketId id, std::size_t copied) {
  NiPacket& leaving = packet(id);
  const hw::LibraryRates& rates = parts_.host_rates;
  if (copied > 0) {
    move(time_for(Bytes{copied}, rates.memcpy_memory), hw::kMovedByCopy * copied, HostPart::send);
  }
  sync();
  const Rank to = leaving.peer;
  leaving.peer = rank_;
  if (parts_.journeys != nullptr) [[unlikely]]
    parts_.journeys->mark(id, Stage::host_send, now());
  ModelHostNi& other = hosts_.find(hosts_.owner, to);
  parts_.engine.at(
      now() + rates.memory_latency, ni_.self(), hw::kNearEvent,
      [](void* self, std::uint64_t packet, std::uint64_t) {
        changed(self, [packet](ModelHostNi& host) { host.came(static_cast<PacketId>(packet)); });
      },
      &other, id);
}

void ModelHostNi::read_near(PacketId id) {
  const hw::LibraryRates& rates = parts_.host_rates;
  const std::uint64_t bytes = sizeof(ClientHeader) + packet(id).header.client.size;
  const auto lines = static_cast<std::int64_t>((bytes + rates.line_bytes - 1) / rates.line_bytes);
  // The look that found it has brought the first one.
  move(rates.memory_latency * (lines - 1), bytes, HostPart::receive);
}

void ModelHostNi::return_near_buffer(PacketId id) {
  const Rank owner = packet(id).peer;
  parts_.engine.at(
      now() + parts_.host_rates.memory_latency, ni_.self(), hw::kNearEvent,
      [](void* self, std::uint64_t, std::uint64_t) {
        changed(self, [](ModelHostNi& host) {
          ++host.near_buffers_;
          host.near_returned_ = true;
        });
      },
      &hosts_.find(hosts_.owner, owner), id);
}

bool ModelHostNi::reap_receive(PacketId* id) {
  if (received_.empty()) return false;
  *id = received_.front();
  received_.pop_front();
  count_received();
  if (!silent(packet(*id))) --calling_;
  visible_since_ = now();
  if (parts_.journeys != nullptr) [[unlikely]]
    parts_.journeys->mark(*id, Stage::wait_host, now());
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
  const bool near = packet(id).holds == Holds::near_buffer;
  if (near) return_near_buffer(id);
  ni_.free_packet(id);
  if (!near) return_host_buffer();
}

void ModelHostNi::return_host_buffer(PacketId id) {
  show_end(id);
  packet(id).holds == Holds::near_buffer ? return_near_buffer(id) : return_host_buffer();
}

void ModelHostNi::return_host_buffer() {
  if (++released_ < parts_.shares.host_ring_batch) return;
  sync();
  spend_until(ni_.bus().write(now(), std::size_t{4} * released_).processor_free, HostPart::receive);
  spent(hw::kBusResource);
  ni_.return_host_buffers(number_, now() + parts_.bus.doorbell, released_);
  released_ = 0;
}

void ModelHostNi::sync() {
  if (local_ <= parts_.engine.now()) return;
  spent(hw::kHostResource);
  task_->sleep_until(local_);
}

void ModelHostNi::block_for_more(Ps deadline, const char* what) {
  sync();
  // It came back while this rank caught up, and no other may follow.
  if (std::exchange(near_returned_, false) || parts_.engine.now() >= deadline) return;
  const Ps from = parts_.engine.now();
  place_ = task_->place();
  waiting_ = true;
  if (deadline == kNever) {
    task_->block(what);
  } else {
    (void)task_->block_until(deadline, what);
  }
  waiting_ = false;
  count(HostPart::wait, parts_.engine.now() - from);
  if (parts_.journeys != nullptr) [[unlikely]]
    trace_.interval(from, parts_.engine.now(), hw::kAsleep);
}

Ps ModelHostNi::compute(Ps time, Ps watchdog) {
  sync();
  const Ps began = parts_.engine.now();
  const Ps end = began + time;
  sim::CriticalPath* const path = parts_.engine.path();
  const sim::CriticalPath::Path before = path != nullptr ? path->here() : sim::CriticalPath::Path{};
  while (parts_.engine.now() < end) {
    const Ps alarm = calling_ == 0 ? kNever : visible_since_ + watchdog;
    if (alarm <= parts_.engine.now()) break;
    const Ps until = std::min(alarm, end);
    if (path != nullptr) [[unlikely]]
      path->was_busy(before, until, hw::kHostResource);
    waiting_ = true;
    (void)task_->block_until(until, "computing");
    waiting_ = false;
  }
  if (path != nullptr) [[unlikely]]
    path->was_busy(before, parts_.engine.now(), hw::kHostResource);
  count(HostPart::compute, parts_.engine.now() - began);
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
    host->waiting_ = !host->anything_visible() && !std::exchange(host->near_returned_, false);
    return !host->waiting_;
  };
  task_->block_after(from, ready, this, what);
  count(HostPart::wait, parts_.engine.now() - from);
  if (std::exchange(waiting_, false) && parts_.journeys != nullptr) [[unlikely]]
    trace_.interval(from, parts_.engine.now(), hw::kAsleep);
}

}  // namespace fairlead::fabric::model
