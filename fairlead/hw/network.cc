#include "fairlead/hw/network.h"

#include <fmt/format.h>

#include <algorithm>

#include "fairlead/base/prefetch.h"
#include "fairlead/hw/event_kinds.h"
#include "fairlead/hw/resource.h"
#include "fairlead/hw/trace_lines.h"

namespace fairlead::hw {
namespace {
// A channel's number in the critical path; NI processors have the numbers below.
std::uint64_t path_place(ChannelId channel) { return std::uint64_t{1} << 32 | channel; }
}  // namespace

Network::Network(sim::Engine& engine, const NetworkParams& params, std::uint32_t nodes)
    : engine_(engine), params_(params), topology_(params, nodes), channels_(topology_.channels()) {
  if (params.held_circuits) {
    circuits_ = std::make_unique<Circuits>(engine, params, topology_);
  } else if (params.buffer_bytes > 0) {
    buffer();
  }
  if (params.reduction_bytes > 0) reduce();
}

void Network::reduce() {
  // A platform's file that asks for it elsewhere is refused.
  if (topology_.ordered_fat_tree() == nullptr) return;
  if (circuits_ == nullptr && buffered_ == nullptr) return;
  reductions_ = std::make_unique<SwitchReductions>(engine_, params_, topology_, circuits_.get(),
                                                   buffered_.get());
  if (circuits_ == nullptr) return;
  circuits_->attach(LiftSink{[](void* self, std::uint32_t packet) {
                               static_cast<Network*>(self)->reductions_->lifted(packet);
                             },
                             this});
}

void Network::buffer() {
  buffered_ = std::make_unique<BufferedLinks>(engine_, params_, topology_);
  BufferedSink sink;
  sink.context = this;
  sink.arrived = [](void* self, Peer destination, std::uint32_t packet) {
    const NetworkSink& to = static_cast<Network*>(self)->sink_;
    to.arrived(to.context, destination, packet);
  };
  sink.transmitted = [](void* self, Peer source, std::uint32_t packet) {
    const NetworkSink& to = static_cast<Network*>(self)->sink_;
    to.transmitted(to.context, source, packet);
  };
  sink.lifted = [](void* self, std::uint32_t packet) {
    static_cast<Network*>(self)->reductions_->lifted(packet);
  };
  sink.spread = [](void* self, Peer destination, std::uint32_t packet) {
    static_cast<Network*>(self)->reductions_->arrived(destination, packet);
  };
  sink.passed = [](void* self, const LinkPassage& passage) {
    auto* network = static_cast<Network*>(self);
    if (network->trace_ != nullptr) network->show(passage);
  };
  buffered_->attach(sink);
}

std::uint32_t Network::take_worm() {
  if (free_worms_.empty()) {
    worms_.emplace_back();
    return static_cast<std::uint32_t>(worms_.size() - 1);
  }
  const std::uint32_t index = free_worms_.back();
  free_worms_.pop_back();
  return index;
}

void Network::inject(Ps at, std::uint32_t packet, Peer source, Peer destination,
                     std::uint64_t bytes) {
  if (buffered_ != nullptr) return buffered_->inject(at, packet, source, destination, bytes);
  const std::uint32_t index = take_worm();
  Worm& worm = worms_[index];
  worm.packet = packet;
  worm.source = source;
  worm.destination = destination;
  worm.hop = 0;
  worm.injected = at;
  worm.wire_time = time_for(Bytes{bytes}, params_.link);
  topology_.route(source, destination, worm.path);
  if (topology_.has_traits()) worm.wire_time = slowest_wire_time(worm, bytes);
  engine_.at(at + params_.fixed, source, kHeadEvent, &Network::on_head, this, packet, index);
}

// The slowest channel sets the pace of the whole packet: it holds back what is behind it.
Ps Network::slowest_wire_time(const Worm& worm, std::uint64_t bytes) const {
  Ps slowest{};
  for (const ChannelId channel : worm.path) {
    const BytesPerSec own = topology_.traits(channel).rate;
    slowest = std::max(slowest, time_for(Bytes{bytes}, own.count > 0 ? own : params_.link));
  }
  return slowest;
}

void Network::on_head(void* self, std::uint64_t, std::uint64_t worm) {
  static_cast<Network*>(self)->ask(static_cast<std::uint32_t>(worm));
}

void Network::ask(std::uint32_t index) {
  Worm& worm = worms_[index];
  Channel& channel = channels_[worm.path[worm.hop]];
  worm.asked = engine_.now();
  if (channel.holder == kNone) {
    channel.holder = index;
    if (channel.free_at > engine_.now() && engine_.path() != nullptr) [[unlikely]] {
      sim::CriticalPath& path = *engine_.path();
      return path.along(path.place(path_place(worm.path[worm.hop])),
                        [&] { granted(index, channel.free_at); });
    }
    granted(index, std::max(engine_.now(), channel.free_at));
    return;
  }
  worm.next_waiting = kNone;
  if (channel.first_waiting == kNone) {
    channel.first_waiting = index;
  } else {
    worms_[channel.last_waiting].next_waiting = index;
  }
  channel.last_waiting = index;
}

// The head is in its next channel at `when`.
void Network::granted(std::uint32_t index, Ps when) {
  Worm& worm = worms_[index];
  blocked_ += when - worm.asked;
  if (worm.hop == 0) {
    worm.entered = when;
    worm.injected = std::max(worm.injected, channels_[worm.path[0]].free_at);
  }
  if (worm.hop + 1 == worm.path.size()) {
    // It has left before it is there, also where a switch takes no time.
    head_arrived(worm, when);
    engine_.at(when + own_delay(worm.path.back()) + worm.wire_time, worm.source, kTailEvent,
               &Network::on_tail, this, worm.packet, End(index, worm.destination).word());
    return;
  }
  const Ps delay = params_.switch_delay + own_delay(worm.path[worm.hop]);
  ++worm.hop;
  engine_.at(when + delay, worm.source, kHeadEvent, &Network::on_head, this, worm.packet, index);
}

void Network::count() {
  link_busy_.resize(topology_.channels());
  if (circuits_ != nullptr) circuits_->count(link_busy_);
  if (buffered_ != nullptr) buffered_->count(link_busy_);
}

Network::BusyLink Network::busiest() const {
  const auto most = std::max_element(link_busy_.begin(), link_busy_.end());
  if (most == link_busy_.end() || *most == Ps{0}) return {};
  const auto channel = static_cast<ChannelId>(most - link_busy_.begin());
  const ChannelId hosts = topology_.channel_to_host(0);
  const ChannelId inner = topology_.first_between_switches();
  return {channel < hosts   ? fmt::format("out of node {}", channel)
          : channel < inner ? fmt::format("to node {}", channel - hosts)
                            : fmt::format("between switches, number {}", channel - inner),
          *most};
}

// From here on nothing can block the packet: when each channel sees its tail is known.
void Network::head_arrived(Worm& worm, Ps when) {
  const Ps now = engine_.now();
  Ps own{};  // delays of the channels from i to the last but one
  if (topology_.has_traits()) [[unlikely]] {
    for (const ChannelId channel : worm.path) own += own_delay(channel);
    own -= own_delay(worm.path.back());
  }
  for (std::size_t i = 0; i < worm.path.size(); ++i) {
    const auto behind = static_cast<std::int64_t>(worm.path.size() - 1 - i);
    const Ps tail = std::max(now, when - params_.switch_delay * behind - own + worm.wire_time);
    if (i + 1 < worm.path.size()) own -= own_delay(worm.path[i]);
    if (i == 0) {
      engine_.at(tail, worm.source, kLeftEvent, &Network::on_left, this, worm.packet, worm.source);
      if (trace_ != nullptr) [[unlikely]]
        show(worm, tail, when);
    }
    if (!link_busy_.empty()) [[unlikely]]
      link_busy_[worm.path[i]] += worm.wire_time;
    release(worm.path[i], tail);
  }
}

void Network::show(const Worm& worm, Ps left, Ps arriving) {
  const TraceDetail to{"dest", worm.destination};
  const TraceDetail from{"source", worm.source};
  const Ps arrived = arriving + worm.wire_time;
  on_line(worm.packet, {worm.source, kSendDmaLine}, worm.injected, left, to);
  on_line(worm.packet, {worm.source, kLinkOutLine}, worm.entered, left, to);
  on_line(worm.packet, {worm.destination, kLinkInLine}, arriving, arrived, from);
  on_line(worm.packet, {worm.destination, kReceiveDmaLine}, arriving, arrived, from);
}

void Network::on_line(std::uint32_t packet, TracePlace line, Ps from, Ps to, TraceDetail other) {
  trace_->interval(line, from, to, "packet", other, {"packet", packet});
  if (sink_.passed != nullptr) sink_.passed(sink_.context, packet, line, from);
}

void Network::show(const LinkPassage& passage) {
  if (passage.last) {
    on_line(passage.packet, {passage.destination, kLinkInLine}, passage.from, passage.to,
            {"source", passage.source});
  } else {
    on_line(passage.packet, {passage.source, kLinkOutLine}, passage.from, passage.to,
            {"dest", passage.destination});
  }
}

void Network::release(ChannelId id, Ps when) {
  sim::CriticalPath* path = engine_.path();
  if (path == nullptr) [[likely]]
    return free_channel(id, when);
  path->along(path->here(), [&] {
    path->reach(when, kLinkResource);
    path->place(path_place(id)) = path->here();
    free_channel(id, when);
  });
}

void Network::free_channel(ChannelId id, Ps when) {
  Channel& channel = channels_[id];
  channel.free_at = when;
  channel.holder = channel.first_waiting;
  if (channel.holder == kNone) return;
  const std::uint32_t next = channel.holder;
  channel.first_waiting = worms_[next].next_waiting;
  granted(next, when);
}

void Network::on_tail(void* self, std::uint64_t packet, std::uint64_t end) {
  auto* network = static_cast<Network*>(self);
  network->free_worms_.push_back(End(end).worm());
  network->sink_.arrived(network->sink_.context, End(end).destination(),
                         static_cast<std::uint32_t>(packet));
}

void Network::on_left(void* self, std::uint64_t packet, std::uint64_t source) {
  auto* network = static_cast<Network*>(self);
  network->sink_.transmitted(network->sink_.context, static_cast<Peer>(source),
                             static_cast<std::uint32_t>(packet));
}

void Network::prepare_head(void* self, std::uint64_t, std::uint64_t index, unsigned stage) {
  const auto* network = static_cast<const Network*>(self);
  const Worm& worm = network->worms_[index];
  if (stage == 0) {
    prefetch(&worm, sizeof worm);
  } else if (stage == 1) {
    prefetch(worm.path.data());
  } else {
    prefetch(&network->channels_[worm.path[worm.hop]]);
  }
}

void Network::prepare_tail(void* self, std::uint64_t packet, std::uint64_t end, unsigned stage) {
  const NetworkSink& sink = static_cast<const Network*>(self)->sink_;
  sink.prepare(sink.context, End(end).destination(), static_cast<std::uint32_t>(packet), stage);
}

void Network::prepare_left(void* self, std::uint64_t packet, std::uint64_t source, unsigned stage) {
  const NetworkSink& sink = static_cast<const Network*>(self)->sink_;
  sink.prepare(sink.context, static_cast<Peer>(source), static_cast<std::uint32_t>(packet), stage);
}

}  // namespace fairlead::hw
