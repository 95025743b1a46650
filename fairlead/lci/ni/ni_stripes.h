// The part of the control program (ni_program.h) that sends long copies by all rails between two
// NIs, and takes what comes by them: what to send when is said by copy_stripes.h. Hardware with one
// rail has NoNiStripes in its place, which costs nothing.
#pragma once
#include <cstdint>

#include "fairlead/base/post.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/fabric/packet.h"
#include "fairlead/lci/ni/copy_stripes.h"
#include "fairlead/lci/ni/ni_program_options.h"

namespace fairlead::lci {

struct NoNiStripes {
  using PacketId = fabric::PacketId;
  template <class Program>
  NoNiStripes(Program&, const NiProgramOptions&) {}

  static constexpr void heard(Peer) {}
  static constexpr bool takes(PacketId) { return false; }
  static constexpr bool is_stripe(Peer) { return false; }
  static constexpr void not_answered(Peer) {}
  static constexpr void answered(Peer) {}
  template <class Packet>
  static constexpr void over(const Packet&) {}
  static constexpr bool came(PacketId, Peer) { return false; }
  static constexpr PacketId came_early(PacketId id, Peer) { return id; }
  static constexpr bool counts(Peer) { return true; }
};

template <class Program>
class NiStripes {
 public:
  using PacketId = fabric::PacketId;

  NiStripes(Program& program, const NiProgramOptions& options)
      : program_(program), books_(options.members, program.ni_.rails()) {}

  // --- What the hosts of this node send.
  // True: it goes by these. False: with all other packets of the pair.
  bool takes(PacketId id) {
    if (!books_.any()) [[likely]]
      return false;
    auto& packet = ni().packet(id);
    const Peer node = packet.peer;
    switch (CopyStripes::order_of(packet)) {
      case CopyStripes::Order::any:
        return false;
      case CopyStripes::Order::behind:
        if (!books_.busy(node) && !books_.holds(node)) return false;
        books_.hold(node, id);
        return true;
      case CopyStripes::Order::piece:
        break;
    }
    const std::uint32_t rail = CopyStripes::rail_of(packet);
    const Peer flow =
        rail == 0 || rail > books_.rails() ? CopyStripes::kAnyFlow : ni().flow_by(node, rail - 1);
    const bool any = flow == CopyStripes::kAnyFlow;
    // The first ones keep the order, and need nobody to wait for them.
    if ((any || flow == node) && !books_.busy(node) && program_.waiting_.empty(node) &&
        program_.flow_.unacknowledged(node) < CopyStripes::kOwnMost &&
        program_.flow_.open(ni(), node)) {
      return false;
    }
    packet.header.client.kind = fabric::PacketKind::copy_piece;
    packet.operand = books_.add(node, id, flow);
    send_pieces(node);
    return true;
  }

  // --- What happens on a flow.
  // Something came by it.
  void heard(Peer flow) {
    if (books_.any() && books_.heard(flow, ni().now())) send_pieces(books_.node_of(flow));
  }
  bool is_stripe(Peer flow) const { return books_.is_stripe(flow); }
  // A packet of it was not acknowledged in time. What is numbered on a flow that is silent stays
  // so, but has nothing in it.
  void not_answered(Peer flow) {
    if (!books_.is_stripe(flow) || !books_.gives_up(flow, ni().now())) return;
    const Peer node = books_.node_of(flow);
    program_.flow_.replace_unacknowledged(flow, [&](PacketId id) {
      const std::uint64_t number = ni().packet(id).operand;
      if (number == CopyStripes::kNoNumber) return id;
      books_.take_over(node, id, number);
      return ni().make_nothing(node, CopyStripes::kNoNumber);
    });
    send_pieces(node);
  }
  // The peer has acknowledged something of it.
  void answered(Peer flow) {
    if (!books_.any()) [[likely]]
      return;
    const Peer node = books_.node_of(flow);
    while (books_.has_ready(node)) program_.send(node, books_.take_ready(node));
    send_pieces(node);
  }
  // The other node has all of a packet that left.
  template <class Packet>
  void over(const Packet& packet) {
    if (packet.header.client.kind != fabric::PacketKind::copy_piece ||
        packet.holds == fabric::Holds::receive_buffer || packet.operand == CopyStripes::kNoNumber) {
      return;
    }
    books_.acknowledged(packet.peer, packet.operand);
  }

  // --- What comes.
  // A piece in its turn: for its rank, unless it came before. False: no piece can come here.
  bool came(PacketId id, Peer flow) {
    if (!books_.any()) return false;
    auto& packet = ni().packet(id);
    if (is_new(packet, flow)) {
      ni().deliver(id);
      return true;
    }
    const bool holds = packet.holds == fabric::Holds::receive_buffer;
    ni().free_packet(id);
    if (holds) program_.buffer_free();
    program_.released(flow);
    return true;
  }
  // What came before its turn is to be kept for that, and is acknowledged: returns what to keep.
  // Pieces have no turn. One goes to its rank now, as fences behind it do not wait for the rail by
  // which it came; what is kept has its number alone.
  PacketId came_early(PacketId id, Peer flow) {
    auto& packet = ni().packet(id);
    if (packet.header.client.kind != fabric::PacketKind::copy_piece || !books_.any()) return id;
    if (is_new(packet, flow)) {
      packet.peer = kNoFlow;  // its end is not that of its number
      ni().deliver(id);
    } else {
      ni().free_packet(id);
      program_.buffer_free();
    }
    return ni().make_nothing(books_.node_of(flow), CopyStripes::kNoNumber);
  }
  // An arrival that has left for its host has a number on that flow.
  static bool counts(Peer flow) { return flow != kNoFlow; }

 private:
  static constexpr Peer kNoFlow = UINT32_MAX;

  auto& ni() { return program_.ni_; }

  template <class Packet>
  bool is_new(Packet& packet, Peer flow) {
    const std::uint64_t number = packet.operand;
    if (!books_.came(books_.node_of(flow), number)) {
      if (number != CopyStripes::kNoNumber) ++ni().counters().duplicates_dropped;
      return false;
    }
    packet.header.client.kind = fabric::PacketKind::data;
    packet.operand = 0;
    return true;
  }
  // By whichever flow has room, in turn. Those of the pair's own flow that wait are first there.
  void send_pieces(Peer node) {
    if (!books_.busy(node)) return;
    for (std::uint32_t none = 0; none < books_.rails(); ++none) {
      const Peer flow = books_.next_flow(node);
      if (!books_.has_piece(flow) || !program_.waiting_.empty(flow) ||
          !program_.flow_.open(ni(), flow)) {
        continue;
      }
      none = UINT32_MAX;  // all have their turn once more
      if (program_.flow_.unacknowledged(flow) == 0) books_.begins(flow, ni().now());
      program_.transmit(flow, books_.take_piece(flow));
    }
  }

  Program& program_;
  CopyStripes books_;
};

}  // namespace fairlead::lci
