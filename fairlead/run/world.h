// Runs a body on every rank of a job, in either world: forked processes on shared memory, fibers
// of this thread on `loop` and on the modelled platforms. The launcher, the benches and the tests
// all start here.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fairlead/base/counters.h"
#include "fairlead/base/result.h"
#include "fairlead/run/context.h"

namespace fairlead::fabric::model {
struct Figures;
}

namespace fairlead::run {

// Where a modelled rank's computing time comes from.
enum class Compute {
  declared,  // Port::charge only: the same digest on every run
  none,      // computing takes no time
  measured,  // processor time of the rank's thread on this machine; the digest varies; needs a
             // process per rank
};

struct WorldOptions {
  std::uint32_t ranks = 2;
  std::string on = "shm";  // shm | udp | ofi | loop | a platform's name or file
  std::string lci;         // implementation, paper notation; empty: the world's default
  std::string faults;      // plan for `faulty`; empty: none
  std::uint64_t seed = 1;
  std::string topology;          // of a modelled platform; empty: its own
  std::vector<std::string> set;  // "section.key=value" of its file, otherwise
  std::string trace_path;        // Chrome/Perfetto JSON; empty: none
  std::string bind = "auto";     // auto | none | cpu list
  Ps timeout = kNever;           // real time
  std::uint32_t fiber_stack_kib = 64;
  std::uint32_t nodes = 0;  // modelled machine's nodes; 0: as many as ranks
  Compute compute = Compute::declared;
  bool several_nodes = false;  // shared memory within a node only, a network to the others
  // On networks only, udp and ofi, or where there are several nodes:
  std::string address = "127.0.0.1";   // of this host, where the ranks reach each other
  std::string auth = "header";         // udp: header | full | encrypt (fabric/udp/seal.h)
  std::uint32_t mtu = 0;               // udp; 0: the interface's
  std::string provider;                // ofi: of libfabric; empty: the best there is
  std::uint32_t ranks_per_node = 0;    // that share an NI engine, with nirx; 0: one
  std::vector<std::uint32_t> node_of;  // of each rank, where every node has one NI engine
  // Modelled platforms only:
  std::string faster;    // "ni=2,link=1.5": resources so many times as fast (hw/speed_up.h)
  bool explain = false;  // RunReport::critical_path is wanted
  bool figures = false;  // RunReport::figures are wanted
  Ps progress = kNever;  // real time after which a run tells how far it is, again and again
};

// What a modelled rank's node did, summed over the run.
struct NodeBusy {
  Ps library{};  // host processor within the Port's calls; 0 where ranks are processes
  Ps ni{};       // NI processor
  Ps bus{};      // I/O bus
};

struct RankEnd {
  int exit_code = 0;
  int signal = 0;      // that ended the rank; 0: none
  std::string reason;  // empty when it ended in order
  PortCounters counters;
  NodeBusy busy;  // model only
};

// What one resource of a modelled machine took of the critical path: the chain of causes, each the
// last that the next one waited for, that ends with the run.
struct PathShare {
  const char* resource;  // what WorldOptions::faster calls it; "timer" cannot be made faster
  const char* title;
  Ps time;
};

// What the programs of a modelled job say about their own time.
struct ProgramTime {
  std::uint64_t declarations = 0;  // of computing, all ranks together
  Ps computing{};                  // what they declare, the same
  std::uint64_t clock_reads = 0;   // of the rank that looked at a clock most often
  std::uint32_t clock_reader = 0;  // that rank

  template <class Tally>
  void add(std::uint32_t rank, const Tally& tally) {
    declarations += tally.declarations;
    computing += tally.computing;
    if (tally.clock_reads <= clock_reads) return;
    clock_reads = tally.clock_reads;
    clock_reader = rank;
  }
};

struct RunReport {
  std::vector<RankEnd> ranks;
  int exit_code = 0;                     // of the first failing rank; 0: all well
  std::string failure;                   // names rank and cause; empty: none
  Ps virtual_time{};                     // model only
  std::uint64_t events = 0;              // model only
  std::uint64_t digest = 0;              // model only
  PortCounters counters;                 // summed over the ranks
  std::vector<PathShare> critical_path;  // every resource; the sum is virtual_time
  bool modelled = false;
  ProgramTime program;  // model only
  // What was counted inside the machine; nullptr: not asked for, or its kind counts nothing.
  std::shared_ptr<const fabric::model::Figures> figures;
  std::string platform_changes;  // what the options set otherwise than the platform's file
};

// Exit code of a job that outlived WorldOptions::timeout, as timeout(1) has it.
constexpr int kTimeoutExitCode = 124;

// Whether ranks at this place are processes that reach each other by a network: udp or ofi.
bool is_network(const std::string& on);

using Body = std::function<int(Context&)>;

// Blocks until every rank has ended. Error: the job could not be started as asked.
Result<RunReport> run_world(const WorldOptions& options, const Body& body);

}  // namespace fairlead::run
