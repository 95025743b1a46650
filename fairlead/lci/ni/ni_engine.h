// The NI engine of a node, for real (nirx): the control program of the modelled NIs, with
// selective repeat, on queues in shared memory and a Nic of datagrams. Reliability, multicast
// forwarding, fetch-and-add, put, get, atomics and queries of memory in the ranks' regions go on
// while the ranks compute. One process, or a thread of a test; it owns no thread itself.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fairlead/base/ring.h"
#include "fairlead/base/units.h"
#include "fairlead/base/wait_ladder.h"
#include "fairlead/fabric/deaths.h"
#include "fairlead/fabric/engine/hardware.h"
#include "fairlead/lci/group/group_table.h"
#include "fairlead/lci/group/query_packet.h"
#include "fairlead/lci/group/query_sweeps.h"
#include "fairlead/lci/memory/exposures.h"
#include "fairlead/lci/memory/memory_server.h"
#include "fairlead/lci/ni/ni_program.h"
#include "fairlead/proto/selective_repeat.h"

namespace fairlead::lci {

struct NiEngineOptions {
  NodeMap nodes;
  Peer self = 0;
  Ps epoch{};  // CLOCK_MONOTONIC at the start of the World
  WaitPlan wait;
  std::uint32_t window = 32;  // packets under way to one NI, at most; a power of two, 4 to 64
  std::uint32_t first = 0;    // number of the first packet between NIs; and as HardwareOptions says
  // A rank's queues are not what the library writes, or a NI does not answer: ends the job, or
  // returns and that rank is served no more.
  std::function<void(const std::string& reason)> fatal;
};

class NiEngine {
 public:
  // `job` and `wire` outlive it.
  NiEngine(fabric::ShmJob& job, fabric::Nic& wire, NiEngineOptions options);
  NiEngine(const NiEngine&) = delete;
  NiEngine& operator=(const NiEngine&) = delete;

  // Tells the ranks of the node that it is at work.
  void ready() { ni_.ready(); }
  // One round over wire and queues; returns how much there was to do.
  int turn();
  // Rounds until `stop`; in between the one wait ladder. Where it shares its processor with ranks
  // it lets them run after every round.
  void run(const std::atomic<bool>& stop);

 private:
  // What the engine does for one of its ranks, from that rank's memory; of its queries a Site.
  struct Served {
    Exposures exposures;
    MemoryServer server;
    NiEngine& engine;
    const Rank rank;
    GroupTable groups;
    std::vector<Rank> named;  // members told of a group so far
    QuerySweeps<Served> sweeps;

    Served(NiEngine& its_engine, Rank its_rank);
    Rank size() const { return engine.options_.nodes.ranks(); }
    void send(Rank to, const QueryPacket& packet) {
      engine.query_packets_.push_back({rank, to, packet});
    }
    std::optional<Verdict> look(Rank who, const Query& query, bool stores);
    // What the rank says of its groups.
    void take_notice(const GroupNotice& notice, std::span<const std::byte> members);
  };
  struct Reply {
    Rank from;
    MemoryReply reply;
  };
  struct QueryOut {
    Rank from;
    Rank to;
    QueryPacket packet;
  };

  static NiProgramOptions program_options(NiEngine* self, const NiEngineOptions& options);
  static bool serves(void* self, Rank rank, fabric::NiPacket& packet,
                     std::span<const std::byte> payload);
  // A packet of those queries that go on without the ranks. False: it is the rank's.
  bool serves_query(Rank rank, const fabric::ClientHeader& header,
                    std::span<const std::byte> payload);
  Served& of(Rank rank) { return *served_[ni_.place_of(rank)]; }
  int send_replies();
  int send_query_packets();
  // To a rank; the caller fills in words and channel.
  fabric::ClientHeader& make_packet(Rank from, Rank to, Lane lane,
                                    std::span<const std::byte> payload, fabric::PacketId* id);

  NiEngineOptions options_;
  fabric::engine::EngineHardware ni_;
  NiProgram<fabric::engine::EngineHardware, proto::SelectiveRepeat> program_;
  std::vector<std::unique_ptr<Served>> served_;  // the node's ranks
  Ring<Reply> replies_;
  Ring<QueryOut> query_packets_;
  fabric::DeathWatch deaths_;
};

}  // namespace fairlead::lci
