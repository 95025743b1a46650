#include "fairlead/fabric/model/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

namespace fairlead::fabric::model {
namespace {

constexpr const char* kQueueNames[Figures::kQueues] = {"send buffers taken", "receive queue",
                                                       "NI work queue",      "host DMA queue",
                                                       "waiting for credit", "I/O bus busy, %"};
constexpr std::uint32_t kWhole = 100;  // per cent

bool is_of_ranks(Figures::Queue queue) {
  return queue == Figures::kSendBuffers || queue == Figures::kReceiveQueue;
}

// `level` of `index` since a time, as a step of its node's curve.
void draw(TraceWriter& writer, const EvenNodes& ranks, Figures::Queue queue, std::uint32_t index,
          Ps since, std::uint32_t level) {
  const std::uint32_t node = is_of_ranks(queue) ? ranks.node_of(index) : index;
  const std::uint32_t place = is_of_ranks(queue) ? ranks.place_of(index) : 0;
  if (place == 0) return writer.counter(node, since, kQueueNames[queue], level);
  writer.counter(node, since, fmt::format("{}, rank {}", kQueueNames[queue], place + 1), level);
}

double share(Ps part, Ps whole) {
  return whole.count <= 0 ? 0 : static_cast<double>(part.count) / static_cast<double>(whole.count);
}

}  // namespace

Ps Occupancy::total() const { return std::accumulate(times_.begin(), times_.end(), Ps{}); }

double Occupancy::mean() const {
  const Ps all = total();
  return all.count <= 0 ? 0 : sum_ / static_cast<double>(all.count);
}

std::uint32_t Occupancy::p99() const {
  const Ps all = total();
  Ps beyond = all / 100;
  for (std::uint32_t level = kLevels; level > 0; --level) {
    beyond -= times_[level];
    if (beyond < Ps{0}) return level == kLevels ? most_ : level;
  }
  return 0;
}

double Occupancy::full() const { return share(full_, total()); }
double Occupancy::in_use() const {
  const Ps all = total();
  return share(all - times_[0], all);
}

void TimeHistogram::add(Ps time) {
  const auto ps = static_cast<std::uint64_t>(std::max<std::int64_t>(time.count, 1));
  const auto octave = static_cast<unsigned>(std::bit_width(ps) - 1);
  // The bits behind the first one.
  const std::uint64_t rest = ps - (std::uint64_t{1} << octave);
  const std::uint64_t part = octave >= 5 ? rest >> (octave - 5) : rest << (5 - octave);
  ++counts_[octave * kParts + part];
  ++count_;
  sum_us_ += to_us(time);
  most_ = std::max(most_, time);
}

double TimeHistogram::mean_us() const {
  return count_ == 0 ? 0 : sum_us_ / static_cast<double>(count_);
}

double TimeHistogram::quantile_us(double share) const {
  if (count_ == 0) return 0;
  const double wanted = share * static_cast<double>(count_);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (static_cast<double>(seen) < wanted) continue;
    const double octave = static_cast<double>(std::uint64_t{1} << (i / kParts));
    const double end = octave * (1 + static_cast<double>(i % kParts + 1) / kParts) / 1e6;
    return std::min(end, most_us());
  }
  return most_us();
}

Figures::Figures(const EvenNodes& ranks, std::uint32_t nodes, std::uint32_t send_buffers_each,
                 std::uint32_t host_buffers_each, std::span<const char* const> handler_names,
                 Hertz ni)
    : running(ranks.ranks),
      hosts(ranks.ranks),
      ni_clock(ni),
      shares_(nodes),
      ended_(ranks.ranks),
      ranks_(ranks) {
  const std::uint32_t capacities[kQueues] = {send_buffers_each, host_buffers_each, 0, 0, 0, kWhole};
  for (std::size_t queue = 0; queue < kQueues; ++queue) {
    queues.emplace_back(kQueueNames[queue], capacities[queue]);
    gauges_[queue].resize(is_of_ranks(static_cast<Queue>(queue)) ? ranks.ranks : nodes);
  }
  for (const char* const name : handler_names) handlers.push_back({name, 0, Ps{}});
}

Figures::Figures(const EvenNodes& ranks, std::uint32_t nodes)
    : Figures(ranks, nodes, 0, 0, {}, {}) {
  has_program_ = false;
}

void Figures::level(Queue queue, std::uint32_t index, Ps now, std::uint32_t level) {
  if (over_) return;
  Gauge& gauge = gauges_[queue][index];
  queues[queue].stayed(gauge.level, now - gauge.since);
  // Drawn once it has lasted: a queue that is filled and emptied at one time shows nothing.
  if (writer_ != nullptr && now > gauge.since) draw_level(queue, index);
  gauge.level = level;
  gauge.since = now;
}

void Figures::draw_level(Queue queue, std::uint32_t index) {
  Gauge& gauge = gauges_[queue][index];
  if (gauge.level == gauge.drawn) return;
  draw(*writer_, ranks_, queue, index, gauge.since, gauge.level);
  gauge.drawn = gauge.level;
}

void Figures::end_share(std::uint32_t node, Ps now) {
  Share& share = shares_[node];
  if (over_ || now <= share.since) return;
  const Ps time = now - share.since;
  // What was begun and goes on is of the next share.
  const Ps used = std::min(share.busy - share.counted, time);
  const auto percent = static_cast<std::uint32_t>(used.count * kWhole / time.count);
  queues[kBusShare].stayed(percent, time);
  // One that was never in use has no curve.
  if (writer_ != nullptr && share.busy > Ps{0}) {
    draw(*writer_, ranks_, kBusShare, node, share.since, percent);
  }
  share.since = now;
  share.counted += used;
}

std::size_t Figures::StreamHash::operator()(const Stream& stream) const {
  const std::uint64_t ranks = std::uint64_t{stream.from} << 32 | stream.to;
  const std::uint64_t way = std::uint64_t{stream.chan} << 16 | std::uint64_t{stream.lane} << 1 |
                            (stream.is_connection ? 1 : 0);
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
  return ((ranks * kGolden) ^ (way + 1) * kGolden) >> 16;
}

void Figures::message_ends(Ps began, Ps at, const Stream& stream, bool part) {
  if (over_ || began == kNotBegun) return;
  if (part) {
    // Without a message before it, it is of the protocol's own: a grant, an acknowledgment.
    if (const auto found = last_.find(stream); found != last_.end()) found->second.ended = at;
    return;
  }
  const auto [found, is_new] = last_.try_emplace(stream);
  Message& message = found->second;
  if (!is_new) messages.add(message.ended - message.began);
  message = {began, at};
}

void Figures::host_ended(Rank rank) {
  if (ended_[rank]) return;
  ended_[rank] = true;
  hosts[rank] = running[rank];
}

void Figures::conclude(Ps now) {
  if (over_) return;
  for (const auto& [stream, message] : last_) messages.add(message.ended - message.began);
  last_.clear();
  for (std::uint32_t node = 0; node < shares_.size(); ++node) end_share(node, now);
  over_ = true;
  for (Rank rank = 0; rank < ended_.size(); ++rank) host_ended(rank);
  for (std::size_t queue = 0; queue < kBusShare; ++queue) {
    for (std::uint32_t index = 0; index < gauges_[queue].size(); ++index) {
      Gauge& gauge = gauges_[queue][index];
      queues[queue].stayed(gauge.level, std::max(now - gauge.since, Ps{0}));
      // One that never changed has no curve.
      if (writer_ != nullptr && (gauge.level > 0 || gauge.since > Ps{0})) {
        draw_level(static_cast<Queue>(queue), index);
      }
      gauge.since = now;
    }
  }
}

}  // namespace fairlead::fabric::model
