// Messages and RDMA of virtual interfaces in a control program (VIA 1.0; Split-C paper, section 2):
// sends and receives by the descriptors that programs have posted. The NI moves the data between
// their registered memories, and no host has a part in it until it looks at what is done.
#pragma once
#include <cstdint>

#include "fairlead/base/step.h"
#include "fairlead/fabric/vi_message.h"
#include "fairlead/fabric/vi_rdma.h"
#include "fairlead/lci/ni/via_message_parts.h"
#include "fairlead/lci/ni/via_reads.h"
#include "fairlead/lci/ni/via_receives.h"
#include "fairlead/lci/ni/via_sends.h"

namespace fairlead::lci {

template <class Hardware, class Packets>
class ViaMessages {
 public:
  using PacketId = std::uint32_t;

  // All outlive it.
  ViaMessages(Hardware& ni, ViaDescriptors<Hardware>& descriptors, Packets& packets)
      : parts_(ni, descriptors, packets), sends_(parts_), receives_(parts_), reads_(parts_) {}
  ViaMessages(const ViaMessages&) = delete;
  ViaMessages& operator=(const ViaMessages&) = delete;

  // A doorbell was found that names this send (ViaSends::posted).
  void posted(PacketId id) { sends_.posted(id); }
  // What was read from host memory has come.
  void on_descriptor(PacketId id) {
    const auto op = static_cast<fabric::ViOp>(parts_.ni.packet(id).source);
    op == fabric::ViOp::send_token ? sends_.on_descriptor(id) : receives_.on_descriptor(id);
  }
  void on_fragment(PacketId id) { sends_.on_fragment(id); }
  // A packet with this origin has left. True: it was a piece of a message, for the first time.
  bool on_transmitted(PacketId origin) { return sends_.on_transmitted(origin); }
  // What came from the other side, or a part of it, is in memory.
  void on_landed(PacketId id) {
    switch (static_cast<fabric::ViOp>(parts_.ni.packet(id).source)) {
      case fabric::ViOp::fragment:
        parts_.ni.charge(Step::dma_complete);
        return parts_.ni.free_packet(id);
      case fabric::ViOp::read_data:
        return parts_.over(id);
      default:
        receives_.on_landed(id);
    }
  }

  // At the end of each turn: what has come in it, and what there is room for.
  void go_on() {
    if (const std::uint64_t now = parts_.ni.vi_table().changes(); now != changes_seen_) {
      changes_seen_ = now;
      sends_.sweep();
      receives_.sweep();
    }
    for (PacketId id = 0; parts_.descriptors.take_message(&id);) arrived(id);
    sends_.go_on();
    reads_.go_on();
  }

 private:
  void arrived(PacketId id) {
    parts_.ni.charge(Step::dispatch);
    const auto& packet = parts_.ni.packet(id);
    const auto head = fabric::ViMessageHead::read(packet.header.client.words);
    auto* const end = parts_.ni.vi_table().end(head.queue);
    const bool good = end != nullptr && end->is(packet.to, head.connection) &&
                      end->peer == packet.header.client.source;
    if (!good) return parts_.over(id);
    switch (static_cast<fabric::ViOp>(packet.source)) {
      case fabric::ViOp::message_done:
        sends_.arrived_there(head);
        return parts_.over(id);
      case fabric::ViOp::broken:
        end->broken = end->breaks;
        parts_.tell_of(*end, fabric::ViTold::broken, head.bytes, head.sequence);
        return parts_.over(id);
      case fabric::ViOp::read:
        return reads_.arrived(id);
      case fabric::ViOp::read_data:
        return sends_.read_data_came(id, head);
      default:
        receives_.arrived(id);
    }
  }

  ViaMessageParts<Hardware, Packets> parts_;
  ViaSends<Hardware, Packets> sends_;
  ViaReceives<Hardware, Packets> receives_;
  ViaReads<Hardware, Packets> reads_;
  std::uint64_t changes_seen_ = 0;
};

}  // namespace fairlead::lci
