// Where each packet of a traced machine is, and when: the stages of its way from the sending host's
// call to the end of the receiving host's upcall, drawn as one asynchronous interval a packet with
// the time of every stage that took some, and as an arrow through the lanes it touches: part of the
// one that the hosts' ports draw from a send to its upcall (base/packet_arrows.h), or, of what no
// client sent to one other (acknowledgments, remote memory, multicasts), one of its own. Each kind
// of network interface has its own stages.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fairlead/base/packet_arrows.h"
#include "fairlead/base/post.h"
#include "fairlead/base/trace.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/ni_packet.h"

namespace fairlead::fabric::model {

// A traced journey's event: its category, and the ending of a stage's key there.
constexpr std::string_view kJourneyCategory = "journey";
constexpr std::string_view kStageKeyEnd = "_ps";

class Journeys {
 public:
  // Most stages that a kind of network interface has.
  static constexpr std::size_t kStagesMax = 16;

  // `writer` outlives it. `stages`: their names, in the order of the way; at most kStagesMax.
  Journeys(TraceWriter& writer, std::span<const std::string_view> stages);

  // A host, or an NI that forwards, begins to send.
  void begin(PacketId id, Peer from, Ps at);
  // Its host hands it over for the rank `to`: what a client sent joins the client's arrow.
  void posted(PacketId id, const ClientHeader& header, Rank to);
  // `image` goes on where `id` is: one more copy of it, which the client's arrow follows. Further
  // ones have arrows of their own.
  void copy(PacketId id, PacketId image);
  bool known(PacketId id) const { return under_way_.contains(id); }
  // The packet's stage `stage` ended at `at`, not before its last mark: stages follow each other,
  // so that their sum is the journey. A packet without a journey (an acknowledgment) is left alone.
  template <class Stage>
  void mark(PacketId id, Stage stage, Ps at) {
    mark_stage(id, static_cast<std::size_t>(stage), at);
  }
  // The packet touches a lane at `at`, within an interval there that the trace has already.
  void passes(PacketId id, TracePlace lane, Ps at);
  // It passes no further lane.
  void arrived(PacketId id);
  // Its client at node `to` is done with it: the last stage ended.
  void end(PacketId id, Peer to, std::uint32_t bytes, Ps at);
  // The packet is gone without one.
  void drop(PacketId id);

 private:
  struct Journey {
    std::uint64_t number = 0;
    Peer from = 0;
    Ps began{};
    Ps last{};
    std::uint64_t arrow = 0;      // its client's; 0: it has none
    bool counted = false;         // it had one, or is one of several that share it
    PacketId buffer = kNoPacket;  // of which it is a copy
    // An arrow of its own: how many points are drawn, and the one that is not yet.
    std::uint32_t drawn = 0;
    bool point = false;
    TracePlace lane{0, 0};
    Ps at{};
    std::array<Ps, kStagesMax> spent{};
  };
  Journey* find(PacketId id);
  void end_arrow(Journey& journey);
  void mark_stage(PacketId id, std::size_t stage, Ps at);

  TraceWriter& writer_;
  std::vector<std::string> keys_;  // of the stages
  std::uint64_t begun_ = 0;
  PacketArrows arrows_;
  std::unordered_map<PacketId, Journey> under_way_;
};

}  // namespace fairlead::fabric::model
