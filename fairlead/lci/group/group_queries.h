// Port::query() by packets between the members' hosts: the software default of every Port.
//
// The first member of a group puts its queries in order: each is asked of it and runs alone. A
// query is a sweep over a binomial tree, down and up again, in which every member checks the
// condition; where it held on all, a second sweep checks again. What held both times on each member
// held on all at once when the first sweep had ended, unless it ceased and came back on some member
// between its two looks, which nobody sees. Then a third sweep stores, so that who asked hears of
// it when every member has the value. Sweeps travel on Lane::control.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "fairlead/base/ring.h"
#include "fairlead/lci/backlog.h"
#include "fairlead/lci/group/group_table.h"
#include "fairlead/lci/group/query_packet.h"
#include "fairlead/lci/memory/memory_server.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

// Its port tells it of groups named and forgotten and of lost peers, and calls progress() from
// poll() while busy(). Idle it takes no memory. Thread: the port's.
class GroupQueries {
 public:
  static constexpr std::size_t kQueriesMax = 256;  // of this rank, not yet answered

  // All references outlive it.
  GroupQueries(Port& port, const GroupTable& groups, const MemoryServer& memory, Backlog& backlog);
  ~GroupQueries();
  GroupQueries(const GroupQueries&) = delete;
  GroupQueries& operator=(const GroupQueries&) = delete;

  // As Port::query(). again_buffer: kQueriesMax are under way.
  Post query(const Query& query, bool* all, Counter* done);

  void named(std::uint16_t group);
  void forgotten(std::uint16_t group);
  void peer_lost(Rank rank);

  bool busy() const { return !out_.empty(); }
  // Sends what there is room for, not inside an upcall. Returns packets sent.
  int progress();
  // Queries of this rank that have ended since the start.
  std::uint64_t ended() const { return ended_; }

 private:
  struct Asked {
    Rank rank;
    std::uint32_t id;
    Query query;
  };
  // The sweep that is under way in a group, as far as it concerns the tree below this member.
  struct Turn {
    bool running = false;
    QueryPacket::Kind sweep = QueryPacket::Kind::check;
    std::uint32_t number = 0;
    Verdict verdict = Verdict::yes;  // of those that have answered
    std::vector<Rank> waits;         // for these children
    Asked asked{};
    // The first member's.
    bool broken = false;  // a member was lost: nothing holds on all any more
    Ring<Asked> queue;
  };
  struct Own {
    bool used = false;
    std::uint16_t group = 0;
    bool* all = nullptr;
    Counter* done = nullptr;
  };
  struct Early {
    Rank source;
    QueryPacket packet;
  };
  struct Out {
    Rank to;
    QueryPacket packet;
  };
  struct State {
    std::map<std::uint16_t, Turn> turns;
    std::vector<Own> own;
    std::vector<Rank> lost;
    std::map<std::uint16_t, std::vector<Early>> early;  // by group not yet named
  };

  static Keep on_packet(void* self, Packet*, const Arrival& arrival);
  void take(Rank source, const QueryPacket& packet);
  State& state();

  // --- The first member.
  void ask(const Asked& asked);
  void next(std::uint16_t group, Turn& turn);
  void step(std::uint16_t group, Turn& turn);
  void answer(std::uint16_t group, const Asked& asked, Verdict verdict);

  // --- Every member.
  void sweep(std::uint16_t group, Turn& turn);
  Verdict look(const Turn& turn) const;
  void merge(std::uint16_t group, Turn& turn, Verdict verdict);
  void end_sweep(std::uint16_t group, Turn& turn);
  void answered(std::uint32_t id, Verdict verdict);

  Rank first_of(std::uint16_t group) const { return groups_.member(group, 0); }
  Rank parent_in(std::uint16_t group) const;
  bool has_lost(std::uint16_t group) const;
  void send(Rank to, const QueryPacket& packet) { out_.push_back({to, packet}); }

  Port& port_;
  const GroupTable& groups_;
  const MemoryServer& memory_;
  BacklogQueue<Out> out_;
  std::unique_ptr<State> state_;  // made by the first query
  std::uint64_t ended_ = 0;
};

}  // namespace fairlead::lci
