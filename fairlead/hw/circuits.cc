#include "fairlead/hw/circuits.h"

#include <algorithm>
#include <utility>

#include "fairlead/base/check.h"
#include "fairlead/hw/event_kinds.h"

namespace fairlead::hw {
namespace {

// Where a head is: its worm, and its branch or kNone.
std::uint64_t place_of(std::uint32_t worm, std::uint32_t branch) {
  return std::uint64_t{branch} << 32 | worm;
}
std::uint32_t low(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
std::uint32_t high(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }

}  // namespace

Circuits::Circuits(sim::Engine& engine, const NetworkParams& params, const Topology& topology)
    : engine_(engine),
      params_(params),
      topology_(topology),
      step_(params.switch_delay + params.cable),
      links_(topology.channels()),
      sources_(topology.nodes()) {
  const FatTree* const tree = topology.ordered_fat_tree();
  if (tree == nullptr) return;
  switches_ = std::make_unique<BranchingSwitches>(*tree, topology.nodes());
  forks_.resize(switches_->count());
  turn_.resize(topology.channels());
}

std::uint32_t Circuits::take_worm() {
  if (free_.empty()) {
    worms_.emplace_back();
    return static_cast<std::uint32_t>(worms_.size() - 1);
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  return index;
}

const Branches& Circuits::branches(Peer first, Peer last) {
  std::unique_ptr<Branches>& known = branches_[{first, last}];
  if (known == nullptr) known = std::make_unique<Branches>(topology_, *switches_, first, last);
  return *known;
}

std::uint32_t Circuits::new_worm(const CircuitRequest& request) {
  const std::uint32_t index = take_worm();
  Worm& worm = worms_[index];
  worm.request = request;
  worm.path.clear();
  worm.fixed_path.clear();
  worm.branches = nullptr;
  worm.heads = worm.pending = request.last - request.first + 1;
  worm.outcome = Outcome::done;
  worm.level = 0;
  worm.copy = 0;
  worm.acknowledged = Ps{};
  worm.lifts = false;
  worm.of_switch = false;
  worm.left = time_for(Bytes{request.bytes}, params_.link);
  return index;
}

std::uint32_t Circuits::open(Ps at, const CircuitRequest& request) {
  const std::uint32_t index = new_worm(request);
  Worm& worm = worms_[index];
  if (request.first != request.last) {
    worm.branches = &branches(request.first, request.last);
    worm.top = worm.branches->root_level;
  } else if (const FatTree* const tree = topology_.ordered_fat_tree()) {
    worm.top = tree->common_level(request.source, request.first);
  } else {
    topology_.route(request.source, request.first, worm.fixed_path);
  }
  engine_.at(at + params_.fixed, request.source, kHeadEvent, &Circuits::on_head, this,
             request.packet, place_of(index, kNone));
  return index;
}

void Circuits::lift(Ps at, std::uint32_t packet, Peer source, ChannelId link, std::uint64_t bytes) {
  const std::uint32_t index = new_worm({packet, source, source, source, bytes});
  Worm& worm = worms_[index];
  worm.lifts = true;
  worm.of_switch = link != source;
  worm.fixed_path.push_back(link);
  const Ps fixed = worm.of_switch ? Ps{0} : params_.fixed;
  engine_.at(at + fixed, source, kHeadEvent, &Circuits::on_head, this, packet,
             place_of(index, kNone));
}

std::uint32_t Circuits::spread(std::uint32_t packet, Peer first, Peer last, std::uint64_t bytes) {
  const std::uint32_t index = new_worm({packet, first, first, last, bytes});
  Worm& worm = worms_[index];
  worm.of_switch = true;
  worm.branches = &branches(first, last);
  worm.top = worm.branches->root_level;
  engine_.at(engine_.now(), first, kHeadEvent, &Circuits::on_head, this, packet,
             place_of(index, kNone));
  return index;
}

// --- Heads

void Circuits::on_head(void* self, std::uint64_t, std::uint64_t place) {
  static_cast<Circuits*>(self)->head_moved(low(place), high(place));
}

// The head has come through the link that it was granted last, if any.
void Circuits::head_moved(std::uint32_t index, std::uint32_t branch) {
  Worm& worm = worms_[index];
  if (worm.branches != nullptr) {
    if (branch == kNone) {
      if (worm.of_switch || worm.path.size() == worm.top + 1) return ask_fork(index, kNone);
      return ask(index, kNone);
    }
    if (worm.branches->all[branch].branching != Branch::kNone) return ask_fork(index, branch);
  } else if (!at_end(worm)) {
    return ask(index, kNone);
  }
  if (--worm.heads == 0 || worm.branches == nullptr) begin_stream(index);
}

ChannelId Circuits::next_channel(Worm& worm) {
  if (!worm.fixed_path.empty()) return worm.fixed_path[worm.path.size()];
  if (worm.path.empty()) return worm.request.source;
  const FatTree& tree = *topology_.ordered_fat_tree();
  const auto done = static_cast<std::uint32_t>(worm.path.size()) - 1;  // between switches
  if (done < worm.top) return way_up(worm, tree);
  if (worm.level == 0) return topology_.channel_to_host(worm.request.last);
  --worm.level;
  const ChannelId down = tree.cable_down(worm.level, worm.request.last, worm.copy);
  worm.copy = tree.copy_below(worm.level, worm.copy);
  return topology_.first_between_switches() + down;
}

ChannelId Circuits::way_up(Worm& worm, const FatTree& tree) {
  const ChannelId first = topology_.first_between_switches() +
                          tree.cable_up(worm.level, worm.request.source, worm.copy, 0);
  std::uint32_t port = 0;
  if (worm.branches == nullptr && params_.adaptive_ascent) {
    std::uint32_t least = UINT32_MAX;
    const std::uint32_t turn = turn_[first]++ % tree.uplinks();
    for (std::uint32_t i = 0; i < tree.uplinks(); ++i) {
      const std::uint32_t tried = (turn + i) % tree.uplinks();
      const Link& link = links_[first + tried];
      if (link.taken + link.waiting.length >= least) continue;
      least = link.taken + link.waiting.length;
      port = tried;
    }
  } else if (worm.branches == nullptr) {
    // By the destination's digits, as wormholes of such a tree go.
    const std::uint64_t below = tree.hosts_below(worm.level) / tree.ports_down(worm.level);
    port = static_cast<std::uint32_t>(worm.request.last / below % tree.uplinks());
  }
  worm.copy = tree.copy_above(worm.level, worm.copy, port);
  ++worm.level;
  return first + port;
}

void Circuits::ask(std::uint32_t index, std::uint32_t branch) {
  Worm& worm = worms_[index];
  const ChannelId channel =
      branch == kNone ? next_channel(worm) : worm.branches->all[branch].channel;
  if (branch == kNone) worm.path.push_back(channel);
  Link& link = links_[channel];
  if (link.taken == params_.virtual_channels) return wait_in(link.waiting, index, branch);
  granted(index, branch, channel, engine_.now());
}

// From `when` on, or as soon as the channel that was freed last is.
void Circuits::granted(std::uint32_t index, std::uint32_t branch, ChannelId channel, Ps when) {
  Link& link = links_[channel];
  std::uint32_t best = 0;
  for (std::uint32_t i = 1; i < params_.virtual_channels; ++i) {
    if (link.free_at[i] < link.free_at[best]) best = i;
  }
  const Ps from = std::max(when, link.free_at[best]);
  link.free_at[best] = kNever;
  link.holder[best] = index;
  ++link.taken;
  blocked_ += from - engine_.now();
  const Worm& worm = worms_[index];
  const bool to_host = branch == kNone ? channel == topology_.channel_to_host(worm.request.last) &&
                                             worm.branches == nullptr
                                       : worm.branches->all[branch].branching == Branch::kNone;
  engine_.at(from + (to_host ? params_.cable : step_), worm.request.source, kHeadEvent,
             &Circuits::on_head, this, worm.request.packet, place_of(index, branch));
}

// A head waits for the switch that it is to branch in; kNone: for the root.
void Circuits::ask_fork(std::uint32_t index, std::uint32_t branch) {
  const Branches& branches = *worms_[index].branches;
  Fork& fork = forks_[branch == kNone ? branches.root : branches.all[branch].branching];
  if (fork.holder != kNone) return wait_in(fork.waiting, index, branch);
  fork.holder = index;
  forked(index, branch, std::max(engine_.now(), fork.free_at));
}

void Circuits::forked(std::uint32_t index, std::uint32_t branch, Ps when) {
  const Branches& branches = *worms_[index].branches;
  blocked_ += when - engine_.now();
  const std::uint32_t first = branch == kNone ? 0 : branches.all[branch].first_child;
  const std::uint32_t count = branch == kNone ? branches.from_root : branches.all[branch].children;
  for (std::uint32_t child = first; child < first + count; ++child) {
    Link& link = links_[branches.all[child].channel];
    if (link.taken == params_.virtual_channels) {
      wait_in(link.waiting, index, child);
    } else {
      granted(index, child, branches.all[child].channel, when);
    }
  }
}

// --- Data

template <class Visit>
void Circuits::for_each_channel(const Worm& worm, Visit&& visit) const {
  for (const ChannelId channel : worm.path) visit(channel);
  if (worm.branches == nullptr) return;
  for (const Branch& branch : worm.branches->all) visit(branch.channel);
}

std::uint32_t Circuits::channels_to_host(const Worm& worm) const {
  if (worm.branches == nullptr) return static_cast<std::uint32_t>(worm.path.size());
  return (worm.of_switch ? 1 : 2) * (worm.top + 1);
}

std::uint32_t Circuits::share_of(const Worm& worm) const {
  std::uint32_t most = 1;
  for_each_channel(worm, [&](ChannelId channel) {
    std::uint32_t streams = 0;
    for (const std::uint32_t holder : links_[channel].holder) {
      streams += holder != kNone && worms_[holder].streaming ? 1 : 0;
    }
    most = std::max(most, streams);
  });
  return most;
}

void Circuits::schedule_tail(std::uint32_t index) {
  Worm& worm = worms_[index];
  engine_.at(engine_.now() + worm.left * worm.share, worm.request.source, kTailEvent,
             &Circuits::on_tail, this, worm.request.packet, place_of(index, ++worm.schedule));
}

// Others have begun or ended to stream on its links.
void Circuits::pace(std::uint32_t index) {
  Worm& worm = worms_[index];
  const std::uint32_t share = share_of(worm);
  if (share == worm.share) return;
  worm.left -= (engine_.now() - worm.since) / worm.share;
  worm.since = engine_.now();
  worm.share = share;
  schedule_tail(index);
}

void Circuits::begin_stream(std::uint32_t index) {
  if (worms_[index].of_switch) return stream(index);
  Source& source = sources_[worms_[index].request.source];
  if (source.streams != kNone) {
    source.waiting.push_back(index);
    return;
  }
  source.streams = index;
  stream(index);
}

void Circuits::stream(std::uint32_t index) {
  Worm& worm = worms_[index];
  worm.streaming = true;
  worm.since = engine_.now();
  worm.share = share_of(worm);
  schedule_tail(index);
  if (worm.share > 1) pace_others(index);
}

// The others on its links go at another pace from now on.
void Circuits::pace_others(std::uint32_t index) {
  neighbours_.clear();
  for_each_channel(worms_[index], [&](ChannelId channel) {
    for (const std::uint32_t holder : links_[channel].holder) {
      if (holder == kNone || holder == index || !worms_[holder].streaming) continue;
      if (std::find(neighbours_.begin(), neighbours_.end(), holder) == neighbours_.end()) {
        neighbours_.push_back(holder);
      }
    }
  });
  for (const std::uint32_t other : neighbours_) pace(other);
}

// One of a source's packets has ended to stream.
void Circuits::next_of(Peer node) {
  Source& source = sources_[node];
  source.streams = kNone;
  if (source.waiting.empty()) return;
  source.streams = source.waiting.front();
  source.waiting.erase(source.waiting.begin());
  stream(source.streams);
}

void Circuits::on_tail(void* self, std::uint64_t, std::uint64_t word) {
  auto& circuits = *static_cast<Circuits*>(self);
  const std::uint32_t index = low(word);
  Worm& worm = circuits.worms_[index];
  if (!worm.streaming || worm.schedule != high(word)) return;
  worm.streaming = false;
  if (worm.share > 1) circuits.pace_others(index);
  const CircuitRequest request = worm.request;
  const bool lifts = worm.lifts;
  if (!worm.of_switch) circuits.next_of(request.source);
  if (lifts) {
    circuits.answer(index, request.source, Outcome::done);
    return circuits.lift_sink_.lifted(circuits.lift_sink_.context, request.packet);
  }
  for (Peer at = request.first; at <= request.last; ++at) {
    if (circuits.breaks(circuits.worms_[index], at, Leg::packet)) {
      circuits.answer(index, at, Outcome::broken);
    } else {
      circuits.sink_.arrived(circuits.sink_.context, at, request.packet);
    }
  }
}

// --- Answers and ends

void Circuits::answer(std::uint32_t index, Peer destination, Outcome outcome) {
  Worm& worm = worms_[index];
  FAIRLEAD_DCHECK(worm.pending > 0, "packet {}", worm.request.packet);
  if (outcome != Outcome::broken && breaks(worm, destination, Leg::answer)) {
    outcome = Outcome::broken;
  }
  const Ps back = step_ * channels_to_host(worm) - params_.switch_delay;
  worm.outcome = std::max(worm.outcome, outcome);
  worm.acknowledged = std::max(worm.acknowledged, engine_.now() + back);
  if (--worm.pending > 0) return;
  engine_.at(worm.acknowledged, worm.request.source, kAckEvent, &Circuits::on_ack, this,
             worm.request.packet, index);
}

void Circuits::on_ack(void* self, std::uint64_t packet, std::uint64_t index) {
  auto& circuits = *static_cast<Circuits*>(self);
  Worm& worm = circuits.worms_[index];
  circuits.break_ends(worm);
  const CircuitRequest request = worm.request;
  const Outcome outcome = worm.outcome;
  const bool of_switch = worm.of_switch;
  const Ps there = circuits.step_ * circuits.channels_to_host(worm) - circuits.params_.switch_delay;
  circuits.close(low(index));
  if (request.tells_end) {
    circuits.engine_.at(circuits.engine_.now() + there, request.source, kEndEvent,
                        &Circuits::on_end, self, packet, index);
  } else {
    circuits.free_.push_back(low(index));
  }
  if (of_switch) return;
  circuits.sink_.acknowledged(circuits.sink_.context, request.source, request.packet, outcome);
}

void Circuits::on_end(void* self, std::uint64_t, std::uint64_t index) {
  auto& circuits = *static_cast<Circuits*>(self);
  const CircuitSink& sink = circuits.sink_;
  Worm& worm = circuits.worms_[index];
  const CircuitRequest request = worm.request;
  const std::vector<Peer> untold = std::move(worm.untold);
  worm.untold.clear();
  // Those that hear of an end with some who do not hear of what the packet asked for itself.
  const Outcome outcome = untold.empty() ? worm.outcome : Outcome::done;
  circuits.free_.push_back(low(index));
  Peer first = request.first;
  for (const Peer gap : untold) {
    if (gap > first) sink.ended(sink.context, first, gap - 1, request.packet, outcome);
    first = gap + 1;
  }
  if (first <= request.last) {
    sink.ended(sink.context, first, request.last, request.packet, outcome);
  }
  sink.closed(sink.context, request.first, request.packet);
}

// The EOP of a packet that all have taken may break on its way to some.
void Circuits::break_ends(Worm& worm) {
  if (breaks_ == nullptr || worm.outcome != Outcome::done || !worm.request.tells_end) return;
  for (Peer at = worm.request.first; at <= worm.request.last; ++at) {
    if (breaks(worm, at, Leg::end)) worm.untold.push_back(at);
  }
  if (!worm.untold.empty()) worm.outcome = Outcome::broken;
}

// The EOP frees one link after the other as it passes.
void Circuits::close(std::uint32_t index) {
  const Worm& worm = worms_[index];
  if (busy_ != nullptr) [[unlikely]] {
    const Ps wire = time_for(Bytes{worm.request.bytes}, params_.link);
    for (const ChannelId channel : worm.path) (*busy_)[channel] += wire;
    if (worm.branches != nullptr) {
      for (const Branch& branch : worm.branches->all) (*busy_)[branch.channel] += wire;
    }
  }
  Ps passes = engine_.now();
  for (const ChannelId channel : worm.path) {
    free_channel(channel, index, passes);
    passes += step_;
  }
  if (worm.branches == nullptr) return;
  free_fork(worm.branches->root, passes);
  // The branches lie level by level.
  std::size_t end = worm.branches->from_root;
  for (std::size_t i = 0; i < worm.branches->all.size(); ++i) {
    if (i == end) {
      passes += step_;
      end = worm.branches->all[i - 1].first_child + worm.branches->all[i - 1].children;
    }
    const Branch& branch = worm.branches->all[i];
    free_channel(branch.channel, index, passes);
    if (branch.branching != Branch::kNone) free_fork(branch.branching, passes + step_);
  }
}

void Circuits::free_channel(ChannelId channel, std::uint32_t index, Ps when) {
  Link& link = links_[channel];
  for (std::uint32_t i = 0; i < params_.virtual_channels; ++i) {
    if (link.holder[i] != index) continue;
    link.holder[i] = kNone;
    link.free_at[i] = when;
    --link.taken;
    break;
  }
  if (link.waiting.length == 0) return;
  const Waiter next = leave(link.waiting);
  blocked_ += engine_.now() - next.asked;
  granted(next.worm, next.branch, channel, when);
}

void Circuits::free_fork(std::uint32_t number, Ps when) {
  Fork& fork = forks_[number];
  fork.free_at = when;
  fork.holder = kNone;
  if (fork.waiting.length == 0) return;
  const Waiter next = leave(fork.waiting);
  blocked_ += engine_.now() - next.asked;
  fork.holder = next.worm;
  forked(next.worm, next.branch, when);
}

void Circuits::wait_in(Queue& queue, std::uint32_t worm, std::uint32_t branch) {
  std::uint32_t id = 0;
  if (free_waiters_.empty()) {
    id = static_cast<std::uint32_t>(waiters_.size());
    waiters_.emplace_back();
  } else {
    id = free_waiters_.back();
    free_waiters_.pop_back();
  }
  waiters_[id] = {worm, branch, kNone, engine_.now()};
  (queue.first == kNone ? queue.first : waiters_[queue.last].next) = id;
  queue.last = id;
  ++queue.length;
}

// The first that is urgent, unless one before it has waited too long.
Circuits::Waiter Circuits::leave(Queue& queue) {
  std::uint32_t before = kNone;
  std::uint32_t id = queue.first;
  if (engine_.now() - waiters_[id].asked < params_.age) {
    std::uint32_t last = kNone;
    for (std::uint32_t at = id; at != kNone; last = at, at = waiters_[at].next) {
      if (!worms_[waiters_[at].worm].request.urgent) continue;
      before = last;
      id = at;
      break;
    }
  }
  const Waiter taken = waiters_[id];
  (before == kNone ? queue.first : waiters_[before].next) = taken.next;
  if (queue.last == id) queue.last = before;
  --queue.length;
  free_waiters_.push_back(id);
  return taken;
}

}  // namespace fairlead::hw
