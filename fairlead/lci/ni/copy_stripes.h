// Packets of long copies between two NI engines that several rails join, and clients' long packets
// that may come in any order (kAnyOrder in port.h), which are pieces as these are. They need none:
// where some are under way by the flow that all packets of a pair share, the next go by whichever
// flow has room, of which each further rail has one (with numbers, a window, round trips of its
// own). A rail that falls silent has its packets taken over by the others. A copy that names a rail
// (on_rail() in port.h) keeps to that rail's flow, unless it is silent. This part keeps the books;
// the control program (ni_stripes.h) sends what it says.
//
//   flow   0 .. nodes - 1          everything between two nodes, and copies
//   flow   nodes * i + node        copies by the i-th further rail (a stripe)
//
// Packets of copies are numbered once more, over all flows of a pair, as one that was taken over
// may come twice, the second time after its memory was written anew: it is dropped then. What must
// come after earlier puts (a fence, a remote counter, what is flagged kAfter) is held back here
// until they are acknowledged.
#pragma once
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fairlead/base/post.h"
#include "fairlead/base/ring.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/fabric/packet.h"

namespace fairlead::lci {

class CopyStripes {
 public:
  using PacketId = fabric::PacketId;

  static constexpr std::uint32_t kRailsMost = 4;
  // In place of a flow: none in particular.
  static constexpr Peer kAnyFlow = UINT32_MAX;
  // Shorter packets are no part of anything long.
  static constexpr std::uint32_t kPieceBytesMin = 512;
  // So many packets of a pair's own flow that are not acknowledged make what follows long. More
  // would leave gets out, which have 16 under way.
  static constexpr std::uint32_t kOwnMost = 4;
  // Numbers between the oldest that is not acknowledged and the newest that has left.
  static constexpr std::uint64_t kAhead = 4096;
  // In place of a number: nothing to deliver, in place of a packet that was taken over.
  static constexpr std::uint64_t kNoNumber = ~std::uint64_t{0};
  // A rail by which nothing comes for so long, while another one of the pair brings something, is
  // silent; so is one where no other brings anything, but later. As over udp without engines
  // (reliable/reliable_tuning.h).
  static constexpr Ps kSilent = milliseconds(20);
  static constexpr Ps kSilentAlone = milliseconds(100);

  // `rails`: at most kRailsMost.
  CopyStripes(Peer nodes, std::uint32_t rails);

  bool any() const { return rails_ > 1; }
  std::uint32_t rails() const { return rails_; }
  Peer node_of(Peer flow) const { return flow % nodes_; }
  bool is_stripe(Peer flow) const { return flow >= nodes_; }

  // --- What leaves.
  // How a packet for another node stands to earlier puts.
  enum class Order : std::uint8_t {
    any,     // not concerned
    piece,   // it may pass them, and they may pass it: part of a copy
    behind,  // not before them
  };
  static Order order_of(const fabric::NiPacket& packet);
  // The rail that a piece names, counted from 1; 0: none.
  static std::uint32_t rail_of(const fabric::NiPacket& packet);

  // Pieces are on their way or wait: from now on all of the pair's do.
  bool busy(Peer node) const {
    const Pair* const with = pairs_[node].out.get();
    return with != nullptr && with->oldest != with->next;
  }
  // The piece waits for room on that flow to the node. Returns its number, which it keeps.
  [[nodiscard]] std::uint64_t add(Peer node, PacketId id, Peer flow = kAnyFlow);
  // One may leave by that flow now.
  bool has_piece(Peer flow) const { return next_for(flow) != nullptr; }
  PacketId take_piece(Peer flow);
  // The flow to try next, in turn.
  Peer next_flow(Peer node);
  // The peer has this piece.
  void acknowledged(Peer node, std::uint64_t number);
  // Waits for what is on its way now. In the order of the calls.
  void hold(Peer node, PacketId id);
  bool holds(Peer node) const {
    const Pair* const with = pairs_[node].out.get();
    return with != nullptr && !with->held.empty();
  }
  // One of those need not wait any longer.
  bool has_ready(Peer node) const;
  PacketId take_ready(Peer node);

  // --- Silence.
  // Something leaves by the flow, on which nothing was under way.
  void begins(Peer flow, Ps now) { flows_[flow].unanswered = now; }
  // Something came by it. True: it was silent.
  bool heard(Peer flow, Ps now);
  bool is_silent(Peer flow) const { return flows_[flow].silent; }
  // A packet of the stripe was not answered in time. True: it is silent from now on, and what it
  // has not brought is to be taken over.
  [[nodiscard]] bool gives_up(Peer flow, Ps now);
  void take_over(Peer node, PacketId id, std::uint64_t number) {
    pairs_[node].out->again.push_back({id, number});
  }

  // --- What comes.
  // False: the piece has come before, or cannot be.
  [[nodiscard]] bool came(Peer node, std::uint64_t number);

 private:
  struct Held {
    PacketId id;
    std::uint64_t before;  // of these numbers each
  };
  struct Piece {
    PacketId id;
    std::uint64_t number;
  };
  // With one other node; made by the first piece.
  struct Pair {
    std::uint64_t next = 0;    // number of the next piece
    std::uint64_t oldest = 0;  // all before it are acknowledged
    std::bitset<kAhead> acknowledged;
    Ring<Piece> waiting;                        // for any flow
    std::array<Ring<Piece>, kRailsMost> bound;  // by rail: for its flow
    Ring<Piece> again;                          // taken over: these leave first
    Ring<Held> held;
    std::uint32_t turn = 0;
    Ps heard{};
  };
  struct Coming {
    std::uint64_t base = 0;  // all before it have come
    std::bitset<kAhead> came;
  };
  struct Flow {
    Ps unanswered{};  // since then something is under way, and nothing came
    bool silent = false;
  };
  struct Both {
    std::unique_ptr<Pair> out;
    std::unique_ptr<Coming> in;
  };
  // From where the next piece comes that leaves by the flow. nullptr: none may.
  Ring<Piece>* next_for(Peer flow) const;
  Pair& pair(Peer node) {
    if (pairs_[node].out == nullptr) pairs_[node].out = std::make_unique<Pair>();
    return *pairs_[node].out;
  }

  Peer nodes_;
  std::uint32_t rails_;
  std::vector<Flow> flows_;
  std::vector<Both> pairs_;  // none where there is one rail
};

}  // namespace fairlead::lci
