// What happens to lines in virtual time, from a processor's store or load to the other host's
// memory and back: the interfaces of all nodes, their links and switches, and what ranks have under
// way.
//
// A run of lines passes its node's path to the interface, one or several links of that interface
// (line by line, round robin), the other interface, its path, and memory; then a completion comes
// back by the same links. Nothing here is a processor's: a rank's own time is FirelinkHost's.
// Switches have no buffers of their own that could fill: what is under way is bounded by what
// processors have ahead. A line on a link that dies is lost; its processor hears so after a while.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fairlead/base/even_nodes.h"
#include "fairlead/base/result.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/fault_plan.h"
#include "fairlead/fabric/model/background_traffic.h"
#include "fairlead/fabric/model/figures.h"
#include "fairlead/fabric/model/firelink/firelink_terms.h"
#include "fairlead/fabric/model/firelink/line_run.h"
#include "fairlead/fabric/model/firelink/link_states.h"
#include "fairlead/fabric/model/rank_memory.h"
#include "fairlead/hw/firelink/firelink_params.h"
#include "fairlead/hw/firelink/line_lane.h"
#include "fairlead/hw/firelink/wiring.h"
#include "fairlead/hw/fireplane/fireplane_params.h"
#include "fairlead/hw/host_memory.h"
#include "fairlead/hw/network.h"
#include "fairlead/hw/network_params.h"
#include "fairlead/hw/rdma/key_table.h"
#include "fairlead/sim/engine.h"

namespace fairlead::fabric::model {

// What a host can see, from the event in which it can.
struct FirelinkSink {
  void (*received)(void* context, std::uint32_t run) = nullptr;  // the host's until it frees it
  void (*told)(void* context, const FirelinkNews& news) = nullptr;
  void (*changed)(void* context) = nullptr;   // a peer wrote to its memory
  void (*advanced)(void* context) = nullptr;  // its processor may have more lines under way
  void (*loaded)(void* context) = nullptr;    // what it loads is here, or will not come
  void* context = nullptr;
};

// What the nodes of a machine have in common; the machine's, which outlives the network.
struct FirelinkParts {
  sim::Engine& engine;
  const hw::FirelinkParams& ni;
  const hw::FireplaneParams& plane;
  const hw::NetworkParams& network;
  LineRuns& runs;
  EvenNodes ranks;
  BytesPerSec memory_rate;       // of a node's memory, where several ranks share it
  Ps interrupt;                  // until a handler has run
  std::span<std::byte> regions;  // of all ranks, one after the other; empty: they share none
  Figures* figures = nullptr;    // counted only
};

class LineNetwork {
 public:
  // As many nodes as hw::FirelinkWiring::check() allows.
  LineNetwork(const FirelinkParts& parts, std::uint32_t nodes);
  LineNetwork(const LineNetwork&) = delete;
  LineNetwork& operator=(const LineNetwork&) = delete;

  // --- Before the first event.
  void attach_host(Rank rank, const FirelinkSink& sink) { of(rank).host = sink; }
  // The memory that addresses of this host's are in; it outlives the network.
  void use_memory(Rank rank, RankMemory& memory) { of(rank).memory = &memory; }
  // Links die and live again as the plan's clauses say. Error: a clause that is none of links'
  // times of death, or names what is not there.
  Result<void> set_faults(const FaultPlan& plan);

  // Each node's other job stores its messages until end_background().
  void begin_background();
  void end_background();

  // --- By the host of `rank`, at the engine's now.
  // The processor begins to store or load the run's lines. Its front and payload are written; it is
  // the network's until it is lost, or received by another host.
  void begin(Rank rank, std::uint32_t run);
  // Such a run, to a rank of the same node, past the interfaces: there after `time`.
  void pass_near(Rank rank, std::uint32_t run, Ps time);
  // Lines that it has stored and that are not completed.
  std::uint32_t lines_ahead(Rank rank) const { return of(rank).ahead; }
  hw::KeyTable& keys(Rank rank) { return of(rank).keys; }
  // What `alone` becomes, of work of the rank that moves `bytes` to or from memory, from now on.
  Ps slowed(Rank rank, Ps alone, std::uint64_t bytes);
  bool shares_memory() const { return parts_.ranks.several(); }

  std::uint32_t interfaces() const { return parts_.ni.nis; }  // of a host
  Ps interfaces_busy(Peer node) const;
  Ps links_busy(Peer node) const;
  // The link out of a host that was at work the longest.
  hw::Network::BusyLink busiest() const;
  // How a load of this host ended, once it was told.
  LoadEnd load_end(std::uint32_t run) { return parts_.runs.at(run).end; }
  const LinkStates& links() const { return states_; }
  // Runs lost so far; empty: none.
  std::string losses() const;

 private:
  // What the network knows of a rank.
  struct Own {
    explicit Own(Rank rank) : keys(std::uint64_t{rank} << 32) {}
    FirelinkSink host;
    LocalMemory own_memory;
    RankMemory* memory = &own_memory;
    hw::KeyTable keys;
    std::uint32_t ahead = 0;
    struct Put {
      std::uint32_t runs = 0;  // not completed
      bool closed = false;     // its last run has begun
      bool denied = false;
      bool lost = false;
    };
    std::vector<Put> puts;  // by the host's number
    // Packets of a peer's lane come in the ring's order, whatever link each took.
    struct Ring {
      std::uint64_t next = 0;
      std::map<std::uint64_t, std::uint32_t> early;
    };
    std::vector<std::unique_ptr<Ring[]>> rings;            // by source, from the first packet on
    std::vector<std::unique_ptr<std::uint64_t[]>> posted;  // packets, by destination and lane
  };
  // Another job's process, on a processor of its own.
  struct OtherJob {
    OtherJob(const hw::BackgroundParams& params, const hw::NetworkParams& network, Peer self)
        : traffic(params, network, self) {}
    BackgroundTraffic traffic;
    Peer to = 0;
    std::uint32_t left = 0;      // bytes of its message that are not stored
    std::uint32_t messages = 0;  // under way
    std::uint32_t ahead = 0;     // lines that are not completed
    std::uint64_t stored = 0;    // lines in all
    bool busy = false;           // it stores, or waits for its time
  };
  struct Node {
    std::vector<hw::LineLane> paths;  // by interface
    std::vector<hw::LineLane> out;    // by link
    std::vector<hw::LineLane> in;     // by link, from its switch
    std::unique_ptr<hw::HostMemory> memory;
    std::unique_ptr<OtherJob> other;  // where it sends
  };
  using Handler = void (LineNetwork::*)(std::uint32_t run);

  template <Handler handler>
  void at(Ps when, Peer node, sim::EventKind kind, std::uint32_t run) {
    parts_.engine.at(
        when, node, kind,
        [](void* self, std::uint64_t id, std::uint64_t) {
          (static_cast<LineNetwork*>(self)->*handler)(static_cast<std::uint32_t>(id));
        },
        this, run);
  }
  Own& of(Rank rank) { return *ranks_[rank]; }
  const Own& of(Rank rank) const { return *ranks_[rank]; }
  LineRun& run(std::uint32_t id) { return parts_.runs.at(id); }
  Ps now() const { return parts_.engine.now(); }
  Peer node_of(Rank rank) const { return parts_.ranks.node_of(rank); }
  std::uint32_t ni_of(std::uint32_t link) const { return link / parts_.ni.links; }
  static std::uint64_t next_number(Own& own, const RunOrder& order);
  Ps wire_time(std::uint64_t thousandths, std::uint32_t lines) const;
  Ps path_time(std::uint32_t lines) const;
  Ps forward_time(const LineRun& run, std::uint32_t lines) const;
  Ps backward_time(const LineRun& run, std::uint32_t lines) const;

  void on_interface(std::uint32_t id);
  void choose_ways(LineRun& run) const;
  Ps hop() const {
    return parts_.network.fixed + (wiring_.switched() ? parts_.network.switch_delay : Ps{0});
  }
  bool died(const LineRun& run) const;
  std::uint64_t downs(const LineRun& run) const;
  void on_other_end(std::uint32_t id);
  void on_memory(std::uint32_t id);
  void arrived(std::uint32_t id);
  Ps complete(const LineRun& run);
  void on_stored(std::uint32_t id);
  void put_went(Rank source, const RunOrder& order);
  void on_loaded(std::uint32_t id);
  static void on_lines_completed(void* self, std::uint64_t rank, std::uint64_t lines);
  void on_near(std::uint32_t id);
  void on_lost(std::uint32_t id);
  void lose(std::uint32_t id);

  void receive(std::uint32_t id);
  void tell_room(const RunOrder& order, Rank source);
  void write(std::uint32_t id);
  void read(std::uint32_t id);
  void lines_back(Rank rank, std::uint32_t lines);
  void tell(Rank rank, const FirelinkNews& news);
  Ps held_up(Peer node, std::uint32_t ni, Ps end, std::uint32_t lines);

  // --- The other job (line_background.cc).
  static void on_background(void* self, std::uint64_t node, std::uint64_t);
  void store_next(Peer node);
  void on_background_completed(std::uint32_t id);

  // Links that die.
  struct Outage {
    Peer host;
    std::uint32_t link;
  };
  static void on_fail(void* self, std::uint64_t outage, std::uint64_t);
  static void on_mend(void* self, std::uint64_t outage, std::uint64_t);
  static void on_look(void* self, std::uint64_t outage, std::uint64_t);
  void plan_look(std::uint64_t outage);
  void look(const Outage& outage);
  // The ranks on both nodes, of what a look at that link has shown.
  void tell_pair(Peer node, Peer other, FirelinkNews::What what, const Outage& link);
  Result<std::vector<Outage>> outages_of(const FaultPlan::Clause& clause) const;

  const FirelinkParts& parts_;
  hw::FirelinkWiring wiring_;
  LinkStates states_;
  std::vector<Node> nodes_;
  std::vector<std::unique_ptr<Own>> ranks_;
  std::vector<Outage> outages_;
  std::uint64_t lost_ = 0;
};

}  // namespace fairlead::fabric::model
