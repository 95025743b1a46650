#include "fairlead/fabric/model/firelink/line_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "fairlead/hw/event_kinds.h"

namespace fairlead::fabric::model {

LineNetwork::LineNetwork(const FirelinkParts& parts, std::uint32_t nodes)
    : parts_(parts), wiring_(parts.ni, nodes), states_(wiring_, parts.ni.stripes), nodes_(nodes) {
  for (Peer node = 0; node < nodes; ++node) {
    nodes_[node].paths.resize(parts.ni.nis);
    nodes_[node].out.resize(wiring_.links());
    nodes_[node].in.resize(wiring_.links());
    const std::uint32_t here = parts.ranks.ranks_on(node);
    if (parts.ranks.several() && here > 0) {
      nodes_[node].memory =
          std::make_unique<hw::HostMemory>(here + parts.ni.nis, parts.memory_rate);
    }
  }
  for (Rank rank = 0; rank < parts.ranks.ranks; ++rank) {
    ranks_.push_back(std::make_unique<Own>(rank));
  }
}

// --- Times

Ps LineNetwork::wire_time(std::uint64_t thousandths, std::uint32_t lines) const {
  return scaled_to_ps(thousandths * lines, parts_.network.link.count * 1000);
}

Ps LineNetwork::path_time(std::uint32_t lines) const {
  return time_for(Bytes{lines * hw::kFirelinkLineBytes}, parts_.plane.ni_path);
}

Ps LineNetwork::forward_time(const LineRun& run, std::uint32_t lines) const {
  const bool asks = run.order.kind == RunKind::load;
  return wire_time(asks ? parts_.ni.completion_wire : parts_.ni.line_wire, lines);
}

Ps LineNetwork::backward_time(const LineRun& run, std::uint32_t lines) const {
  const bool answers = run.order.kind == RunKind::load;
  return wire_time(answers ? parts_.ni.line_wire : parts_.ni.completion_wire, lines);
}

Ps LineNetwork::slowed(Rank rank, Ps alone, std::uint64_t bytes) {
  const std::unique_ptr<hw::HostMemory>& memory = nodes_[node_of(rank)].memory;
  if (memory == nullptr) return alone;
  return memory->use(parts_.ranks.place_of(rank), now(), alone, bytes);
}

// An interface's lines are one more user of the memory that the node's ranks share.
Ps LineNetwork::held_up(Peer node, std::uint32_t ni, Ps end, std::uint32_t lines) {
  hw::HostMemory* const memory = nodes_[node].memory.get();
  if (memory == nullptr) return end;
  const Ps alone = path_time(lines);
  const std::uint32_t user = parts_.ranks.ranks_on(node) + ni;
  return end + memory->use(user, now(), alone, lines * hw::kFirelinkLineBytes) - alone;
}

// --- The way there

void LineNetwork::begin(Rank rank, std::uint32_t id) {
  LineRun& starting = run(id);
  const bool again = std::exchange(starting.lost, false);
  starting.order = parts_.runs.front(id).order;
  starting.source = rank;
  starting.ways = 0;
  const RunOrder& order = starting.order;
  starting.lines = lines_in(order);
  Own& own = of(rank);
  Ps stored{};
  if (order.kind != RunKind::load) {
    own.ahead += starting.lines;
    stored = parts_.plane.store_line;
    starting.spread = stored * static_cast<std::int64_t>(starting.lines - 1);
  }
  if (!again && order.kind == RunKind::packet) {
    starting.number = next_number(own, order);
  } else if (order.kind != RunKind::packet) {
    starting.number = order.offset / hw::kFirelinkLineBytes;
  }
  if (!again && order.kind == RunKind::put) {
    if (order.operation >= own.puts.size()) own.puts.resize(order.operation + 1);
    ++own.puts[order.operation].runs;
    own.puts[order.operation].closed |= order.last != 0;
  }
  at<&LineNetwork::on_interface>(now() + stored + parts_.plane.latency, node_of(rank),
                                 hw::kDoorbellEvent, id);
}

std::uint64_t LineNetwork::next_number(Own& own, const RunOrder& order) {
  if (order.dest >= own.posted.size()) own.posted.resize(order.dest + 1);
  std::unique_ptr<std::uint64_t[]>& counts = own.posted[order.dest];
  if (counts == nullptr) counts = std::make_unique<std::uint64_t[]>(kLanes);
  return counts[order.lane]++;
}

// A named link; else an interface by the run's block, then its links line by line. Processors begin
// at different interfaces, whomever they send to: those of a host that do the same at the same
// time, as pairs of ranks do, must not all be at one interface.
void LineNetwork::choose_ways(LineRun& going) const {
  LinkStates::Way named{};
  if (going.order.rail != 0 && states_.open(node_of(going.source), node_of(going.order.dest),
                                            going.order.rail - 1U, &named)) {
    going.ways = 1;
    going.on[0] = {named.out, named.in, going.lines};
    return;
  }
  const std::vector<LinkStates::Way>& all =
      states_.routed(node_of(going.source), node_of(going.order.dest));
  going.ways = 0;
  std::uint32_t nis = 0;
  constexpr std::uint32_t kNisMax = 4;  // as links.nis has it
  std::uint32_t links[kNisMax] = {};
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == 0 || ni_of(all[i].out) != ni_of(all[i - 1].out)) ++nis;
    ++links[nis - 1];
  }
  if (nis == 0) return;
  const bool packet = going.order.kind == RunKind::packet;
  const std::uint64_t unit =
      packet ? going.number : going.number / (parts_.ni.block_bytes / hw::kFirelinkLineBytes);
  const std::uint64_t turn = unit + going.source;
  std::uint64_t chosen = turn % nis;
  const bool alike =
      std::all_of(links, links + nis, [&](std::uint32_t each) { return each == links[0]; });
  if (!alike) {
    // Where some of an interface's links are dead, each living one has its share.
    chosen = 0;
    for (std::uint64_t left = turn % all.size(); left >= links[chosen]; ++chosen) {
      left -= links[chosen];
    }
  }
  std::uint32_t ni = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0 && ni_of(all[i].out) != ni_of(all[i - 1].out)) ++ni;
    if (ni == chosen) going.on[going.ways++] = {all[i].out, all[i].in, 0};
  }
  for (std::uint32_t link = 0; link < going.ways; ++link) {
    const auto place = static_cast<std::uint32_t>(
        (link + going.ways - (packet ? going.number / nis : going.number) % going.ways) %
        going.ways);
    going.on[link].lines = going.lines / going.ways + (place < going.lines % going.ways ? 1U : 0U);
  }
}

std::uint64_t LineNetwork::downs(const LineRun& going) const {
  std::uint64_t all = 0;
  for (std::uint32_t i = 0; i < going.ways; ++i) {
    const LineRun::OnLink& on = going.on[i];
    if (on.lines == 0) continue;
    all += states_.downs(node_of(going.source), node_of(going.order.dest), {on.out, on.in});
  }
  return all;
}

// One of its links does not live, or has died since it left.
bool LineNetwork::died(const LineRun& going) const {
  for (std::uint32_t i = 0; i < going.ways; ++i) {
    const LineRun::OnLink& on = going.on[i];
    if (on.lines == 0) continue;
    if (!states_.up(node_of(going.source), node_of(going.order.dest),
                    LinkStates::Way{on.out, on.in})) {
      return true;
    }
  }
  return downs(going) != going.downs;
}

void LineNetwork::on_interface(std::uint32_t id) {
  LineRun& going = run(id);
  choose_ways(going);
  going.downs = downs(going);
  if (going.ways == 0 || died(going)) return lose(id);
  Node& node = nodes_[node_of(going.source)];
  Ps line{};  // what asks for a line is an address only
  Ps first = now();
  if (going.order.kind != RunKind::load) {
    line = path_time(1);
    first = node.paths[ni_of(going.on[0].out)].carry(now(), path_time(going.lines)) -
            path_time(going.lines) + line;
  }
  Ps head = kNever;
  going.tail = Ps{0};
  for (std::uint32_t i = 0; i < going.ways; ++i) {
    const LineRun::OnLink& on = going.on[i];
    if (on.lines == 0) continue;
    const Ps one = forward_time(going, 1);
    const Ps all = forward_time(going, on.lines);
    const Ps end = node.out[on.out].carry(first + parts_.ni.pass, all);
    head = std::min(head, end - all + one);
    // The last line cannot leave before the processor has stored it.
    going.tail = std::max({going.tail, end, now() + going.spread + line + parts_.ni.pass + one});
  }
  going.tail += hop();
  at<&LineNetwork::on_other_end>(head + hop(), node_of(going.source), hw::kHeadEvent, id);
}

// The first line is at the destination's interface.
void LineNetwork::on_other_end(std::uint32_t id) {
  LineRun& going = run(id);
  if (died(going)) return lose(id);
  const Peer to = node_of(going.order.dest);
  Node& node = nodes_[to];
  if (wiring_.switched()) {
    for (std::uint32_t i = 0; i < going.ways; ++i) {
      const LineRun::OnLink& on = going.on[i];
      if (on.lines == 0) continue;
      const Ps end =
          node.in[on.in].carry(now() - forward_time(going, 1), forward_time(going, on.lines));
      going.tail = std::max(going.tail, end);
    }
  }
  const std::uint32_t ni = ni_of(going.on[0].in);
  Ps end = going.tail + parts_.ni.pass;
  if (going.order.kind == RunKind::load) {
    end += parts_.plane.latency + parts_.plane.memory_read;
  } else {
    end = std::max(end + path_time(1), node.paths[ni].carry(now(), path_time(going.lines)));
    // One event for both: in memory, and seen by a processor that looks.
    end = held_up(to, ni, end, going.lines) + parts_.plane.memory_write + parts_.plane.look;
  }
  at<&LineNetwork::on_memory>(end, to, hw::kDmaEvent, id);
}

void LineNetwork::on_memory(std::uint32_t id) {
  const LineRun& here = run(id);
  if (died(here)) return lose(id);
  if (here.order.interrupt == 0) return arrived(id);
  at<&LineNetwork::arrived>(now() + parts_.interrupt, node_of(here.order.dest), hw::kVisibleEvent,
                            id);
}

void LineNetwork::arrived(std::uint32_t id) {
  const LineRun& here = run(id);
  const Peer from = node_of(here.source);
  const Ps back = complete(here);
  switch (here.order.kind) {
    case RunKind::packet:
      parts_.engine.at(back, from, hw::kLeftEvent, &LineNetwork::on_lines_completed, this,
                       here.source, here.lines);
      return receive(id);
    case RunKind::room:
      tell_room(here.order, here.source);
      return at<&LineNetwork::on_stored>(back, from, hw::kLeftEvent, id);
    case RunKind::put:
      write(id);
      return at<&LineNetwork::on_stored>(back, from, hw::kLeftEvent, id);
    case RunKind::load:
      read(id);
      return at<&LineNetwork::on_loaded>(back, from, hw::kDmaEvent, id);
    case RunKind::other:
      return at<&LineNetwork::on_background_completed>(back, from, hw::kLeftEvent, id);
  }
}

// --- The way back

// When the run's completions, or the lines that it asked for, are at its processor. What goes back
// is booked on both cables of a way at once.
Ps LineNetwork::complete(const LineRun& here) {
  Node& source = nodes_[node_of(here.source)];
  Node& dest = nodes_[node_of(here.order.dest)];
  // An interface sends completions as soon as the lines are in memory.
  const bool loads = here.order.kind == RunKind::load;
  const Ps there = loads ? now() : now() - parts_.plane.look;
  Ps done = there;
  for (std::uint32_t i = 0; i < here.ways; ++i) {
    const LineRun::OnLink& on = here.on[i];
    if (on.lines == 0) continue;
    const Ps time = backward_time(here, on.lines);
    done = std::max(done, dest.out[on.in].carry(there, time));
    if (wiring_.switched()) done = std::max(done, source.in[on.out].carry(there, time));
  }
  if (loads) {
    done = std::max(done, dest.paths[ni_of(here.on[0].in)].carry(now(), path_time(1)));
    done = std::max(done, source.paths[ni_of(here.on[0].out)].carry(now(), path_time(1)));
  }
  return std::max(now(), done + hop() + parts_.ni.pass * 2 + parts_.plane.latency);
}

void LineNetwork::on_lines_completed(void* self, std::uint64_t rank, std::uint64_t lines) {
  static_cast<LineNetwork*>(self)->lines_back(static_cast<Rank>(rank),
                                              static_cast<std::uint32_t>(lines));
}

void LineNetwork::lines_back(Rank rank, std::uint32_t lines) {
  Own& own = of(rank);
  own.ahead -= lines;
  own.host.advanced(own.host.context);
}

void LineNetwork::on_stored(std::uint32_t id) {
  const LineRun& over = run(id);
  const Rank source = over.source;
  const std::uint32_t lines = over.lines;
  const RunOrder order = over.order;
  parts_.runs.give(id);
  if (order.kind == RunKind::put) put_went(source, order);
  lines_back(source, lines);
}

// A run of it is there, or lost.
void LineNetwork::put_went(Rank source, const RunOrder& order) {
  Own::Put& put = of(source).puts[order.operation];
  if (--put.runs > 0 || !put.closed) return;
  const std::uint8_t ok = put.denied ? FirelinkNews::kPutRefused
                          : put.lost ? FirelinkNews::kPutLost
                                     : FirelinkNews::kPutThere;
  put = Own::Put{};
  const bool whole = states_.whole(node_of(source), node_of(order.dest));
  tell(source, {FirelinkNews::What::ended, ok, 0, order.dest, order.operation, whole ? 1U : 0U});
}

void LineNetwork::on_loaded(std::uint32_t id) {
  const FirelinkSink& host = of(run(id).source).host;
  host.loaded(host.context);
}

// --- In the destination's memory

void LineNetwork::write(std::uint32_t id) {
  const LineRun& here = run(id);
  Own& own = of(here.order.dest);
  const std::optional<std::uint64_t> address =
      own.keys.find(here.order.key, here.order.offset, here.order.bytes, false, true);
  if (!address) {
    of(here.source).puts[here.order.operation].denied = true;
    return;
  }
  (void)own.memory->write(*address, parts_.runs.payload(id), here.order.bytes);
  own.host.changed(own.host.context);
}

void LineNetwork::read(std::uint32_t id) {
  LineRun& here = run(id);
  Own& own = of(here.order.dest);
  const std::optional<std::uint64_t> address =
      own.keys.find(here.order.key, here.order.offset, here.order.bytes, true, false);
  here.end = address ? LoadEnd::done : LoadEnd::denied;
  if (address) (void)own.memory->read(*address, parts_.runs.payload(id), here.order.bytes);
}

// A packet is visible once all before it in its ring are.
void LineNetwork::receive(std::uint32_t id) {
  const LineRun& here = run(id);
  Own& own = of(here.order.dest);
  const Rank source = here.source;
  const std::uint8_t lane = here.order.lane;
  if (source >= own.rings.size()) own.rings.resize(source + 1);
  if (own.rings[source] == nullptr) own.rings[source] = std::make_unique<Own::Ring[]>(kLanes);
  Own::Ring& ring = own.rings[source][lane];
  ring.early[here.number] = id;
  while (!ring.early.empty() && ring.early.begin()->first == ring.next) {
    const std::uint32_t next = ring.early.begin()->second;
    ring.early.erase(ring.early.begin());
    ++ring.next;
    RunFront& front = parts_.runs.front(next);
    front.source = source;
    front.lane = lane;
    own.host.received(own.host.context, next);
  }
}

void LineNetwork::tell_room(const RunOrder& order, Rank source) {
  tell(order.dest, {FirelinkNews::What::room, 1, order.lane, source, 0, order.slots});
}

void LineNetwork::tell(Rank rank, const FirelinkNews& news) {
  const FirelinkSink& host = of(rank).host;
  host.told(host.context, news);
}

// --- On one node

void LineNetwork::pass_near(Rank rank, std::uint32_t id, Ps time) {
  LineRun& passing = run(id);
  passing.order = parts_.runs.front(id).order;
  passing.source = rank;
  if (passing.order.kind == RunKind::packet) {
    passing.number = next_number(of(rank), passing.order);
  }
  at<&LineNetwork::on_near>(now() + time, node_of(rank), hw::kNearEvent, id);
}

void LineNetwork::on_near(std::uint32_t id) {
  const LineRun& here = run(id);
  if (here.order.kind == RunKind::packet) return receive(id);
  const RunOrder order = here.order;
  const Rank source = here.source;
  parts_.runs.give(id);
  tell_room(order, source);
}

// --- What it was at

Ps LineNetwork::interfaces_busy(Peer node) const {
  Ps all{};
  for (const hw::LineLane& path : nodes_[node].paths) all += path.busy();
  return all;
}

hw::Network::BusyLink LineNetwork::busiest() const {
  hw::Network::BusyLink most;
  for (Peer node = 0; node < nodes_.size(); ++node) {
    for (std::size_t link = 0; link < nodes_[node].out.size(); ++link) {
      const Ps time = nodes_[node].out[link].busy();
      if (time > most.time) most = {fmt::format("{}-link{}, outwards", node, link), time};
    }
  }
  return most;
}

Ps LineNetwork::links_busy(Peer node) const {
  Ps all{};
  for (const hw::LineLane& link : nodes_[node].out) all += link.busy();
  return all;
}

}  // namespace fairlead::fabric::model
