// Where each packet of a traced machine is, and when: the stages of its way from the sending host's
// call to the end of the receiving host's upcall, drawn as one asynchronous interval a packet with
// the time of every stage, and as an arrow through the lanes it touches. Each kind of network
// interface has its own stages.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

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
  // `image` goes on where `id` is: one more copy of it.
  void copy(PacketId id, PacketId image);
  bool known(PacketId id) const { return under_way_.contains(id); }
  // The packet's stage `stage` ended at `at`, not before its last mark: stages follow each other,
  // so that their sum is the journey. A packet without a journey (an acknowledgment) is left alone.
  template <class Stage>
  void mark(PacketId id, Stage stage, Ps at) {
    mark_stage(id, static_cast<std::size_t>(stage), at);
  }
  // The packet touches a lane at `at`, within an interval there; the first lane is its sender's.
  void passes(PacketId id, TracePlace lane, Ps at);
  // The arrow ends at the next interval of a lane.
  void reaches(PacketId id, TracePlace lane, Ps at);
  // Its client at node `to` is done with it: the last stage ended.
  void end(PacketId id, Peer to, std::uint32_t bytes, Ps at);
  // The packet is gone without one.
  void drop(PacketId id) { under_way_.erase(id); }

 private:
  struct Journey {
    std::uint64_t number = 0;
    Peer from = 0;
    Ps began{};
    Ps last{};
    bool arrow = false;
    std::array<Ps, kStagesMax> spent{};
  };
  Journey* find(PacketId id);
  void mark_stage(PacketId id, std::size_t stage, Ps at);

  TraceWriter& writer_;
  std::vector<std::string> keys_;  // of the stages
  std::uint64_t begun_ = 0;
  std::unordered_map<PacketId, Journey> under_way_;
};

}  // namespace fairlead::fabric::model
