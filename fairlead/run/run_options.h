// What is asked of a job: where it runs, on how many ranks, with what. One struct for both worlds;
// the launcher, the benches and the tests fill it in.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "fairlead/base/node_map.h"
#include "fairlead/base/units.h"

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
  std::string topology;                  // of a modelled platform; empty: its own
  std::vector<std::string> set;          // "section.key=value" of its file, otherwise
  std::string trace_path;                // Chrome/Perfetto JSON; empty: none
  std::string bind = "auto";             // auto | none | cpu list
  Ps timeout = kNever;                   // real time
  std::uint32_t rank_memory_mib = 1024;  // that Port::allocate may give each rank
  // A file that all hosts of the job map, in memory that they share; empty: there is none. Ranks of
  // several hosts then reach each other by it, and by no network: it holds the job's memory where
  // it is coherent, and with ",software" behind its name only the packets between hosts. With
  // ranks_per_node on one host: so many make one, which has nothing but the file in common with the
  // others.
  std::string memory;
  std::uint32_t fiber_stack_kib = 64;
  std::uint32_t nodes = 0;  // modelled machine's nodes; 0: as many as ranks
  Compute compute = Compute::declared;
  bool several_nodes = false;  // shared memory within a node, `memory` or a network to the others
  // On networks only, udp and ofi, or where there are several nodes:
  std::string address = "127.0.0.1";   // of this host, where the ranks reach each other
  std::string auth = "header";         // udp: header | full | encrypt (fabric/udp/seal.h)
  std::uint32_t mtu = 0;               // udp; 0: the interface's
  std::string provider;                // ofi: of libfabric; empty: the best there is
  std::uint32_t ranks_per_node = 0;    // that share an NI engine, with nirx; 0: one
  std::vector<std::uint32_t> node_of;  // of each rank, where nodes have NI engines or `memory`
  // Modelled platforms only:
  std::string faster;    // "ni=2,link=1.5": resources so many times as fast (hw/speed_up.h)
  bool explain = false;  // RunReport::critical_path is wanted
  bool figures = false;  // RunReport::figures are wanted
  Ps progress = kNever;  // real time after which a run tells how far it is, again and again
};

// Places of ranks, one bit each; a job of several nodes has those within a node and those between.
using Places = std::uint8_t;
inline constexpr Places kOnShm = 1, kOnUdp = 2, kOnOfi = 4, kOnLoop = 8, kOnModel = 16;
inline constexpr Places kEverywhere = 31;
// The place that WorldOptions::on names: what is none of the other names is a modelled platform's.
Places place_of(const std::string& on);
// All places that the job uses.
Places places_of(const WorldOptions& options);
// Whether ranks at this place are processes that reach each other by a network: udp or ofi.
bool is_network(const std::string& on);
// WorldOptions::rank_memory_mib in bytes.
std::uint64_t rank_memory(const WorldOptions& options);
// What a fabric's region of a rank needs for it: with the table of segments, and with the queues of
// an NI engine where there is one.
std::uint64_t region_bytes(const WorldOptions& options);
// WorldOptions::memory, taken apart.
struct MemoryFile {
  std::string path;       // empty: there is none
  bool software = false;  // not coherent: lines are flushed and invalidated
};
MemoryFile memory_file(const WorldOptions& options);
// Whether hosts that have only that file in common make up the job.
bool has_memory_hosts(const WorldOptions& options);
// Whether each node has an NI engine (--lci nirx over udp).
bool has_engines(const WorldOptions& options);
// Which ranks are whose engine's, or of which host: as WorldOptions::node_of says, else so many to
// each.
NodeMap nodes_of(const WorldOptions& options);
// Whether it is a modelled platform, by name or file.
bool is_modelled(const std::string& on);

}  // namespace fairlead::run
