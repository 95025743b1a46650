#include "fairlead/lci/group/group_queries.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "fairlead/lci/internal_channels.h"
#include "fairlead/lci/until.h"
#include "fairlead/proto/multicast_tree.h"

namespace fairlead::lci {

using Kind = QueryPacket::Kind;

GroupQueries::GroupQueries(Port& port, const GroupTable& groups, const MemoryServer& memory,
                           Backlog& backlog)
    : port_(port), groups_(groups), memory_(memory), out_(backlog) {
  port.bind(kQueryChan, Upcall{&GroupQueries::on_packet, this}, Returned{});
}

GroupQueries::~GroupQueries() = default;

GroupQueries::State& GroupQueries::state() {
  if (state_ == nullptr) state_ = std::make_unique<State>();
  return *state_;
}

// --- The asking rank

Post GroupQueries::query(const Query& query, bool* all, Counter* done) {
  if (!groups_.knows(query.group)) return Post::invalid;
  if (query.offset % 8 != 0 || (query.stores && query.store_offset % 8 != 0)) return Post::invalid;
  if (has_lost(query.group)) return Post::peer_down;
  std::vector<Own>& own = state().own;
  const auto free = std::find_if(own.begin(), own.end(), [](const Own& o) { return !o.used; });
  const auto id = static_cast<std::uint32_t>(free - own.begin());
  if (id == kQueriesMax) return Post::again_buffer;
  if (free == own.end()) own.emplace_back();
  own[id] = {true, query.group, all, done};
  const Rank first = first_of(query.group);
  if (first == port_.self()) {
    ask({first, id, query});
  } else {
    send(first, {Kind::ask, Verdict::yes, 0, id, query});
  }
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

// --- The first member: one query of a group after the other

void GroupQueries::ask(const Asked& asked) {
  const std::uint16_t group = asked.query.group;
  Turn& turn = state().turns[group];
  turn.queue.push_back(asked);
  if (!turn.running) next(group, turn);
}

void GroupQueries::next(std::uint16_t group, Turn& turn) {
  turn.running = false;
  while (!turn.running && !turn.queue.empty()) {
    turn.asked = turn.queue.front();
    turn.queue.pop_front();
    if (turn.broken || has_lost(group)) {
      answer(group, turn.asked, Verdict::lost);
      continue;
    }
    turn.running = true;
    turn.sweep = Kind::check;
    sweep(group, turn);
  }
}

// A sweep has ended.
void GroupQueries::step(std::uint16_t group, Turn& turn) {
  const bool stores = turn.asked.query.stores;
  const bool more = turn.sweep == Kind::check || (turn.sweep == Kind::again && stores);
  if (turn.verdict != Verdict::yes || !more) {
    if (turn.verdict == Verdict::lost) turn.broken = true;
    turn.running = false;
    return answer(group, turn.asked, turn.verdict);
  }
  turn.sweep = turn.sweep == Kind::check ? Kind::again : Kind::store;
  sweep(group, turn);
}

void GroupQueries::answer(std::uint16_t group, const Asked& asked, Verdict verdict) {
  if (asked.rank == port_.self()) return answered(asked.id, verdict);
  QueryPacket packet{Kind::answer, verdict, 0, asked.id, {}};
  packet.query.group = group;
  send(asked.rank, packet);
}

// --- Every member

void GroupQueries::sweep(std::uint16_t group, Turn& turn) {
  if (first_of(group) == port_.self()) turn.number = (turn.number + 1) % QueryPacket::kNumbers;
  const std::uint32_t members = groups_.size(group);
  turn.waits.clear();
  proto::for_each_child(
      proto::TreeShape::binomial, groups_.own_index(group), members,
      [&](std::uint32_t child) { turn.waits.push_back(groups_.member(group, child)); });
  for (const Rank child : turn.waits) {
    send(child, {turn.sweep, Verdict::yes, turn.number, turn.asked.rank, turn.asked.query});
  }
  turn.verdict = look(turn);
  end_sweep(group, turn);
}

// What this member has to say. All it may refuse it refuses before anybody stores.
Verdict GroupQueries::look(const Turn& turn) const {
  const Query& query = turn.asked.query;
  std::uint64_t* word = nullptr;
  if (query.stores) {
    word = memory_.word(turn.asked.rank, query.store_segment, query.store_offset, kWrite);
    if (word == nullptr) return Verdict::refused;
  }
  if (turn.sweep == Kind::store) {
    std::atomic_ref(*word).store(query.store_value);
    return Verdict::yes;
  }
  word = memory_.word(turn.asked.rank, query.segment, query.offset, kRead);
  if (word == nullptr) return Verdict::refused;
  return holds(std::atomic_ref(*word).load(), query.cmp, query.value) ? Verdict::yes : Verdict::no;
}

void GroupQueries::merge(std::uint16_t group, Turn& turn, Verdict verdict) {
  turn.verdict = std::max(turn.verdict, verdict);
  end_sweep(group, turn);
}

void GroupQueries::end_sweep(std::uint16_t group, Turn& turn) {
  if (!turn.waits.empty()) return;
  if (first_of(group) == port_.self()) {
    step(group, turn);
    if (!turn.running) next(group, turn);
    return;
  }
  turn.running = false;
  QueryPacket packet{Kind::verdict, turn.verdict, turn.number, 0, {}};
  packet.query.group = group;
  send(parent_in(group), packet);
}

Rank GroupQueries::parent_in(std::uint16_t group) const {
  // The parent in a binomial tree: the lowest set bit cleared (proto/multicast_tree.h).
  const std::uint32_t own = groups_.own_index(group);
  return groups_.member(group, own & (own - 1));
}

// --- What comes

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
    return Keep::no;
  }
  if (me.groups_.knows(group)) {
    me.take(arrival.source, *packet);
  } else if (packet->tells_query()) {
    // At most kQueriesMax of each rank, and one of a parent.
    me.state().early[group].push_back({arrival.source, *packet});
  }
  return Keep::no;
}

void GroupQueries::take(Rank source, const QueryPacket& packet) {
  const std::uint16_t group = packet.query.group;
  const bool first = first_of(group) == port_.self();
  if (!groups_.index_of(group, source)) return;
  if (packet.kind == Kind::ask) {
    if (first) ask({source, packet.rank_or_id, packet.query});
    return;
  }
  Turn& turn = state().turns[group];
  if (packet.kind == Kind::verdict) {
    const auto child = std::find(turn.waits.begin(), turn.waits.end(), source);
    if (child == turn.waits.end() || packet.number != turn.number) return;
    turn.waits.erase(child);
    return merge(group, turn, packet.verdict);
  }
  if (first || source != parent_in(group)) return;
  if (packet.kind == Kind::check) {
    if (packet.rank_or_id >= port_.size()) return;
    turn.asked = {packet.rank_or_id, 0, packet.query};
  }
  turn.running = true;
  turn.sweep = packet.kind;
  turn.number = packet.number;
  sweep(group, turn);
}

int GroupQueries::progress() {
  int sent = 0;
  while (!out_.empty()) {
    const Out out = out_.front();
    const QueryWire wire = write_query(out.packet);
    const Post answer =
        port_.send_small({out.to}, kQueryChan, Lane::control, wire.words, wire.bytes(), kNoBlock);
    if (answer == Post::again_credit || answer == Post::again_buffer) break;
    out_.pop_front();
    if (answer == Post::done || answer == Post::pending) {
      ++sent;
    } else {
      peer_lost(out.to);
    }
  }
  return sent;
}

// --- Groups that come and go, and members that are lost

void GroupQueries::named(std::uint16_t group) {
  if (state_ == nullptr) return;
  const auto found = state_->early.find(group);
  if (found == state_->early.end()) return;
  const std::vector<Early> early = std::move(found->second);
  state_->early.erase(found);
  for (const Early& one : early) take(one.source, one.packet);
}

void GroupQueries::forgotten(std::uint16_t group) {
  if (state_ == nullptr) return;
  // Its number goes on where a group of that name may come again: late verdicts are told apart.
  const auto found = state_->turns.find(group);
  if (found == state_->turns.end()) return;
  Turn fresh;
  fresh.number = found->second.number;
  state_->turns.erase(found);
  state_->turns.emplace(group, std::move(fresh));
}

bool GroupQueries::has_lost(std::uint16_t group) const {
  return state_ != nullptr && std::any_of(state_->lost.begin(), state_->lost.end(), [&](Rank rank) {
           return groups_.index_of(group, rank).has_value();
         });
}

void GroupQueries::peer_lost(Rank rank) {
  std::vector<Rank>& lost = state().lost;
  if (std::find(lost.begin(), lost.end(), rank) != lost.end()) return;
  lost.push_back(rank);
  for (auto& [group, turn] : state_->turns) {
    const auto child = std::find(turn.waits.begin(), turn.waits.end(), rank);
    if (child == turn.waits.end()) continue;
    turn.waits.erase(child);
    merge(group, turn, Verdict::lost);
  }
  // What the group's first member would have answered.
  for (std::uint32_t id = 0; id < state_->own.size(); ++id) {
    const Own& own = state_->own[id];
    if (own.used && groups_.knows(own.group) && first_of(own.group) == rank) {
      answered(id, Verdict::lost);
    }
  }
}

}  // namespace fairlead::lci
