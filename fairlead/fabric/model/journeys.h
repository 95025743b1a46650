// Where each packet of a traced machine is, and when: the stages of its way from the sending host's
// call to the end of the receiving host's upcall, drawn as one asynchronous interval a packet with
// the time of every stage, and as an arrow through the lanes it touches.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "fairlead/base/post.h"
#include "fairlead/base/trace.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/hw/trace_lines.h"

namespace fairlead::fabric::model {

// In the order of figure 4 of the LCI paper: name and title. A wait is for whoever comes next: the
// NI, credit (or the turn behind packets whose data is being fetched), the receiving host.
#define FAIRLEAD_STAGES(X)                                   \
  X(host_send, "host: send call, copy or programmed writes") \
  X(wait_ni, "wait for NI: doorbell, its processor busy")    \
  X(fetch_dma, "fetch DMA, its queue included")              \
  X(ni_send, "NI processor: send")                           \
  X(wait_credit, "wait for credit or its turn")              \
  X(link, "link: staging, wire, switches, blocked")          \
  X(wait_ni_receive, "wait for receiving NI")                \
  X(ni_receive, "NI processor: receive")                     \
  X(deliver_dma, "deliver DMA, its queue included")          \
  X(visibility, "visibility to the host")                    \
  X(wait_host, "wait for receiving host")                    \
  X(host_receive, "host: poll, upcall, release")

enum class Stage : std::uint8_t {
#define FAIRLEAD_STAGE(name, title) name,
  FAIRLEAD_STAGES(FAIRLEAD_STAGE)
#undef FAIRLEAD_STAGE
      count
};
constexpr std::size_t kStages = static_cast<std::size_t>(Stage::count);
constexpr std::string_view kStageNames[kStages] = {
#define FAIRLEAD_STAGE(name, title) #name,
    FAIRLEAD_STAGES(FAIRLEAD_STAGE)
#undef FAIRLEAD_STAGE
};
constexpr std::string_view kStageTitles[kStages] = {
#define FAIRLEAD_STAGE(name, title) title,
    FAIRLEAD_STAGES(FAIRLEAD_STAGE)
#undef FAIRLEAD_STAGE
};
// A traced journey's event: its category, and the ending of a stage's key there.
constexpr std::string_view kJourneyCategory = "journey";
constexpr std::string_view kStageKeyEnd = "_ps";

class Journeys {
 public:
  // `writer` outlives it.
  explicit Journeys(TraceWriter& writer) : writer_(writer) {}

  // A host, or an NI that forwards, begins to send.
  void begin(PacketId id, Peer from, Ps at);
  // `image` goes on where `id` is: one more copy of it.
  void copy(PacketId id, PacketId image);
  bool known(PacketId id) const { return under_way_.contains(id); }
  // The packet's stage `stage` ended at `at`, not before its last mark: stages follow each other,
  // so that their sum is the journey. A packet without a journey (an acknowledgment) is left alone.
  void mark(PacketId id, Stage stage, Ps at);
  // The packet touches a lane at `at`, within an interval there; the first lane is its sender's.
  void passes(PacketId id, TracePlace lane, Ps at);
  // The arrow ends at the next interval of a lane.
  void reaches(PacketId id, TracePlace lane, Ps at);
  // Its client at node `to` is done with it.
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
    std::array<Ps, kStages> spent{};
  };
  Journey* find(PacketId id);

  TraceWriter& writer_;
  std::uint64_t begun_ = 0;
  std::unordered_map<PacketId, Journey> under_way_;
};

}  // namespace fairlead::fabric::model
