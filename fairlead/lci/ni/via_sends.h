// Sends of virtual interfaces in a control program (VIA 1.0): a token from a doorbell, the
// descriptor that it names, its data gathered by DMA into packets, and its status when it is over.
// An RDMA read sends what it asks for, and its descriptor says where the answer belongs.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>

#include "fairlead/base/ring.h"
#include "fairlead/base/step.h"
#include "fairlead/fabric/vi_message.h"
#include "fairlead/fabric/vi_rdma.h"
#include "fairlead/lci/ni/via_message_parts.h"

namespace fairlead::lci {

// Messages leave one after the other, in the order in which their doorbells were found. A send
// whose end of a connection is gone, or broken, comes to nothing: its host has flushed it.
template <class Hardware, class Packets>
class ViaSends {
 public:
  using PacketId = std::uint32_t;
  using Parts = ViaMessageParts<Hardware, Packets>;
  using ViOp = fabric::ViOp;
  // Pieces of messages that are in NI memory, and have not left.
  static constexpr std::uint32_t kStagedMax = 8;

  // It outlives this.
  explicit ViaSends(Parts& parts) : parts_(parts) {}

  // A doorbell's token: packet.cookie is the descriptor's address, and the words are a
  // ViMessageHead of this end, with the memory handle as immediate data.
  void posted(PacketId id) {
    auto& packet = parts_.ni.packet(id);
    const auto head = fabric::ViMessageHead::read(packet.header.client.words);
    packet.operand = head.immediate;
    Message& made = messages_[id];
    made = {};
    made.token = {packet.cookie, head.immediate, head.sequence, head.connection};
    made.place = packet.place;
    made.queue = head.queue;
    queue_.push_back(id);
    auto* const end = end_of(made);
    if (end == nullptr) {
      made.is_read = true;
    } else if (!parts_.read(id, *end)) {
      made.is_read = true;
      made.status = fabric::kViProtectionError;
    }
  }
  // Its descriptor, or the first part of it, is in NI memory.
  void on_descriptor(PacketId id) {
    Message& message = messages_.at(id);
    auto* const end = end_of(message);
    if (end != nullptr) {
      message.status = parts_.check(id, *end);
      if (message.status == Parts::kMore) return;
      if (message.status == 0) message.status = look_at(id, message, *end);
    }
    message.is_read = true;
  }
  // What a packet gathers from elsewhere in host memory than its last bytes.
  void on_fragment(PacketId id) {
    const auto& fragment = parts_.ni.packet(id);
    auto& whole = parts_.ni.packet(fragment.header.client.words[0]);
    std::memcpy(whole.payload() + fragment.header.client.words[1], fragment.payload(),
                fragment.fetch_bytes);
    parts_.ni.free_packet(id);
  }
  // A packet with this origin has left for the network: of a flow that sends again the packet that
  // it keeps, else the token. True: it was a piece of a message, for the first time.
  bool on_transmitted(PacketId origin) {
    PacketId id = origin;
    if constexpr (Packets::kRetransmits) {
      const auto found = pieces_.find(origin);
      if (found == pieces_.end()) return false;
      id = found->second;
      pieces_.erase(found);
    } else if (parts_.ni.packet(id).source != static_cast<std::uint8_t>(ViOp::send_token)) {
      return false;
    }
    parts_.ni.charge(Step::transmit_done);
    --staged_;
    --messages_.at(id).under_way;
    finish(id);
    return true;
  }
  // The other side has it in memory.
  void arrived_there(const fabric::ViMessageHead& head) {
    const auto found = find(head, false);
    if (found == messages_.end()) return;
    found->second.has_arrived = true;
    finish(found->first);
  }
  // A piece of what was read, from the other side of a connection that goes on.
  void read_data_came(PacketId id, const fabric::ViMessageHead& head) {
    const auto found = find(head, true);
    const std::uint32_t data = parts_.ni.packet(id).header.client.size;
    const bool good = found != messages_.end() && found->second.all_made &&
                      found->second.under_way == 0 && head.bytes == found->second.bytes &&
                      head.offset == found->second.got && data <= head.bytes - head.offset;
    if (!good) return parts_.over(id);
    Message& message = found->second;
    auto* const end = end_of(message);  // there is one: it goes on
    if (!parts_.permits(found->first, *end, 1, message.segments, head.offset, data)) {
      parts_.over(id);
      return fail(found->first, message, *end, fabric::kViProtectionError);
    }
    ++parts_.ni.counters().packets_received;
    parts_.ni.counters().bytes_received += data;
    message.got += data;
    if (data > 0) {
      parts_.scatter(id, Parts::name_of(head.queue, head.connection), *end, 0, found->first, 1,
                     message.segments, head.offset);
    } else {
      parts_.over(id);
    }
    if (message.got < message.bytes) return;
    message.has_arrived = true;
    finish(found->first);
  }

  // At the end of each turn: pieces that there is room for.
  void go_on() {
    while (!queue_.empty() && staged_ < kStagedMax && serve(queue_.front())) {
    }
  }
  // Ends of connections are gone: what waits for their other ends does so no more.
  void sweep() {
    for (auto at = messages_.begin(); at != messages_.end();) {
      const PacketId id = at->first;
      const Message& message = (at++)->second;
      if (message.all_made && message.under_way == 0 && end_of(message) == nullptr) drop(id);
    }
  }

 private:
  struct Message {
    fabric::ViToken token{};
    std::uint32_t place = 0;
    std::uint32_t queue = 0;
    std::uint32_t status = 0;  // what is wrong with its descriptor
    std::uint32_t bytes = 0;
    std::uint32_t made = 0;       // of these, in packets
    std::uint32_t under_way = 0;  // packets that have not left
    std::uint32_t got = 0;        // of a read
    std::uint32_t segments = 0;   // with the address segment of RDMA
    std::uint32_t immediate = 0;
    fabric::ViSegment remote{};  // of RDMA
    ViOp op = ViOp::message;
    bool has_immediate = false;
    bool is_read = false;      // its descriptor
    bool all_made = false;     // into packets
    bool has_arrived = false;  // in the other side's memory, or what was read in this one's

    bool reads() const { return op == ViOp::read; }
    bool is_rdma() const { return op != ViOp::message; }
    std::uint32_t first() const { return is_rdma() ? 1 : 0; }
    // That its packets carry.
    std::uint32_t data() const { return reads() ? 0 : bytes; }
    std::uint32_t op_status() const {
      return reads() ? fabric::kViOpRdmaRead : is_rdma() ? fabric::kViOpRdmaWrite : 0;
    }
  };

  auto find(const fabric::ViMessageHead& head, bool reads) {
    return std::find_if(messages_.begin(), messages_.end(), [&](const auto& each) {
      const Message& message = each.second;
      return message.queue == head.queue && message.token.connection == head.connection &&
             message.token.sequence == head.sequence && message.reads() == reads;
    });
  }

  auto* end_of(const Message& message) {
    auto* const end = parts_.ni.vi_table().end(message.queue);
    const bool good = end != nullptr && end->is(message.place, message.token.connection);
    return good ? end : nullptr;
  }

  // What the descriptor says, and what is wrong with it.
  template <class End>
  std::uint32_t look_at(PacketId id, Message& message, const End& end) {
    const fabric::ViControl its = parts_.control(id);
    const std::uint16_t op = its.control & fabric::kViOpMask;
    if (op > fabric::kViOpRead) return fabric::kViFormatError;
    message.op = op == fabric::kViOpRead    ? ViOp::read
                 : op == fabric::kViOpWrite ? ViOp::message_write
                                            : ViOp::message;
    message.has_immediate = (its.control & fabric::kViImmediate) != 0;
    message.immediate = its.immediate;
    message.segments = its.segments;
    if (message.is_rdma() && its.segments == 0) return fabric::kViFormatError;
    // Unreliable virtual interfaces do not read.
    if (message.reads() && (message.has_immediate || !end.breaks)) return fabric::kViFormatError;
    if (message.is_rdma()) message.remote = parts_.segment(id, 0);
    const std::uint64_t bytes = parts_.bytes_of(id, message.first(), message.segments);
    if (bytes > end.transfer_max) return fabric::kViLengthError;
    message.bytes = static_cast<std::uint32_t>(bytes);
    return parts_.permits(id, end, message.first(), message.segments, 0, bytes)
               ? 0
               : fabric::kViProtectionError;
  }

  // Goes on with the oldest message. False: it waits.
  bool serve(PacketId id) {
    Message& message = messages_.at(id);
    if (!message.is_read) return false;
    auto* const end = end_of(message);
    if (end == nullptr) {
      message.all_made = true;
      queue_.pop_front();
      finish(id);
      return true;
    }
    const std::uint32_t bytes = std::min(room(message), message.data() - message.made);
    if (message.status == 0 &&
        !parts_.permits(id, *end, message.first(), message.segments, message.made, bytes)) {
      message.status = fabric::kViProtectionError;  // it was, when the descriptor was read
    }
    if (message.status == 0) {
      make_piece(id, message, *end, bytes);
      if (message.made < message.data()) return true;
      message.all_made = true;
      queue_.pop_front();
      return true;
    }
    // Those before it are over first.
    if (staged_ > 0) return false;
    queue_.pop_front();
    fail(id, message, *end, message.status);
    return true;
  }
  static std::uint32_t before_data(const Message& message) {
    return message.is_rdma() ? sizeof(fabric::ViPlace) : 0;
  }
  std::uint32_t room(const Message& message) const {
    return parts_.ni.payload_max() - before_data(message);
  }
  // What is wrong with it breaks what is reliable.
  template <class End>
  void fail(PacketId id, const Message& message, End& end, std::uint32_t status) {
    tell(message, end, status);
    if (end.breaks && !end.broken) parts_.break_off(end);
    drop(id);
  }

  template <class End>
  void make_piece(PacketId id, Message& message, const End& end, std::uint32_t bytes) {
    fabric::ViMessageHead head;
    head.queue = end.peer_queue;
    head.connection = end.peer_connection;
    head.has_immediate = message.has_immediate;
    head.sequence = message.token.sequence;
    head.offset = message.made;
    head.bytes = message.bytes;
    head.immediate = message.immediate;
    const PacketId made = parts_.make_packet(end, message.op, head, before_data(message) + bytes);
    auto& piece = parts_.ni.packet(made);
    if constexpr (Packets::kRetransmits) {
      pieces_[made] = id;
    } else {
      piece.origin = id;
    }
    if (message.is_rdma()) {
      const fabric::ViPlace place{message.remote.address, message.remote.handle, 0};
      std::memcpy(piece.payload(), &place, sizeof place);
    }
    gather(id, made, message, end, bytes);
    ++staged_;
    ++message.under_way;
    piece.part = message.made > 0;
    if (piece.part) ++parts_.ni.counters().parts_sent;
    message.made += bytes;
    ++parts_.ni.counters().packets_sent;
    parts_.ni.counters().bytes_sent += bytes;
    parts_.packets.on_descriptor(made);
  }
  // Reads what comes before the last piece of memory; that one is the packet's own to fetch.
  template <class End>
  void gather(PacketId id, PacketId made, const Message& message, const End& end,
              std::uint32_t bytes) {
    auto& piece = parts_.ni.packet(made);
    std::uint32_t at = Parts::before_data(piece);
    const std::uint32_t last = at + bytes;
    parts_.for_bytes(
        id, message.first(), message.segments, message.made, bytes,
        [&](const fabric::ViSegment& part) {
          const auto* const memory = parts_.memory_of(end, part.handle, part.address, part.length);
          parts_.translate(*memory, part.address, part.length);
          const bool is_last = at + part.length == last;
          const PacketId into = is_last ? made : parts_.ni.make_scratch(part.length);
          auto& packet = parts_.ni.packet(into);
          packet.cookie = part.address;
          packet.operand = part.handle;
          packet.fetch_bytes = static_cast<std::uint16_t>(part.length);
          if (is_last) {
            packet.page_bytes = static_cast<std::uint16_t>(at);
          } else {
            packet.place = piece.place;
            packet.source = static_cast<std::uint8_t>(ViOp::fragment);
            packet.header.client.words[0] = made;
            packet.header.client.words[1] = at;
            parts_.descriptors.read_for_message(into, Parts::Descriptors::Read::fragment);
          }
          at += part.length;
        });
  }

  // All of it has left, and has arrived where somebody waits for that.
  void finish(PacketId id) {
    Message& message = messages_.at(id);
    if (!message.all_made || message.under_way > 0) return;
    auto* const end = end_of(message);
    if (end == nullptr) return drop(id);
    if ((end->tells || message.reads()) && !message.has_arrived) return;
    tell(message, *end, 0);
    drop(id);
  }
  template <class End>
  void tell(const Message& message, End& end, std::uint32_t status) {
    fabric::ViEvent event;
    event.what = fabric::ViTold::sent;
    event.queue = static_cast<std::uint16_t>(message.queue);
    event.connection = message.token.connection;
    event.status = status | message.op_status();
    event.bytes = status == 0 ? message.bytes : 0;
    event.value = message.token.sequence;
    parts_.complete(end, event, message.token, message.immediate);
  }
  void drop(PacketId id) {
    messages_.erase(id);
    parts_.ni.free_packet(id);
  }

  Parts& parts_;
  std::map<PacketId, Message> messages_;  // by token
  std::map<PacketId, PacketId> pieces_;   // that have not left, where they are kept: their tokens
  Ring<PacketId> queue_;                  // those of which packets are to be made
  std::uint32_t staged_ = 0;
};

}  // namespace fairlead::lci
