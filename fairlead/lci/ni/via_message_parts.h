// What sends, receives and reads of virtual interfaces share in a control program (via_sends.h,
// via_receives.h, via_reads.h): descriptors read from host memory, of which nothing is believed
// that the NI's own tables do not say, packets for the other end, and what hosts are told.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "fairlead/base/step.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/fabric/packet.h"
#include "fairlead/fabric/vi_message.h"
#include "fairlead/fabric/vi_rdma.h"
#include "fairlead/lci/ni/via_descriptors.h"

namespace fairlead::lci {

// Hardware also has vi_table(), make_data(), make_scratch(), tell(), land_rdma(), place_of(),
// rank_at(), read_word_now() and payload_max() (fabric/model/lanai/ni_hardware.h). Packets: the
// NiProgram that numbers and sends packets.
template <class Hardware, class Packets>
class ViaMessageParts {
 public:
  using PacketId = std::uint32_t;
  using ViOp = fabric::ViOp;
  using Descriptors = ViaDescriptors<Hardware>;

  // Status bits of check() that say that more is being read.
  static constexpr std::uint32_t kMore = UINT32_MAX;
  // A packet has room for each descriptor that the NI looks at.
  static constexpr std::uint32_t kDescriptorMax =
      sizeof(fabric::ViControl) + fabric::kViSegmentsMax * sizeof(fabric::ViSegment);

  // All outlive it.
  ViaMessageParts(Hardware& hardware, Descriptors& described, Packets& program)
      : ni(hardware), descriptors(described), packets(program) {}

  // --- Memory.

  // Registered memory of the rank at end.place that its virtual interface may reach; nullptr: it
  // may not, or there is none.
  template <class End>
  auto* memory_of(const End& end, std::uint32_t handle, std::uint64_t address,
                  std::uint64_t bytes) {
    const auto* const memory = ni.vi_table().memory(end.place, handle);
    const bool good =
        memory != nullptr && memory->ptag == end.ptag && memory->holds(address, bytes);
    return good ? memory : nullptr;
  }
  template <class Memory>
  void translate(const Memory& memory, std::uint64_t address, std::uint32_t bytes) {
    descriptors.translate_registered(memory, address, bytes);
  }

  // --- Descriptors. The packet holds one as far as it has been read; its place, cookie (address)
  // and operand (memory handle) are set.

  // Begins to read it. False: it is not in memory that its virtual interface may reach.
  template <class End>
  bool read(PacketId id, const End& end) {
    auto& packet = ni.packet(id);
    const auto* const memory =
        memory_of(end, handle_of(packet), packet.cookie, sizeof(fabric::ViControl));
    if (memory == nullptr) return false;
    translate(*memory, packet.cookie, sizeof(fabric::ViControl));
    const std::uint64_t left = memory->base + memory->bytes - packet.cookie;
    packet.fetch_bytes =
        static_cast<std::uint16_t>(std::min<std::uint64_t>(Descriptors::kDescriptorBytes, left));
    packet.page_bytes = 0;
    descriptors.read_for_message(id, Descriptors::Read::message_descriptor);
    return true;
  }
  // What was read has come. Returns 0: all of it is there, and looks like a descriptor; kMore: the
  // rest is being read; else what its status is to say.
  template <class End>
  std::uint32_t check(PacketId id, const End& end) {
    auto& packet = ni.packet(id);
    const fabric::ViControl its = control(id);
    if (its.segments > fabric::kViSegmentsMax || (its.control & fabric::kViReserved) != 0) {
      return fabric::kViFormatError;
    }
    const std::uint32_t have = packet.page_bytes + packet.fetch_bytes;
    const std::uint32_t whole =
        sizeof(fabric::ViControl) + its.segments * std::uint32_t{sizeof(fabric::ViSegment)};
    if (whole <= have) {
      packet.page_bytes = packet.fetch_bytes = 0;
      return 0;
    }
    packet.cookie += have;
    const auto* const memory = memory_of(end, handle_of(packet), packet.cookie, whole - have);
    if (memory == nullptr || packet.page_bytes != 0) return fabric::kViProtectionError;
    translate(*memory, packet.cookie, whole - have);
    packet.page_bytes = static_cast<std::uint16_t>(have);
    packet.fetch_bytes = static_cast<std::uint16_t>(whole - have);
    descriptors.read_for_message(id, Descriptors::Read::message_descriptor);
    return kMore;
  }
  fabric::ViControl control(PacketId id) const {
    fabric::ViControl made;
    std::memcpy(&made, ni.packet(id).payload(), sizeof made);
    return made;
  }
  fabric::ViSegment segment(PacketId id, std::uint32_t i) const {
    fabric::ViSegment made;
    std::memcpy(&made, ni.packet(id).payload() + sizeof(fabric::ViControl) + i * sizeof made,
                sizeof made);
    return made;
  }
  // Bytes of the segments [first, count).
  std::uint64_t bytes_of(PacketId id, std::uint32_t first, std::uint32_t count) const {
    std::uint64_t bytes = 0;
    for (std::uint32_t i = first; i < count; ++i) bytes += segment(id, i).length;
    return bytes;
  }
  // Calls f(ViSegment) for each piece of memory that the bytes [offset, offset + bytes) of those
  // segments lie in.
  template <class F>
  void for_bytes(PacketId id, std::uint32_t first, std::uint32_t count, std::uint64_t offset,
                 std::uint64_t bytes, F&& f) const {
    for (std::uint32_t i = first; i < count && bytes > 0; ++i) {
      const fabric::ViSegment its = segment(id, i);
      if (offset >= its.length) {
        offset -= its.length;
        continue;
      }
      const std::uint64_t part = std::min<std::uint64_t>(bytes, its.length - offset);
      f(fabric::ViSegment{its.address + offset, its.handle, static_cast<std::uint32_t>(part)});
      offset = 0;
      bytes -= part;
    }
  }
  // Whether the virtual interface may reach all of those.
  template <class End>
  bool permits(PacketId id, const End& end, std::uint32_t first, std::uint32_t count,
               std::uint64_t offset, std::uint64_t bytes) {
    bool good = true;
    for_bytes(id, first, count, offset, bytes, [&](const fabric::ViSegment& part) {
      good = good && memory_of(end, part.handle, part.address, part.length) != nullptr;
    });
    return good;
  }

  // Moves the data of a packet, which begin at byte `at` of its payload, to the bytes from `offset`
  // on of those segments; what goes elsewhere than its last bytes as packets of its own. `name`: of
  // the end that it is for. The virtual interface may reach all of that.
  template <class End>
  void scatter(PacketId id, std::uint32_t name, const End& end, std::uint32_t at,
               PacketId descriptor, std::uint32_t first, std::uint32_t count,
               std::uint32_t offset) {
    const std::uint32_t data = ni.packet(id).header.client.size - at;
    for_bytes(descriptor, first, count, offset, data, [&](const fabric::ViSegment& part) {
      land(id, name, end, at, part);
      at += part.length;
    });
  }
  // As before, of `part.length` bytes, to one place.
  template <class End>
  void land(PacketId id, std::uint32_t name, const End& end, std::uint32_t at,
            const fabric::ViSegment& part) {
    const auto* const memory = memory_of(end, part.handle, part.address, part.length);
    translate(*memory, part.address, part.length);
    PacketId leaving = id;
    if (at + part.length == ni.packet(id).header.client.size) {
      ni.packet(id).page_bytes = static_cast<std::uint16_t>(at);
    } else {
      leaving = fragment(id, name, at, part.length);
    }
    auto& packet = ni.packet(leaving);
    packet.cookie = part.address;
    packet.operand = part.handle;
    ni.charge(Step::dma_program);
    ni.charge(Step::dma_queue);
    ni.land_rdma(leaving);
  }

  // --- The other end, and the host.

  // A packet for it, with room for `bytes`, which head and operation name.
  template <class End>
  PacketId make_packet(const End& end, ViOp op, const fabric::ViMessageHead& head,
                       std::uint32_t bytes) {
    const PacketId made = ni.make_data(bytes);
    auto& packet = ni.packet(made);
    packet.header.client.chan = end.chan;
    packet.header.client.source = ni.rank_at(end.place);
    packet.header.client.size = bytes;
    head.write(packet.header.client.words);
    packet.header.dest_rank = end.peer;
    packet.header.job = name_of(end.queue, end.connection);  // whom to answer
    packet.peer = ni.node_of(end.peer);
    packet.place = static_cast<std::uint8_t>(end.place);
    packet.to = static_cast<std::uint8_t>(ni.place_of(end.peer));
    packet.source = static_cast<std::uint8_t>(op);
    return made;
  }
  // An answer of no data to what came from the interface of that name, at the other end.
  template <class End>
  void answer(const End& end, ViOp op, std::uint32_t name, std::uint16_t sequence,
              std::uint32_t status) {
    fabric::ViMessageHead head;
    head.queue = static_cast<std::uint16_t>(name);
    head.connection = static_cast<std::uint8_t>(name >> 16);
    head.sequence = sequence;
    head.bytes = status;
    packets.on_descriptor(make_packet(end, op, head, 0));
  }
  // Breaks the connection for what became of an operation. `status`: of it, at the other end, where
  // it has that number; 0: it is none of that one's.
  template <class End>
  void break_off(End& end, std::uint32_t name, std::uint16_t sequence, std::uint32_t status) {
    end.broken = true;
    answer(end, ViOp::broken, name, sequence, status);
  }
  // As before, for something of this end.
  template <class End>
  void break_off(End& end) {
    break_off(end, name_of(end.peer_queue, end.peer_connection), 0, 0);
  }

  // A descriptor is done, as `event` says, of a queue of sends or of receives. Where that has a
  // completion queue whose entries are counted (ViRdma::count_entries), and which is full still
  // when its consumer index is read, no entry is written, and the connection is broken.
  template <class End>
  void complete(End& end, fabric::ViEvent event, const fabric::ViToken& token,
                std::uint32_t immediate) {
    const bool of_receives = event.what == fabric::ViTold::received;
    const bool has_entry = of_receives ? end.receive_entries : end.send_entries;
    const std::uint16_t number = has_entry ? end.entries_of[of_receives ? 1 : 0] : std::uint16_t{0};
    if (number == 0) return tell(end, event, token, immediate, has_entry);
    auto* const entries = ni.vi_table().entries(end.place, number);
    if (entries == nullptr) return tell(end, event, token, immediate, false);  // it is no more
    event.overrun = !has_room(end, *entries);
    if (!event.overrun) {
      ++entries->produced;
      event.entry = number;
    }
    tell(end, event, token, immediate, !event.overrun);
    if (event.overrun && !end.broken) break_off(end);
  }

  // What has happened to a connection, of no descriptor.
  template <class End>
  void tell_of(const End& end, fabric::ViTold what, std::uint32_t status = 0,
               std::uint16_t sequence = 0) {
    tell(end, {what, static_cast<std::uint16_t>(end.queue), end.connection, status, 0, sequence},
         {}, 0, false);
  }
  // `token`: the descriptor that is done, into which immediate data, length and status are written;
  // address 0: none is.
  template <class End>
  void tell(const End& end, const fabric::ViEvent& event, const fabric::ViToken& token,
            std::uint32_t immediate, bool has_entry) {
    const bool has_status = token.address != 0;
    const PacketId made = ni.make_scratch(3 * sizeof(std::uint32_t));
    auto& packet = ni.packet(made);
    packet.header.client.lane = kReplyLane;
    packet.header.client.chan = end.chan;
    packet.header.client.source = ni.rank_at(end.place);
    packet.header.dest_rank = packet.header.client.source;
    event.write(packet.header.client.words);
    packet.place = packet.to = static_cast<std::uint8_t>(end.place);
    packet.source = static_cast<std::uint8_t>(ViOp::told);
    packet.cookie = token.address;
    packet.operand = token.handle;
    const std::uint32_t written[] = {immediate, event.bytes, event.status | fabric::kViDone};
    std::memcpy(packet.payload(), written, sizeof written);
    ni.charge(Step::status);  // with the entry, as for the Port's packets
    ni.tell(made, has_status && has_entry);
  }
  // A packet from the network is done with, and its receive buffer free.
  void over(PacketId id) {
    const Peer peer = ni.packet(id).peer;
    ni.free_packet(id);
    packets.on_landed(fabric::kNoPacket, peer);
  }

  static std::uint32_t name_of(std::uint32_t queue, std::uint8_t connection) {
    return (queue & 0xffff) | std::uint32_t{connection} << 16;
  }
  template <class Packet>
  static std::uint32_t handle_of(const Packet& packet) {
    return static_cast<std::uint32_t>(packet.operand);
  }
  // Bytes of a packet that come before its data.
  template <class Packet>
  static std::uint32_t before_data(const Packet& packet) {
    const bool has_place = packet.source == static_cast<std::uint8_t>(ViOp::message_write) ||
                           packet.source == static_cast<std::uint8_t>(ViOp::read);
    return has_place ? sizeof(fabric::ViPlace) : 0;
  }

  Hardware& ni;
  Descriptors& descriptors;
  Packets& packets;

 private:
  PacketId fragment(PacketId id, std::uint32_t name, std::uint32_t at, std::uint32_t bytes) {
    const PacketId made = ni.make_scratch(bytes);
    auto& packet = ni.packet(made);
    const auto& whole = ni.packet(id);
    packet.source = static_cast<std::uint8_t>(ViOp::fragment);
    packet.place = packet.to = whole.to;
    packet.peer = whole.peer;
    packet.header.client.size = bytes;
    packet.header.client.words[0] = name;
    std::memcpy(packet.payload(), whole.payload() + at, bytes);
    return made;
  }

  template <class End, class Entries>
  bool has_room(const End& end, Entries& entries) {
    if (!entries.looks_full()) return true;
    std::uint32_t index = 0;
    ni.charge(Step::dma_program);
    if (ni.read_word_now(end.place, entries.consumed_at, &index)) entries.read(index);
    return !entries.looks_full();
  }

  static constexpr std::uint8_t kReplyLane = 1;  // Lane::reply
};

}  // namespace fairlead::lci
