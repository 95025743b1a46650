#include "fairlead/fabric/model/journeys.h"

#include <fmt/format.h>

namespace fairlead::fabric::model {
namespace {

constexpr const char* kStageDetails[kStages] = {
#define FAIRLEAD_STAGE_DETAIL(name, title) #name "_ps",
    FAIRLEAD_STAGES(FAIRLEAD_STAGE_DETAIL)
#undef FAIRLEAD_STAGE_DETAIL
};

}  // namespace

Journeys::Journey* Journeys::find(PacketId id) {
  const auto found = under_way_.find(id);
  return found == under_way_.end() ? nullptr : &found->second;
}

void Journeys::begin(PacketId id, Peer from, Ps at) {
  Journey journey;
  journey.number = ++begun_;
  journey.from = from;
  journey.began = at;
  journey.last = at;
  under_way_[id] = journey;
}

void Journeys::copy(PacketId id, PacketId image) {
  const Journey* journey = find(id);
  if (journey == nullptr) return drop(image);
  Journey made = *journey;
  made.number = ++begun_;
  made.arrow = false;
  under_way_[image] = made;
}

void Journeys::mark(PacketId id, Stage stage, Ps at) {
  Journey* journey = find(id);
  if (journey == nullptr || at <= journey->last) return;
  journey->spent[static_cast<std::size_t>(stage)] += at - journey->last;
  journey->last = at;
}

void Journeys::passes(PacketId id, TracePlace lane, Ps at) {
  Journey* journey = find(id);
  if (journey == nullptr) return;
  if (journey->arrow) return writer_.arrow_passes(lane, at, journey->number);
  journey->arrow = true;
  writer_.arrow_begins(lane, at, journey->number);
}

void Journeys::reaches(PacketId id, TracePlace lane, Ps at) {
  Journey* journey = find(id);
  if (journey != nullptr && journey->arrow) writer_.arrow_reaches(lane, at, journey->number);
}

void Journeys::end(PacketId id, Peer to, std::uint32_t bytes, Ps at) {
  mark(id, Stage::host_receive, at);
  const Journey* journey = find(id);
  if (journey == nullptr) return;
  std::array<TraceDetail, kStages + 3> details;
  details[0] = {"from", journey->from};
  details[1] = {"to", to};
  details[2] = {"bytes", bytes};
  for (std::size_t i = 0; i < kStages; ++i) {
    details[i + 3] = {kStageDetails[i], static_cast<std::uint64_t>(journey->spent[i].count)};
  }
  writer_.journey(journey->from, journey->began, journey->last, journey->number,
                  fmt::format("{} bytes to node {}", bytes, to), details);
  under_way_.erase(id);
}

}  // namespace fairlead::fabric::model
