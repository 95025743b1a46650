// What the members of a group do to answer its queries (Port::query), wherever that runs: on a
// member's host, or on its network interface while the host computes.
//
// The first member puts the queries in order: each is asked of it and runs alone. A query is a
// sweep over a binomial tree, down and up again, in which every member checks the condition; where
// it held on all, a second sweep checks again. What held both times on each member held on all at
// once when the first sweep had ended, unless it ceased and came back on some member between its
// two looks, which nobody sees. Then a third sweep stores, so that who asked hears of it when every
// member has the value.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "fairlead/base/ring.h"
#include "fairlead/lci/group/group_table.h"
#include "fairlead/lci/group/query_packet.h"
#include "fairlead/lci/memory/memory_server.h"
#include "fairlead/proto/multicast_tree.h"

namespace fairlead::lci {

// One member's part, of all its groups. Site: where it runs, and for which rank:
//   size()                         ranks of the job
//   send(to, packet)               to any member, itself included, in order; it never fails
//   look(who, query, stores)       what this member's memory says, as MemoryServer::look(). nullopt
//                                  is an interface's: its host is asked by a packet to the member
//                                  itself (look or write), and answers by a verdict
// Thread: the site's.
template <class Site>
class QuerySweeps {
 public:
  static constexpr std::size_t kQueriesMax = 256;  // of one rank, not yet answered

  // The table's rank is the member. Both references outlive it.
  QuerySweeps(Site& site, const GroupTable& groups) : site_(site), groups_(groups) {}

  // A packet for this member, but for answers. What is for a group not yet named waits for that.
  void take(Rank source, const QueryPacket& packet) {
    const std::uint16_t group = packet.query.group;
    if (!groups_.knows(group)) {
      if (packet.tells_query()) keep_early(source, packet);
    } else if (groups_.index_of(group, source)) {
      take_known(source, packet);
    }
  }

  void named(std::uint16_t group) {
    const auto found = early_.find(group);
    if (found == early_.end()) return;
    const std::vector<Early> early = std::move(found->second);
    early_.erase(found);
    for (const Early& one : early) take(one.source, one.packet);
  }
  void forgotten(std::uint16_t group) {
    // Its number goes on where a group of that name may come again: late verdicts are told apart.
    const auto found = turns_.find(group);
    if (found == turns_.end()) return;
    Turn fresh;
    fresh.number = found->second.number;
    turns_.erase(found);
    turns_.emplace(group, std::move(fresh));
  }
  void peer_lost(Rank rank) {
    if (is_lost(rank)) return;
    lost_.push_back(rank);
    for (auto& [group, turn] : turns_) {
      if (gone_from(turn.waits, rank)) merge(group, turn, Verdict::lost);
    }
  }
  bool has_lost(std::uint16_t group) const {
    return std::any_of(lost_.begin(), lost_.end(),
                       [&](Rank rank) { return groups_.index_of(group, rank).has_value(); });
  }

 private:
  using Kind = QueryPacket::Kind;

  struct Asked {
    Rank rank;
    std::uint32_t id;
    Query query;
  };
  // The sweep that is under way in a group, as far as it concerns the tree below this member.
  struct Turn {
    bool running = false;
    Kind sweep = Kind::check;
    std::uint32_t number = 0;
    Verdict verdict = Verdict::yes;  // of those that have answered
    std::vector<Rank> waits;         // for these children, and for its own host
    Asked asked{};
    // The first member's.
    bool broken = false;  // a member was lost: nothing holds on all any more
    Ring<Asked> queue;
  };
  struct Early {
    Rank source;
    QueryPacket packet;
  };

  bool is_lost(Rank rank) const {
    return std::find(lost_.begin(), lost_.end(), rank) != lost_.end();
  }
  Rank self() const { return groups_.self(); }
  Rank first_of(std::uint16_t group) const { return groups_.member(group, 0); }
  Rank parent_in(std::uint16_t group) const {
    // The parent in a binomial tree: the lowest set bit cleared (proto/multicast_tree.h).
    const std::uint32_t own = groups_.own_index(group);
    return groups_.member(group, own & (own - 1));
  }
  static bool gone_from(std::vector<Rank>& waits, Rank rank) {
    const auto found = std::find(waits.begin(), waits.end(), rank);
    if (found == waits.end()) return false;
    waits.erase(found);
    return true;
  }

  void keep_early(Rank source, const QueryPacket& packet) {
    std::vector<Early>& early = early_[packet.query.group];
    // A rank asks no more at a time, and a parent checks once.
    const auto of_source = std::count_if(
        early.begin(), early.end(), [source](const Early& one) { return one.source == source; });
    if (static_cast<std::size_t>(of_source) <= kQueriesMax) early.push_back({source, packet});
  }

  void take_known(Rank source, const QueryPacket& packet) {
    const std::uint16_t group = packet.query.group;
    const bool first = first_of(group) == self();
    if (packet.kind == Kind::ask) {
      if (first) ask({source, packet.rank_or_id, packet.query});
      return;
    }
    Turn& turn = turns_[group];
    if (packet.kind == Kind::verdict) {
      if (packet.number == turn.number && gone_from(turn.waits, source)) {
        merge(group, turn, packet.verdict);
      }
      return;
    }
    if (first || source != parent_in(group)) return;
    if (packet.kind == Kind::check) {
      if (packet.rank_or_id >= site_.size()) return;
      turn.asked = {packet.rank_or_id, 0, packet.query};
    }
    turn.running = true;
    turn.sweep = packet.kind;
    turn.number = packet.number;
    sweep(group, turn);
  }

  // --- The first member: one query of a group after the other.

  void ask(const Asked& asked) {
    const std::uint16_t group = asked.query.group;
    Turn& turn = turns_[group];
    // More than all members may have under way: somebody does not count.
    if (turn.queue.size() >= kQueriesMax * groups_.size(group)) return;
    turn.queue.push_back(asked);
    if (!turn.running) next(group, turn);
  }
  void next(std::uint16_t group, Turn& turn) {
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
  void step(std::uint16_t group, Turn& turn) {
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
  void answer(std::uint16_t group, const Asked& asked, Verdict verdict) {
    QueryPacket packet{Kind::answer, verdict, 0, asked.id, {}};
    packet.query.group = group;
    site_.send(asked.rank, packet);
  }

  // --- Every member.

  void sweep(std::uint16_t group, Turn& turn) {
    if (first_of(group) == self()) turn.number = (turn.number + 1) % QueryPacket::kNumbers;
    turn.waits.clear();
    turn.verdict = Verdict::yes;
    // Not everybody hears of a loss at one time: the first member may not know yet.
    const auto wait_for = [&](Rank rank) {
      if (is_lost(rank)) {
        turn.verdict = Verdict::lost;
      } else {
        turn.waits.push_back(rank);
      }
    };
    proto::for_each_child(proto::TreeShape::binomial, groups_.own_index(group), groups_.size(group),
                          [&](std::uint32_t child) { wait_for(groups_.member(group, child)); });
    QueryPacket packet{turn.sweep, Verdict::yes, turn.number, turn.asked.rank, turn.asked.query};
    for (const Rank child : turn.waits) site_.send(child, packet);
    const bool stores = turn.sweep == Kind::store;
    const std::optional<Verdict> here = site_.look(turn.asked.rank, turn.asked.query, stores);
    if (here) {
      turn.verdict = std::max(turn.verdict, *here);
    } else {
      packet.kind = stores ? Kind::write : Kind::look;
      wait_for(self());
      site_.send(self(), packet);
    }
    end_sweep(group, turn);
  }
  void merge(std::uint16_t group, Turn& turn, Verdict verdict) {
    turn.verdict = std::max(turn.verdict, verdict);
    end_sweep(group, turn);
  }
  void end_sweep(std::uint16_t group, Turn& turn) {
    if (!turn.waits.empty()) return;
    if (first_of(group) == self()) {
      step(group, turn);
      if (!turn.running) next(group, turn);
      return;
    }
    turn.running = false;
    QueryPacket packet{Kind::verdict, turn.verdict, turn.number, 0, {}};
    packet.query.group = group;
    site_.send(parent_in(group), packet);
  }

  Site& site_;
  const GroupTable& groups_;
  std::map<std::uint16_t, Turn> turns_;
  std::vector<Rank> lost_;
  std::map<std::uint16_t, std::vector<Early>> early_;  // by group not yet named
};

}  // namespace fairlead::lci
