#include "fairlead/lci/group/group_queries.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "fairlead/lci/internal_channels.h"

namespace fairlead::lci {

using Kind = QueryPacket::Kind;

GroupQueries::GroupQueries(Port& port, const GroupTable& groups, const MemoryServer& memory,
                           Backlog& backlog, TellBelow below)
    : port_(port), groups_(groups), memory_(memory), below_(below), out_(backlog) {
  port.bind(kQueryChan, Upcall{&GroupQueries::on_packet, this}, Returned{});
}

GroupQueries::~GroupQueries() = default;

GroupQueries::State& GroupQueries::state() {
  if (state_ == nullptr) state_.reset(new State{Sweeps(*this, groups_), {}});
  return *state_;
}

// --- The asking rank

Post GroupQueries::query(const Query& query, bool* all, Counter* done) {
  if (!groups_.knows(query.group)) return Post::invalid;
  if (query.offset % 8 != 0 || (query.stores && query.store_offset % 8 != 0)) return Post::invalid;
  if (state().sweeps.has_lost(query.group)) return Post::peer_down;
  std::vector<Own>& own = state().own;
  const auto free = std::find_if(own.begin(), own.end(), [](const Own& o) { return !o.used; });
  const auto id = static_cast<std::uint32_t>(free - own.begin());
  if (id == kQueriesMax) return Post::again_buffer;
  if (free == own.end()) own.emplace_back();
  own[id] = {true, query.group, all, done};
  send(first_of(query.group), {Kind::ask, Verdict::yes, 0, id, query});
  return Post::pending;
}

void GroupQueries::answered(std::uint32_t id, Verdict verdict) {
  std::vector<Own>& own = state().own;
  if (id >= own.size() || !own[id].used) return;
  const Own ended = std::exchange(own[id], {});
  ++ended_;
  if (ended.all != nullptr) *ended.all = verdict == Verdict::yes;
  if (ended.done == nullptr) return;
  const bool ok = verdict == Verdict::yes || verdict == Verdict::no;
  (ok ? ended.done->ok : ended.done->failed).fetch_add(1, std::memory_order_release);
}

// --- Packets

// What goes to this rank itself is the interface's, or needs no packet.
void GroupQueries::send(Rank to, const QueryPacket& packet) {
  if (to == port_.self() && below_ == nullptr) {
    if (packet.kind == Kind::answer) return answered(packet.rank_or_id, packet.verdict);
    return state().sweeps.take(to, packet);
  }
  push({to, packet, false, {}, {}});
}

Keep GroupQueries::on_packet(void* self, Packet*, const Arrival& arrival) {
  auto& me = *static_cast<GroupQueries*>(self);
  const std::optional<QueryPacket> packet = read_query(arrival.words, arrival.data);
  if (!packet) return Keep::no;
  const std::uint16_t group = packet->query.group;
  if (packet->kind == Kind::answer) {
    // From who was asked; an answer to a query that failed meanwhile is late.
    const std::vector<Own>& own = me.state().own;
    const std::uint32_t id = packet->rank_or_id;
    if (id < own.size() && own[id].used && own[id].group == group && me.groups_.knows(group) &&
        me.first_of(group) == arrival.source) {
      me.answered(id, packet->verdict);
    }
  } else if (packet->kind == Kind::look || packet->kind == Kind::write) {
    // Its own interface's, which answers for this member.
    if (me.below_ == nullptr || arrival.source != me.port_.self()) return Keep::no;
    QueryPacket verdict{Kind::verdict, Verdict::refused, packet->number, 0, {}};
    verdict.query.group = group;
    verdict.verdict = me.look(packet->rank_or_id, packet->query, packet->kind == Kind::write)
                          .value_or(Verdict::refused);
    me.send(me.port_.self(), verdict);
  } else if (me.below_ == nullptr) {
    me.state().sweeps.take(arrival.source, *packet);
  }
  return Keep::no;
}

// What is for the interface is there before its rank computes, if there is room.
void GroupQueries::push(Out out) {
  const bool may_go = out.to == port_.self() && out_.empty();
  if (may_go && transmit(out) == Post::done) return;
  out_.push_back(std::move(out));
}

Post GroupQueries::transmit(const Out& out) {
  if (out.is_notice) {
    Words words;
    write_notice(out.notice, words);
    return below_(port_, kGroupNameChan, words, std::as_bytes(std::span(out.members)));
  }
  const QueryWire wire = write_query(out.packet);
  if (out.to == port_.self()) {
    return below_(port_, kQueryChan, wire.words, wire.bytes());
  }
  return port_.send_small({out.to}, kQueryChan, Lane::control, wire.words, wire.bytes(), kNoBlock);
}

int GroupQueries::progress() {
  int sent = 0;
  while (!out_.empty()) {
    const Post answer = transmit(out_.front());
    if (answer == Post::again_credit || answer == Post::again_buffer) break;
    const Rank to = out_.front().to;
    out_.pop_front();
    if (answer == Post::done || answer == Post::pending) {
      ++sent;
    } else {
      peer_lost(to);
    }
  }
  return sent;
}

// --- Groups that come and go, and members that are lost

void GroupQueries::named(std::uint16_t group) {
  if (below_ != nullptr) return tell_of(group);
  if (state_ != nullptr) state_->sweeps.named(group);
}

void GroupQueries::forgotten(std::uint16_t group) {
  if (below_ != nullptr) {
    push({port_.self(), {}, true, {group, 0, 0}, {}});
  } else if (state_ != nullptr) {
    state_->sweeps.forgotten(group);
  }
}

void GroupQueries::tell_of(std::uint16_t group) {
  const std::vector<Rank> members = groups_.members(group);
  const auto total = static_cast<std::uint32_t>(members.size());
  const auto most = static_cast<std::uint32_t>(port_.caps(port_.self()).mtu_bytes / sizeof(Rank));
  for (std::uint32_t first = 0; first < total; first += most) {
    const auto begin = members.begin() + first;
    push({port_.self(),
          {},
          true,
          {group, total, first},
          {begin, begin + std::min(most, total - first)}});
  }
}

void GroupQueries::peer_lost(Rank rank) {
  state().sweeps.peer_lost(rank);
  // What the group's first member would have answered.
  const std::vector<Own>& own = state_->own;
  for (std::uint32_t id = 0; id < own.size(); ++id) {
    if (own[id].used && groups_.knows(own[id].group) && first_of(own[id].group) == rank) {
      answered(id, Verdict::lost);
    }
  }
}

}  // namespace fairlead::lci
