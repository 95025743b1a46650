// How a NiPort (ni_port.h) gives packets to its interface: a client's, and what this rank tells the
// interface itself.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "fairlead/lci/ni/ni_port.h"

namespace fairlead::lci {

template <HostNi Ni, class Transfer, class Flow>
inline Post NiPort<Ni, Transfer, Flow>::send(Packet* packet, Chan chan, const Words& words,
                                             std::size_t size, std::span<const Piece> gather,
                                             Counter* done, std::uint32_t flags) {
  auto& mine = of(packet);
  std::size_t gathered = 0;
  for (const Piece& piece : gather) gathered += piece.size;
  const std::size_t total = size + gathered;
  if (total > mine.slot_bytes - sizeof mine || !ClientSide::known(chan)) return Post::invalid;
  if (!mine.for_group && is_dead(ni_, mine.peer)) return Post::peer_down;
  const auto lane = static_cast<Lane>(mine.header.client.lane);
  if (!has_rail({mine.peer, mine.for_group}, flags)) return Post::no_rail;
  const Post behind = await_puts({mine.peer, mine.for_group}, lane, flags);
  if (behind != Post::done) return behind;
  std::byte* to = mine.payload() + size;
  for (const Piece& piece : gather) {
    if (piece.size > 0) std::memcpy(to, piece.data, piece.size);
    to += piece.size;
  }
  // The data is in a packet buffer by now: the caller's memory is its own again.
  complete(mine, chan, words, total);
  mine.part = (flags & kPart) != 0;
  mine.any_order = (flags & kAnyOrder) != 0;
  if (mine.part) ++counters_.parts_sent;
  if constexpr (Transfer::kHasQueues) mine.operand = flags >> kQueueShift;
  if (mine.for_group) {
    ++counters_.multicasts_sent;
    ++counters_.parts_sent;  // the packet that carries it
    if (multicast_.post(mine, gathered, forwarded_below(mine.header.dest_rank))) {
      post(mine, gathered);
    }
  } else {
    post(mine, gathered);
  }
  if (done != nullptr) done->ok.fetch_add(1, std::memory_order_relaxed);
  return Post::done;
}

template <HostNi Ni, class Transfer, class Flow>
inline Post NiPort<Ni, Transfer, Flow>::tell_ni(Chan chan, const Words& words,
                                                std::span<const std::byte> data) {
  std::uint32_t id = 0;
  if (!take_buffer(kNobody, Lane::control, kNoBlock, data.size(), &id)) return Post::again_buffer;
  NiPacket& packet = ni_.packet(id);
  packet.peer = self_;
  packet.for_group = false;
  packet.header.client.lane = static_cast<std::uint8_t>(Lane::control);
  if (!data.empty()) std::memcpy(packet.payload(), data.data(), data.size());
  complete(packet, chan, words, data.size());
  // It is no message to anybody.
  packet.part = true;
  ++counters_.parts_sent;
  Transfer::move(ni_, id, data.size(), data.size());
  ni_.post(id, data.empty() ? 1 : Transfer::kDescriptorLines);
  return Post::done;
}

}  // namespace fairlead::lci
