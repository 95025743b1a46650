// RDMA reads of the other side in a control program for virtual interfaces (VIA 1.0): they are
// looked up in the NI's own tables, and what they ask for is read from the rank's memory by DMA
// into the packets that answer. That rank has no part in it, but that it is told of a read that it
// does not permit.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "fairlead/base/ring.h"
#include "fairlead/base/step.h"
#include "fairlead/fabric/vi_message.h"
#include "fairlead/fabric/vi_rdma.h"
#include "fairlead/lci/ni/via_message_parts.h"

namespace fairlead::lci {

// Reads are answered one after the other, as they have come. What asks for one keeps its receive
// buffer until all of the answer is on its way.
template <class Hardware, class Packets>
class ViaReads {
 public:
  using PacketId = std::uint32_t;
  using Parts = ViaMessageParts<Hardware, Packets>;
  // Pieces of answers that are in NI memory, and have not left.
  static constexpr std::uint32_t kStagedMax = 8;

  // It outlives this.
  explicit ViaReads(Parts& parts) : parts_(parts) {}

  // A read, from the other side of a connection that goes on.
  void arrived(PacketId id) {
    parts_.ni.charge(Step::descriptor);
    const auto& packet = parts_.ni.packet(id);
    const auto head = fabric::ViMessageHead::read(packet.header.client.words);
    auto* const end = end_of(packet, head);
    const bool good = end != nullptr && packet.header.client.size == sizeof(fabric::ViPlace) &&
                      head.bytes <= end->transfer_max;
    if (!good) return parts_.over(id);
    if (end->reads_under_way >= fabric::kViReadsMax || memory_of(packet, head, *end) == nullptr) {
      return refuse(id, *end);
    }
    ++end->reads_under_way;
    reads_.push_back({id, 0});
  }
  // At the end of each turn: pieces that there is room for.
  void go_on() {
    staged_ -= std::min(staged_, parts_.descriptors.take_left());
    while (!reads_.empty() && staged_ < kStagedMax) serve();
  }

 private:
  struct Read {
    PacketId request;
    std::uint32_t sent;
  };

  template <class Packet>
  auto* end_of(const Packet& packet, const fabric::ViMessageHead& head) {
    auto* const end = parts_.ni.vi_table().end(head.queue);
    return end != nullptr && end->is(packet.to, head.connection) ? end : nullptr;
  }
  template <class Packet>
  static fabric::ViPlace place_of(const Packet& packet) {
    fabric::ViPlace place;
    std::memcpy(&place, packet.payload(), sizeof place);
    return place;
  }
  // The memory that it reaches; nullptr: it may not.
  template <class Packet, class End>
  auto* memory_of(const Packet& packet, const fabric::ViMessageHead& head, const End& end) {
    const fabric::ViPlace place = place_of(packet);
    auto* const memory = parts_.memory_of(end, place.handle, place.address, head.bytes);
    return memory != nullptr && memory->reads && end.reads ? memory : nullptr;
  }
  // Unreliable virtual interfaces do not read: nothing of it is said there.
  template <class End>
  void refuse(PacketId id, End& end) {
    if (end.breaks) {
      const auto& packet = parts_.ni.packet(id);
      const auto head = fabric::ViMessageHead::read(packet.header.client.words);
      parts_.tell_of(end, fabric::ViTold::read_refused);
      parts_.break_off(end, packet.header.job, head.sequence, fabric::kViRdmaProtectionError);
    }
    parts_.over(id);
  }

  // The next piece for the oldest read.
  void serve() {
    Read& read = reads_.front();
    const PacketId id = read.request;
    const auto& request = parts_.ni.packet(id);
    const auto asked = fabric::ViMessageHead::read(request.header.client.words);
    auto* const end = end_of(request, asked);
    const auto* const memory = end == nullptr ? nullptr : memory_of(request, asked, *end);
    if (memory == nullptr) {  // it was, when the read came
      reads_.pop_front();
      return end == nullptr ? parts_.over(id) : refuse(id, *end);
    }
    const fabric::ViPlace place = place_of(request);
    const std::uint32_t bytes = std::min(parts_.ni.payload_max(), asked.bytes - read.sent);
    fabric::ViMessageHead head;
    head.queue = static_cast<std::uint16_t>(request.header.job);
    head.connection = static_cast<std::uint8_t>(request.header.job >> 16);
    head.sequence = asked.sequence;
    head.offset = read.sent;
    head.bytes = asked.bytes;
    const PacketId made = parts_.make_packet(*end, fabric::ViOp::read_data, head, bytes);
    auto& piece = parts_.ni.packet(made);
    piece.cookie = place.address + read.sent;
    piece.operand = place.handle;
    piece.fetch_bytes = static_cast<std::uint16_t>(bytes);
    piece.part = read.sent > 0;
    parts_.translate(*memory, piece.cookie, bytes);
    ++staged_;
    read.sent += bytes;
    const bool all = read.sent == asked.bytes;
    if (all) --end->reads_under_way;
    parts_.packets.on_descriptor(made);
    if (!all) return;
    reads_.pop_front();
    parts_.over(id);
  }

  Parts& parts_;
  Ring<Read> reads_;
  std::uint32_t staged_ = 0;
};

}  // namespace fairlead::lci
