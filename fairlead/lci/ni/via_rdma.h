// RDMA in a control program for virtual interfaces (VIA 1.0): writes and reads of the other side
// are looked up in the NI's own tables and moved by DMA, and the rank whose memory that is has no
// part in it. What is not permitted goes to that rank's library, which ends the connection and says
// why.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>

#include "fairlead/base/ring.h"
#include "fairlead/base/step.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/fabric/packet.h"
#include "fairlead/fabric/vi_rdma.h"
#include "fairlead/lci/ni/via_descriptors.h"

namespace fairlead::lci {

// Hardware also has vi_table(), make_data(), land_rdma() and payload_max()
// (fabric/model/lanai/ni_hardware.h). Packets: the NiProgram that numbers and sends packets.
template <class Hardware, class Packets>
class ViaRdma {
 public:
  using PacketId = std::uint32_t;
  // Pieces of reads that are in NI memory, and have not left.
  static constexpr std::uint32_t kStagedMax = 8;

  // All outlive it.
  ViaRdma(Hardware& ni, ViaDescriptors<Hardware>& descriptors, Packets& packets)
      : ni_(ni), descriptors_(descriptors), packets_(packets) {}

  // At the end of each turn: what has come in it, and pieces of reads that there is room for.
  void go_on() {
    for (PacketId id = 0; descriptors_.take_rdma(&id);) arrived(id);
    staged_ -= std::min(staged_, descriptors_.take_left());
    while (!reads_.empty() && staged_ < kStagedMax) serve();
  }

  // The data of a write is in its rank's memory.
  void landed(PacketId id) {
    const auto& packet = ni_.packet(id);
    const fabric::RdmaHead head = head_of(packet);
    const std::uint32_t data = data_of(packet);
    if (head.wants_done != 0 && head.offset + data == head.bytes) {
      const PacketId made = answer(id, head, fabric::ViOp::done, 0, 0);
      packets_.on_descriptor(made);
    }
    over(id);
  }

 private:
  using ViOp = fabric::ViOp;

  // A read; its request keeps its receive buffer until all of it is on its way.
  struct Read {
    PacketId request;
    std::uint32_t sent;
  };

  template <class Packet>
  static fabric::RdmaHead head_of(const Packet& packet) {
    fabric::RdmaHead head;
    std::memcpy(&head, packet.payload(), sizeof head);
    return head;
  }
  // Bytes behind the head.
  template <class Packet>
  static std::uint32_t data_of(const Packet& packet) {
    return packet.header.client.size - static_cast<std::uint32_t>(sizeof(fabric::RdmaHead));
  }
  // The operation has been performed, or was no operation of a connection.
  void over(PacketId id) {
    const Peer peer = ni_.packet(id).peer;
    ni_.free_packet(id);
    packets_.on_landed(fabric::kNoPacket, peer);
  }

  // The end of the connection that the operation names; nullptr: it has none (any more).
  template <class Packet>
  auto* end_of(const Packet& packet, const fabric::RdmaHead& head) {
    auto* const end = ni_.vi_table().end(head.queue);
    const bool good = end != nullptr && end->place == packet.to &&
                      end->peer == packet.header.client.source &&
                      end->connection == head.connection && !end->broken;
    return good ? end : nullptr;
  }
  // The memory that it reaches; nullptr: it may not.
  template <class Packet, class End>
  auto* memory_of(const Packet& packet, const fabric::RdmaHead& head, const End& end, bool writes) {
    const auto* const memory = ni_.vi_table().memory(packet.to, head.handle);
    const bool good = memory != nullptr && memory->ptag == end.ptag &&
                      (writes ? memory->writes && end.writes : memory->reads && end.reads) &&
                      memory->holds(head.address, head.bytes);
    return good ? memory : nullptr;
  }

  void arrived(PacketId id) {
    ni_.charge(Step::descriptor);
    auto& packet = ni_.packet(id);
    if (packet.header.client.size < sizeof(fabric::RdmaHead)) return over(id);
    const fabric::RdmaHead head = head_of(packet);
    auto* const end = end_of(packet, head);
    if (end == nullptr) return over(id);
    const bool writes = static_cast<ViOp>(packet.source) == ViOp::write;
    const std::uint32_t data = data_of(packet);
    const bool fits = writes ? head.offset <= head.bytes && data <= head.bytes - head.offset
                             : end->reads_under_way < fabric::kViReadsMax;
    const auto* const memory = memory_of(packet, head, *end, writes);
    if (!fits || memory == nullptr) return refuse(id, *end);
    if (!writes) {
      ++end->reads_under_way;
      reads_.push_back({id, 0});
      return;
    }
    if (data == 0) return landed(id);
    packet.cookie = head.address + head.offset;
    packet.page_bytes = sizeof head;
    translate(*memory, packet.cookie, data);
    ni_.charge(Step::dma_program);
    ni_.charge(Step::dma_queue);
    ni_.land_rdma(id);
  }
  template <class End>
  void refuse(PacketId id, End& end) {
    end.broken = end.breaks;
    descriptors_.hand_over(id);
  }

  template <class Memory>
  void translate(const Memory& memory, std::uint64_t address, std::uint32_t bytes) {
    const std::uint64_t last = memory.page_of(address + std::max(bytes, 1U) - 1);
    for (std::uint64_t page = memory.page_of(address); page <= last; ++page) {
      descriptors_.translate_registered(page);
    }
  }

  // The next piece of the oldest read.
  void serve() {
    Read& read = reads_.front();
    const auto& request = ni_.packet(read.request);
    const fabric::RdmaHead head = head_of(request);
    auto* const end = end_of(request, head);
    const auto* const memory = end == nullptr ? nullptr : memory_of(request, head, *end, false);
    if (memory == nullptr) {  // it was, when the read came
      const PacketId id = read.request;
      reads_.pop_front();
      return end == nullptr ? over(id) : refuse(id, *end);
    }
    const std::uint32_t bytes = std::min(ni_.payload_max(), head.bytes - read.sent);
    const std::uint64_t from = head.address + read.sent;
    const PacketId made = answer(read.request, head, ViOp::read_data, read.sent, bytes);
    ni_.packet(made).cookie = from;
    ni_.packet(made).page_bytes = read.sent + bytes < head.bytes ? 1 : 0;
    ni_.packet(made).fetch_bytes = static_cast<std::uint16_t>(bytes);
    translate(*memory, from, bytes);
    ++staged_;
    read.sent += bytes;
    packets_.on_descriptor(made);
    if (read.sent < head.bytes) return;
    --end->reads_under_way;
    const PacketId id = read.request;
    reads_.pop_front();
    over(id);
  }

  // A packet that answers this request.
  PacketId answer(PacketId to, const fabric::RdmaHead& head, ViOp op, std::uint32_t offset,
                  std::uint32_t bytes) {
    const PacketId made = ni_.make_data(bytes);
    const auto& request = ni_.packet(to);
    auto& packet = ni_.packet(made);
    fabric::ClientHeader& client = packet.header.client;
    client.lane = kReplyLane;
    client.chan = request.header.client.chan;
    client.source = request.header.dest_rank;
    client.size = bytes;
    std::memcpy(client.words, head.answer, sizeof client.words);
    client.words[1] += offset;
    packet.header.dest_rank = request.header.client.source;
    packet.peer = request.peer;
    packet.place = request.to;
    packet.to = request.place;
    packet.source = static_cast<std::uint8_t>(op);
    return made;
  }

  static constexpr std::uint8_t kReplyLane = 1;  // Lane::reply

  Hardware& ni_;
  ViaDescriptors<Hardware>& descriptors_;
  Packets& packets_;
  std::deque<Read> reads_;
  std::uint32_t staged_ = 0;
};

}  // namespace fairlead::lci
