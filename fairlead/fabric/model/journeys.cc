#include "fairlead/fabric/model/journeys.h"

#include <fmt/format.h>

#include "fairlead/base/check.h"

namespace fairlead::fabric::model {

Journeys::Journeys(TraceWriter& writer, std::span<const std::string_view> stages)
    : writer_(writer) {
  FAIRLEAD_CHECK(stages.size() <= kStagesMax, "{} stages", stages.size());
  for (const std::string_view stage : stages)
    keys_.push_back(fmt::format("{}{}", stage, kStageKeyEnd));
}

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

void Journeys::mark_stage(PacketId id, std::size_t stage, Ps at) {
  Journey* journey = find(id);
  if (journey == nullptr || at <= journey->last) return;
  journey->spent[stage] += at - journey->last;
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
  mark_stage(id, keys_.size() - 1, at);
  const Journey* journey = find(id);
  if (journey == nullptr) return;
  std::array<TraceDetail, kStagesMax + 3> details;
  details[0] = {"from", journey->from};
  details[1] = {"to", to};
  details[2] = {"bytes", bytes};
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    details[i + 3] = {keys_[i].c_str(), static_cast<std::uint64_t>(journey->spent[i].count)};
  }
  writer_.journey(journey->from, journey->began, journey->last, journey->number,
                  fmt::format("{} bytes to node {}", bytes, to),
                  std::span(details).first(keys_.size() + 3));
  under_way_.erase(id);
}

}  // namespace fairlead::fabric::model
