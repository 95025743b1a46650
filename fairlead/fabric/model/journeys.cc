#include "fairlead/fabric/model/journeys.h"

#include <fmt/format.h>

#include "fairlead/base/check.h"

namespace fairlead::fabric::model {
namespace {
// Those from here on are the library's own (lci::kClientChannels).
constexpr std::uint16_t kClientChannels = 192;
}  // namespace

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

void Journeys::posted(PacketId id, const ClientHeader& header, Rank to) {
  Journey* const journey = find(id);
  if (journey == nullptr || journey->counted) return;
  if (header.kind != PacketKind::data || header.chan >= kClientChannels) return;
  journey->counted = true;
  journey->arrow = arrows_.next(header.source, to, header.chan, header.lane);
  if (Journey* const buffer = find(journey->buffer)) buffer->counted = true;
}

void Journeys::copy(PacketId id, PacketId image) {
  const Journey* journey = find(id);
  if (journey == nullptr) return drop(image);
  Journey made = *journey;
  made.number = ++begun_;
  made.buffer = id;
  made.drawn = 0;
  made.point = false;
  find(id)->arrow = 0;
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
  if (journey->arrow != 0) return writer_.arrow_passes(lane, at, journey->arrow);
  if (journey->point) {
    journey->drawn++ == 0 ? writer_.arrow_begins(journey->lane, journey->at, journey->number)
                          : writer_.arrow_passes(journey->lane, journey->at, journey->number);
  }
  journey->point = true;
  journey->lane = lane;
  journey->at = at;
}

// Where it touched one lane only there is none.
void Journeys::end_arrow(Journey& journey) {
  if (journey.point && journey.drawn > 0) {
    writer_.arrow_ends(journey.lane, journey.at, journey.number);
  }
  journey.point = false;
}

void Journeys::arrived(PacketId id) {
  if (Journey* const journey = find(id)) end_arrow(*journey);
}

void Journeys::drop(PacketId id) {
  const auto found = under_way_.find(id);
  if (found == under_way_.end()) return;
  end_arrow(found->second);
  under_way_.erase(found);
}

void Journeys::end(PacketId id, Peer to, std::uint32_t bytes, Ps at) {
  mark_stage(id, keys_.size() - 1, at);
  Journey* const journey = find(id);
  if (journey == nullptr) return;
  std::array<TraceDetail, kStagesMax + 3> details;
  details[0] = {"from", journey->from};
  details[1] = {"to", to};
  details[2] = {"bytes", bytes};
  std::size_t filled = 3;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    // Most packets never meet some stages: waits above all.
    if (journey->spent[i] == Ps{0}) continue;
    details[filled++] = {keys_[i].c_str(), static_cast<std::uint64_t>(journey->spent[i].count)};
  }
  end_arrow(*journey);
  writer_.journey(journey->from, journey->began, journey->last,
                  journey->arrow != 0 ? journey->arrow : journey->number,
                  fmt::format("{} bytes to node {}", bytes, to), std::span(details).first(filled));
  under_way_.erase(id);
}

}  // namespace fairlead::fabric::model
