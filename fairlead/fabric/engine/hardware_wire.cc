// What an NI engine's hardware puts on the wire to other engines, and takes off it.
#include <algorithm>
#include <array>
#include <cstring>

#include "fairlead/fabric/engine/hardware.h"

namespace fairlead::fabric::engine {
namespace {

// Looked at in one round: nobody waits long for the ranks.
constexpr int kWireBudget = 64;
// Handed to the wire by one call.
constexpr std::size_t kBatch = 32;
// What the wire does not take is lost from here on, and sent again in time.
constexpr std::size_t kLeavingMax = 1024;

bool is_word(PacketKind kind) {
  return kind == PacketKind::fetch_add || kind == PacketKind::fetch_add_reply;
}
bool is_control(PacketKind kind) { return kind == PacketKind::ack || kind == PacketKind::resend; }

}  // namespace

int EngineHardware::poll_wire() {
  return options_.nodes.count() > 1 ? wire_.reap(kWireBudget, kAllLanes) : 0;
}

Keep EngineHardware::on_arrived(void* self, const Incoming& incoming) {
  static_cast<EngineHardware*>(self)->arrived(incoming);
  return Keep::no;
}

void EngineHardware::arrived(const Incoming& incoming) {
  NiPacket came{};
  Rank target = kNone;
  std::span<const std::byte> payload = incoming.payload;
  if (!unpack(incoming, came, &target, &payload)) {
    ++counters().corrupt_dropped;
    return;
  }
  const PacketId id = take_slot();
  came.id = id;
  came.origin = kNoPacket;
  slot(id).packet = came;
  slot(id).target = target;
  const std::uint32_t block = take_block(payload);
  slot(id).block = block;
  if (block != kNone) ++blocks_[block].uses;
  sink_.received(sink_.context, id);
  // Somebody still needs what the wire is about to take back.
  if (block == kNone) return;
  if (blocks_[block].uses > 1) own(blocks_[block], payload.size());
  drop_block(block);
}

// What another NI put on the wire, or what somebody made of it. `target`: the rank it is for.
bool EngineHardware::unpack(const Incoming& incoming, NiPacket& packet, Rank* target,
                            std::span<const std::byte>* payload) {
  packet.header = *incoming.header;
  packet.peer = incoming.source;
  ClientHeader& header = packet.header.client;
  if (header.lane >= kLanes) {
    // A further rail's: copies and what acknowledges them.
    const std::uint32_t stripe = header.lane - kLanes + 1;
    if (stripe >= rails_) return false;
    if (!is_control(header.kind) && header.kind != PacketKind::copy_piece) return false;
    packet.peer += options_.nodes.count() * stripe;
  }
  const Rank source = header.stamp;
  header.stamp = 0;
  header.source = source;
  if (is_control(header.kind)) {
    *payload = {};
    return header.size == 0;
  }
  const NodeMap& nodes = options_.nodes;
  if (source >= nodes.ranks() || payload->size() > kPayloadMax + sizeof(WireExtra)) return false;
  *target = packet.header.dest_rank;
  if (header.kind != PacketKind::data) {
    WireExtra extra;
    if (payload->size() < sizeof extra) return false;
    std::memcpy(&extra, payload->data(), sizeof extra);
    *payload = payload->subspan(sizeof extra);
    packet.operand = extra.operand;
    packet.cookie = extra.cookie;
    if (header.kind == PacketKind::multicast) *target = extra.target;
    if (header.kind == PacketKind::copy_piece) {
      if (extra.lane >= kLanes) return false;
      header.lane = static_cast<std::uint8_t>(extra.lane);
    }
  }
  header.size = static_cast<std::uint32_t>(payload->size());
  if (header.size > kPayloadMax) return false;
  switch (header.kind) {
    case PacketKind::data:
    case PacketKind::copy_piece:
      return nodes.node_of(source) == incoming.source;
    case PacketKind::multicast:
      // Only of group 0 do NIs pass on what others sent, and never to where it came from.
      return *target == kEveryRank ? packet.header.dest_rank == 0 && nodes.node_of(source) != self()
                                   : packet.header.dest_rank != 0;
    case PacketKind::fetch_add:
      return nodes.node_of(source) == incoming.source && header.size == 0;
    case PacketKind::fetch_add_reply:
      return header.size == 0;
    default:
      return false;
  }
}

void EngineHardware::transmit(Peer flow, PacketId id) {
  if (leaving_[flow].empty()) leaving_flows_.push_back(flow);
  leaving_[flow].push_back(id);
}

void EngineHardware::flush_flow(Peer flow) {
  const Peer peer = flow % options_.nodes.count();
  const std::uint32_t stripe = flow / options_.nodes.count();
  Ring<PacketId>& leaving = leaving_[flow];
  std::array<WireExtra, kBatch> extras;
  while (!leaving.empty()) {
    batch_.clear();
    for (std::size_t i = 0; i < std::min(leaving.size(), kBatch); ++i) {
      const Slot& from = slot(leaving[i]);
      const fabric::ClientHeader& header = from.packet.header.client;
      Outgoing& out = batch_.emplace_back();
      out.header = from.packet.header;
      out.header.client.stamp = header.source;
      out.header.client.source = self();
      if (stripe > 0) out.header.client.lane = static_cast<std::uint8_t>(kLanes + stripe - 1);
      out.data = from.block == kNone ? nullptr : blocks_[from.block].data;
      if (header.kind == PacketKind::data || is_control(header.kind)) continue;
      if (is_word(header.kind)) out.header.client.size = 0;
      out.header.client.size += static_cast<std::uint32_t>(sizeof(WireExtra));
      extras[i] = {from.packet.operand, from.packet.cookie, from.target, header.lane};
      std::byte* at = reinterpret_cast<std::byte*>(&extras[i]);
      if (from.block != kNone) {
        at = writable(from.block) - sizeof(WireExtra);
        std::memcpy(at, &extras[i], sizeof(WireExtra));
      }
      out.data = at;
    }
    const std::size_t went = wire_.post_many(peer, batch_);
    for (std::size_t i = 0; i < went; ++i, leaving.pop_front()) free_packet(leaving.front());
    if (went < batch_.size()) break;
  }
  for (; leaving.size() > kLeavingMax; leaving.pop_front()) free_packet(leaving.front());
}

}  // namespace fairlead::fabric::engine
