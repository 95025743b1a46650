// Port::query() on a rank's host: the software default of every Port. What the members of a group
// do is query_sweeps.h; it runs here, by packets between hosts on Lane::control, or on the rank's
// network interface, where that does so (TellBelow). The host then asks, hears the answers,
// tells its interface of its groups, and looks at what only hosts reach.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fairlead/lci/backlog.h"
#include "fairlead/lci/group/group_table.h"
#include "fairlead/lci/group/query_packet.h"
#include "fairlead/lci/group/query_sweeps.h"
#include "fairlead/lci/memory/memory_server.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

// Sends a packet of the port's rank to its own interface, which takes this member's part in
// queries: done, or again_* as send_small() says. `data`: at most a packet's.
using TellBelow = Post (*)(Port& port, Chan chan, const Words& words,
                           std::span<const std::byte> data);

// Its port tells it of groups named and forgotten and of lost peers, and calls progress() from
// poll() while busy(). Idle it takes no memory. Thread: the port's.
class GroupQueries {
 public:
  static constexpr std::size_t kQueriesMax = 256;  // of this rank, not yet answered

  // All references outlive it. nullptr: there is no such interface.
  GroupQueries(Port& port, const GroupTable& groups, const MemoryServer& memory, Backlog& backlog,
               TellBelow below = nullptr);
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
  using Sweeps = QuerySweeps<GroupQueries>;
  friend Sweeps;

  struct Own {
    bool used = false;
    std::uint16_t group = 0;
    bool* all = nullptr;
    Counter* done = nullptr;
  };
  // A packet of a query, or what the interface is told of a group.
  struct Out {
    Rank to = 0;
    QueryPacket packet;
    bool is_notice = false;
    GroupNotice notice;
    std::vector<Rank> members;  // of the notice's part
  };
  struct State {
    Sweeps sweeps;
    std::vector<Own> own;
  };

  static Keep on_packet(void* self, Packet*, const Arrival& arrival);
  void answered(std::uint32_t id, Verdict verdict);
  Rank first_of(std::uint16_t group) const { return groups_.member(group, 0); }
  State& state();
  void tell_of(std::uint16_t group);
  void push(Out out);
  Post transmit(const Out& out);

  // --- What the sweeps need.
  std::uint32_t size() const { return port_.size(); }
  void send(Rank to, const QueryPacket& packet);
  std::optional<Verdict> look(Rank who, const Query& query, bool stores) const {
    return memory_.look(who, query, stores);
  }

  Port& port_;
  const GroupTable& groups_;
  const MemoryServer& memory_;
  const TellBelow below_;
  BacklogQueue<Out> out_;
  std::unique_ptr<State> state_;  // made by the first query
  std::uint64_t ended_ = 0;
};

}  // namespace fairlead::lci
