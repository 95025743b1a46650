#include "fairlead/hw/buffered_links.h"

#include <algorithm>

#include "fairlead/hw/event_kinds.h"

namespace fairlead::hw {

BufferedLinks::BufferedLinks(sim::Engine& engine, const NetworkParams& params,
                             const Topology& topology)
    : engine_(engine), params_(params), topology_(topology), links_(topology.channels()) {
  for (Link& link : links_) link.room = params.buffer_bytes;
}

std::uint32_t BufferedLinks::take_passing(Way way, std::uint32_t packet, Peer source,
                                          std::uint64_t bytes) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(passing_.size()));
    passing_.emplace_back();
  }
  const std::uint32_t id = free_.back();
  free_.pop_back();
  Passing& passing = passing_[id];
  passing.way = way;
  passing.packet = packet;
  passing.source = source;
  passing.destination = source;
  passing.hop = 0;
  passing.bytes = bytes;
  passing.tail = Ps{0};
  return id;
}

void BufferedLinks::inject(Ps when, std::uint32_t packet, Peer source, Peer destination,
                           std::uint64_t bytes) {
  const std::uint32_t id = take_passing(Way::to_host, packet, source, bytes);
  Passing& passing = passing_[id];
  passing.destination = destination;
  topology_.route(source, destination, passing.path);
  at<&BufferedLinks::on_head>(when + params_.fixed, kCutEvent, id, passing.path.front());
}

void BufferedLinks::lift(Ps when, std::uint32_t packet, Peer source, ChannelId link,
                         std::uint64_t bytes) {
  const std::uint32_t id = take_passing(Way::lifted, packet, source, bytes);
  passing_[id].path.assign(1, link);
  const Ps fixed = from_host(link) ? params_.fixed : Ps{0};
  at<&BufferedLinks::on_head>(when + fixed, kCutEvent, id, link);
}

void BufferedLinks::spread(std::uint32_t packet, Peer source, const Branches& branches,
                           std::uint64_t bytes) {
  Passing from;
  from.packet = packet;
  from.source = source;
  from.bytes = bytes;
  from.branches = &branches;
  copy(from, 0, branches.from_root, engine_.now(), Ps{0});
}

// So many branches, from number `first` on, each get a copy, whose head asks for its link at `head`
// and whose tail is there at `tail`.
void BufferedLinks::copy(const Passing& from, std::uint32_t first, std::uint32_t count, Ps head,
                         Ps tail) {
  const Passing whole = from;  // taking others may move it
  for (std::uint32_t branch = first; branch < first + count; ++branch) {
    const Branch& to = whole.branches->all[branch];
    const std::uint32_t id = take_passing(Way::spread, whole.packet, whole.source, whole.bytes);
    Passing& passing = passing_[id];
    passing.branches = whole.branches;
    passing.branch = branch;
    passing.destination = to.host;
    passing.tail = tail;
    passing.path.assign(1, to.channel);
    at<&BufferedLinks::on_head>(head, kCutEvent, id, to.channel);
  }
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
  if (busy_ != nullptr) [[unlikely]]
    (*busy_)[number] += takes;
  const Ps own = topology_.has_traits() ? topology_.traits(number).delay : Ps{0};
  if (number < topology_.first_between_switches()) {
    if (passing.hop == 0 && passing.way != Way::spread) show(passing, now, tail, false);
    if (to_host(passing) && passing.way != Way::lifted) show(passing, now, tail, true);
  }
  at<&BufferedLinks::on_tail_left>(tail, kFreedEvent, id, number);
  if (passing.way != Way::to_host) return pass_reduction(id, now + own, tail + own);
  if (to_host(passing)) {
    at<&BufferedLinks::on_arrived>(tail + own, kFreedEvent, id, number);
    return;
  }
  passing.tail = tail + own + params_.switch_delay;
  ++passing.hop;
  at<&BufferedLinks::on_head>(now + own + params_.switch_delay, kCutEvent, id,
                              passing.path[passing.hop]);
}

// What was lifted or spread has begun to pass its link, at whose end its head is at `head`.
void BufferedLinks::pass_reduction(std::uint32_t id, Ps head, Ps tail) {
  const Passing& passing = passing_[id];
  const bool to_switch = passing.path.front() >= topology_.first_between_switches();
  const Ps through = passing.way == Way::lifted || to_switch ? params_.switch_delay : Ps{0};
  at<&BufferedLinks::on_arrived>(tail + through, kFreedEvent, id, passing.path.front());
  if (passing.way == Way::lifted || !to_switch) return;
  const Branch& branch = passing.branches->all[passing.branch];
  copy(passing, branch.first_child, branch.children, head + through, tail + through);
}

// A packet's tail has left over a link: the link is free, and so is where the packet was before.
void BufferedLinks::on_tail_left(std::uint32_t id, ChannelId number) {
  const Passing& passing = passing_[id];
  const auto on = std::find(passing.path.begin(), passing.path.end(), number);
  if (passing.way != Way::to_host) {
    // Nobody waits for its memory.
  } else if (on == passing.path.begin()) {
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
  const Way way = passing.way;
  const Peer destination = passing.destination;
  const std::uint32_t packet = passing.packet;
  free_.push_back(id);
  if (way == Way::to_host) return sink_.arrived(sink_.context, destination, packet);
  if (way == Way::lifted) return sink_.lifted(sink_.context, packet);
  if (passing.branches->all[passing.branch].branching == Branch::kNone) {
    sink_.spread(sink_.context, destination, packet);
  }
}

void BufferedLinks::show(const Passing& passing, Ps from, Ps to, bool last) const {
  sink_.passed(sink_.context,
               {passing.packet, passing.source, passing.destination, from, to, last});
}

}  // namespace fairlead::hw
