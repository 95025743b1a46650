#include "fairlead/hw/buffered_links.h"

#include <algorithm>

#include "fairlead/hw/event_kinds.h"

namespace fairlead::hw {

BufferedLinks::BufferedLinks(sim::Engine& engine, const NetworkParams& params,
                             const Topology& topology)
    : engine_(engine), params_(params), topology_(topology), links_(topology.channels()) {
  for (Link& link : links_) link.room = params.buffer_bytes;
}

void BufferedLinks::inject(Ps when, std::uint32_t packet, Peer source, Peer destination,
                           std::uint64_t bytes) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(passing_.size()));
    passing_.emplace_back();
  }
  const std::uint32_t id = free_.back();
  free_.pop_back();
  Passing& passing = passing_[id];
  passing.packet = packet;
  passing.source = source;
  passing.destination = destination;
  passing.hop = 0;
  passing.bytes = bytes;
  passing.tail = Ps{0};
  topology_.route(source, destination, passing.path);
  at<&BufferedLinks::on_head>(when + params_.fixed, kCutEvent, id, passing.path.front());
}

Ps BufferedLinks::time_on(ChannelId link, std::uint64_t bytes) const {
  if (!topology_.has_traits()) return time_for(Bytes{bytes}, params_.link);
  const BytesPerSec own = topology_.traits(link).rate;
  return time_for(Bytes{bytes}, own.count > 0 ? own : params_.link);
}

void BufferedLinks::on_head(std::uint32_t id, ChannelId link) {
  passing_[id].asked = engine_.now();
  links_[link].waiting.push_back(id);
  serve(link);
}

void BufferedLinks::serve(ChannelId number) {
  Link& link = links_[number];
  if (link.taken || link.waiting.empty()) return;
  const std::uint32_t id = link.waiting.front();
  Passing& passing = passing_[id];
  const std::uint64_t needs = room_for(passing);
  if (link.room < needs) return;
  link.room -= needs;
  link.waiting.pop_front();
  link.taken = true;
  const Ps now = engine_.now();
  blocked_ += now - passing.asked;
  // The tail follows the head where the links have one rate; it is not sooner than it came.
  const Ps takes = time_on(number, passing.bytes);
  const Ps tail = std::max(now + takes, passing.tail);
  const Ps own = topology_.has_traits() ? topology_.traits(number).delay : Ps{0};
  if (passing.hop == 0) show(passing, now, tail, false);
  if (to_host(passing)) show(passing, now, tail, true);
  at<&BufferedLinks::on_tail_left>(tail, kFreedEvent, id, number);
  if (to_host(passing)) {
    at<&BufferedLinks::on_arrived>(tail + own, kFreedEvent, id, number);
    return;
  }
  passing.tail = tail + own + params_.switch_delay;
  ++passing.hop;
  at<&BufferedLinks::on_head>(now + own + params_.switch_delay, kCutEvent, id,
                              passing.path[passing.hop]);
}

// A packet's tail has left over a link: the link is free, and so is where the packet was before.
void BufferedLinks::on_tail_left(std::uint32_t id, ChannelId number) {
  const Passing& passing = passing_[id];
  const auto on = std::find(passing.path.begin(), passing.path.end(), number);
  if (on == passing.path.begin()) {
    sink_.transmitted(sink_.context, passing.source, passing.packet);
  } else {
    const ChannelId before = *(on - 1);
    links_[before].room += std::min<std::uint64_t>(passing.bytes, params_.buffer_bytes);
    serve(before);
  }
  links_[number].taken = false;
  serve(number);
}

void BufferedLinks::on_arrived(std::uint32_t id, ChannelId) {
  const Passing& passing = passing_[id];
  free_.push_back(id);
  sink_.arrived(sink_.context, passing.destination, passing.packet);
}

void BufferedLinks::show(const Passing& passing, Ps from, Ps to, bool last) const {
  sink_.passed(sink_.context,
               {passing.packet, passing.source, passing.destination, from, to, last});
}

}  // namespace fairlead::hw
