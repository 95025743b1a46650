// Receives of virtual interfaces in a control program (VIA 1.0): a message that comes takes the
// oldest receive that is posted, its data are scattered by DMA over the memory that the descriptor
// names, and its status is written. An RDMA write goes to the memory that it names. The rank whose
// memory that is has no part in it.
#pragma once
#include <cstdint>
#include <cstring>
#include <map>
#include <utility>

#include "fairlead/base/ring.h"
#include "fairlead/base/step.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/fabric/vi_message.h"
#include "fairlead/fabric/vi_rdma.h"
#include "fairlead/lci/ni/via_message_parts.h"

namespace fairlead::lci {

// A message for which no receive is posted, or one that does not fit, breaks a connection of the
// reliable levels (ViEnd::breaks), and is dropped on the other one; so is a write of memory that it
// may not reach. An RDMA write takes a receive where it has immediate data.
template <class Hardware, class Packets>
class ViaReceives {
 public:
  using PacketId = std::uint32_t;
  using Parts = ViaMessageParts<Hardware, Packets>;

  // It outlives this.
  explicit ViaReceives(Parts& parts) : parts_(parts) {}

  // A piece of a message, from the other side of a connection that goes on.
  void arrived(PacketId id) {
    const auto& packet = parts_.ni.packet(id);
    const auto head = fabric::ViMessageHead::read(packet.header.client.words);
    auto* const end = parts_.ni.vi_table().end(head.queue);
    const std::uint32_t before = Parts::before_data(packet);
    const std::uint32_t size = packet.header.client.size;
    const bool good = end != nullptr && end->is(packet.to, head.connection) && size >= before &&
                      head.offset <= head.bytes && size - before <= head.bytes - head.offset &&
                      head.bytes <= end->transfer_max;
    if (!good) return parts_.over(id);
    const auto found = incoming_.find(Parts::name_of(head.queue, head.connection));
    const bool is_known = found != incoming_.end();
    // Nothing overtakes the message before it.
    if (is_known && !found->second.is_ready) return found->second.waiting.push_back(id);
    if (before > 0 && !head.has_immediate) return write(id, head, *end);
    is_known ? take(id, head, *end, found->second) : begin(id, head, *end);
  }
  // A receive's descriptor, or the first part of it, is in NI memory.
  void on_descriptor(PacketId id) {
    const std::uint32_t name = parts_.ni.packet(id).header.client.words[0];
    Incoming& message = incoming_.at(name);
    auto* const end = end_of(name, message);
    std::uint32_t status = 0;
    if (end != nullptr) {
      status = parts_.check(id, *end);
      if (status == Parts::kMore) return;
      if (status == 0) status = look_at(message, *end);
    }
    Ring<PacketId> waiting = std::move(message.waiting);
    if (end != nullptr && status == 0) {
      message.is_ready = true;
    } else {
      if (end != nullptr) refuse(message, name, *end, status);
      forget(name);
    }
    // What the first of them does not finish, or does not begin, is the others' to find out.
    for (; !waiting.empty(); waiting.pop_front()) arrived(waiting.front());
  }
  // The data of a piece is in memory.
  void on_landed(PacketId id) {
    const auto& packet = parts_.ni.packet(id);
    const auto head = fabric::ViMessageHead::read(packet.header.client.words);
    const std::uint32_t data = packet.header.client.size - Parts::before_data(packet);
    auto* const end = parts_.ni.vi_table().end(head.queue);
    const bool is_whole = head.offset + data == head.bytes;
    if (is_whole && end != nullptr && end->is(packet.to, head.connection) && end->tells) {
      parts_.answer(*end, fabric::ViOp::message_done, packet.header.job, head.sequence, 0);
    }
    parts_.over(id);
  }

  // Ends of connections are gone: of messages that were coming in, no more comes.
  void sweep() {
    for (auto at = incoming_.begin(); at != incoming_.end();) {
      const std::uint32_t name = at->first;
      const Incoming& message = (at++)->second;
      if (message.is_ready && end_of(name, message) == nullptr) forget(name);
    }
    std::erase_if(resumed_, [this](const auto& each) {
      const auto* const end = parts_.ni.vi_table().end(each.first & 0xffff);
      return end == nullptr || end->connection != static_cast<std::uint8_t>(each.first >> 16);
    });
  }

 private:
  struct Incoming {
    PacketId descriptor = 0;  // as it was read
    fabric::ViToken token{};
    std::uint32_t place = 0;
    std::uint32_t from = 0;  // the name of the other end
    fabric::ViMessageHead head;
    fabric::ViPlace remote{};  // of a write
    std::uint32_t got = 0;
    std::uint32_t segments = 0;
    bool is_write = false;
    bool is_ready = false;     // its descriptor is read, and good
    Ring<PacketId> waiting{};  // for that
  };

  auto* end_of(std::uint32_t name, const Incoming& message) {
    auto* const end = parts_.ni.vi_table().end(name & 0xffff);
    const bool good =
        end != nullptr && end->is(message.place, static_cast<std::uint8_t>(name >> 16));
    return good ? end : nullptr;
  }
  void forget(std::uint32_t name) {
    const auto found = incoming_.find(name);
    parts_.ni.free_packet(found->second.descriptor);
    incoming_.erase(found);
  }

  // The first piece of a message.
  template <class End>
  void begin(PacketId id, const fabric::ViMessageHead& head, End& end) {
    const auto& packet = parts_.ni.packet(id);
    if (head.offset != 0) return parts_.over(id);  // of one that was dropped
    fabric::ViPlace remote{};
    const bool is_write = Parts::before_data(packet) > 0;
    if (is_write && !may_write(packet, head, end, remote)) {
      turn_away(packet, head, end, fabric::ViTold::write_refused);
      return parts_.over(id);
    }
    const std::uint32_t name = Parts::name_of(head.queue, head.connection);
    const auto resumed = resumed_.find(name);
    if (resumed == resumed_.end() && end.receives.empty()) {
      turn_away(packet, head, end, fabric::ViTold::no_descriptor);
      return parts_.over(id);
    }
    Incoming& made = incoming_[name];
    if (resumed != resumed_.end()) {
      made.token = resumed->second;
      resumed_.erase(resumed);
    } else {
      made.token = end.receives.front();
      end.receives.pop_front();
    }
    made.descriptor = parts_.ni.make_scratch(Parts::kDescriptorMax);
    made.place = packet.to;
    made.from = packet.header.job;
    made.head = head;
    made.remote = remote;
    made.is_write = is_write;
    auto& descriptor = parts_.ni.packet(made.descriptor);
    descriptor.source = static_cast<std::uint8_t>(fabric::ViOp::receive_token);
    descriptor.place = packet.to;
    descriptor.cookie = made.token.address;
    descriptor.operand = made.token.handle;
    descriptor.header.client.words[0] = name;
    if (parts_.read(made.descriptor, end)) return made.waiting.push_back(id);
    refuse(made, name, end, fabric::kViProtectionError);
    forget(name);
    parts_.over(id);
  }
  // No receive is used up.
  template <class Packet, class End>
  void turn_away(const Packet& packet, const fabric::ViMessageHead& head, End& end,
                 fabric::ViTold what) {
    const bool is_write = what == fabric::ViTold::write_refused;
    if (end.breaks || is_write) parts_.tell_of(end, what);
    if (end.breaks) {
      parts_.break_off(
          end, packet.header.job, head.sequence,
          is_write ? fabric::kViRdmaProtectionError : fabric::kViRemoteDescriptorError);
    }
  }

  // Whether the write goes to memory that permits it; `remote`: where that is.
  template <class Packet, class End>
  bool may_write(const Packet& packet, const fabric::ViMessageHead& head, const End& end,
                 fabric::ViPlace& remote) {
    std::memcpy(&remote, packet.payload(), sizeof remote);
    const auto* const memory = parts_.memory_of(end, remote.handle, remote.address, head.bytes);
    return memory != nullptr && memory->writes && end.writes;
  }
  // A piece of a write without immediate data: each is looked up by itself.
  template <class End>
  void write(PacketId id, const fabric::ViMessageHead& head, End& end) {
    parts_.ni.charge(Step::descriptor);
    const auto& packet = parts_.ni.packet(id);
    fabric::ViPlace remote{};
    if (!may_write(packet, head, end, remote)) {
      // Unreliable virtual interfaces go on, and all pieces of the write come here then.
      if (end.breaks || head.offset == 0) {
        turn_away(packet, head, end, fabric::ViTold::write_refused);
      }
      return parts_.over(id);
    }
    const std::uint32_t data = packet.header.client.size - Parts::before_data(packet);
    ++parts_.ni.counters().packets_received;
    parts_.ni.counters().bytes_received += data;
    if (data == 0) return on_landed(id);
    parts_.land(id, Parts::name_of(head.queue, head.connection), end, Parts::before_data(packet),
                {remote.address + head.offset, remote.handle, data});
  }

  // What the descriptor says, and what is wrong with it.
  template <class End>
  std::uint32_t look_at(Incoming& message, const End& end) {
    const PacketId id = message.descriptor;
    const fabric::ViControl its = parts_.control(id);
    if ((its.control & (fabric::kViOpMask | fabric::kViImmediate)) != 0) {
      return fabric::kViFormatError;
    }
    message.segments = its.segments;
    if (!message.head.has_immediate) message.head.immediate = its.immediate;
    const std::uint64_t room = parts_.bytes_of(id, 0, its.segments);
    const std::uint32_t bytes = message.is_write ? 0 : message.head.bytes;
    if (room > end.transfer_max || bytes > room) return fabric::kViLengthError;
    return parts_.permits(id, end, 0, its.segments, 0, bytes) ? 0 : fabric::kViProtectionError;
  }
  template <class End>
  void refuse(const Incoming& message, std::uint32_t name, End& end, std::uint32_t status) {
    fabric::ViEvent event;
    event.queue = static_cast<std::uint16_t>(name);
    event.connection = static_cast<std::uint8_t>(name >> 16);
    event.status = status | fabric::kViOpReceive;
    parts_.complete(end, event, message.token, message.head.immediate);
    if (end.breaks && !end.broken) {
      parts_.break_off(end, message.from, message.head.sequence, fabric::kViRemoteDescriptorError);
    }
  }

  template <class End>
  void take(PacketId id, const fabric::ViMessageHead& head, End& end, Incoming& message) {
    const std::uint32_t name = Parts::name_of(head.queue, head.connection);
    const auto& packet = parts_.ni.packet(id);
    const std::uint32_t data = packet.header.client.size - Parts::before_data(packet);
    // Another message's, where the rest of this one does not come: unreliable virtual interfaces
    // may lose it, and the next message takes its receive.
    const bool fits = head.offset == message.got && head.sequence == message.head.sequence;
    if (!fits && head.offset == 0 && !end.breaks) {
      resumed_[name] = message.token;
      forget(name);
      return begin(id, head, end);
    }
    if (!fits) return parts_.over(id);
    if (!is_permitted(message, end, data)) {
      refuse(message, name, end,
             message.is_write ? fabric::kViRdmaProtectionError : fabric::kViProtectionError);
      forget(name);
      return parts_.over(id);
    }
    ++parts_.ni.counters().packets_received;
    parts_.ni.counters().bytes_received += data;
    const std::uint32_t at = Parts::before_data(packet);
    if (data > 0 && message.is_write) {
      parts_.land(id, name, end, at,
                  {message.remote.address + message.got, message.remote.handle, data});
    } else if (data > 0) {
      parts_.scatter(id, name, end, at, message.descriptor, 0, message.segments, message.got);
    }
    message.got += data;
    if (message.got == head.bytes) {
      finish(name, end, message);
    }
    if (data == 0) on_landed(id);
  }
  template <class End>
  bool is_permitted(const Incoming& message, const End& end, std::uint32_t data) {
    if (!message.is_write) {
      return parts_.permits(message.descriptor, end, 0, message.segments, message.got, data);
    }
    return parts_.memory_of(end, message.remote.handle, message.remote.address,
                            message.head.bytes) != nullptr;
  }
  // Its data is on its way to memory, and what is written now comes behind that.
  template <class End>
  void finish(std::uint32_t name, End& end, const Incoming& message) {
    fabric::ViEvent event;
    event.queue = static_cast<std::uint16_t>(name);
    event.connection = static_cast<std::uint8_t>(name >> 16);
    event.status = message.is_write ? fabric::kViOpRemoteWrite : fabric::kViOpReceive;
    if (message.head.has_immediate) event.status |= fabric::kViHasImmediate;
    event.bytes = message.head.bytes;
    event.value = message.head.immediate;
    parts_.complete(end, event, message.token, message.head.immediate);
    forget(name);
  }

  Parts& parts_;
  std::map<std::uint32_t, Incoming> incoming_;  // by the name of the end that it is for
  // Receives of messages of which a part was lost: the next message's, before all that is posted.
  std::map<std::uint32_t, fabric::ViToken> resumed_;
};

}  // namespace fairlead::lci
