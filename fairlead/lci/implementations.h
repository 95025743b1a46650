// The implementations of the low-level interface by the paper's names (table II): transfer method x
// reliability x multicast, MTU and tree. One table says which exist.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/fabric/model/machine.h"
#include "fairlead/fabric/model/remote_host_ni.h"
#include "fairlead/lci/port.h"
#include "fairlead/proto/multicast_tree.h"

namespace fairlead::lci {

// rcpy: puts are remote-memory copies, packets go as under sdma.
// gm: I-sdma as the manufacturer's GM 1.5 does it, a baseline.
enum class TransferKind : std::uint8_t { sdma, pio, rcpy, gm };
// none: the network is trusted; nirx, hrx: go-back-N on the NI or on the host.
enum class ReliabilityKind : std::uint8_t { none, nirx, hrx };
enum class MulticastKind : std::uint8_t { ni, host };

struct Implementation {
  std::string name;  // "sdma", "pio-1k-hmc"
  TransferKind transfer = TransferKind::sdma;
  ReliabilityKind reliability = ReliabilityKind::none;
  MulticastKind multicast = MulticastKind::ni;
  proto::TreeShape tree = proto::TreeShape::binary;
  std::uint32_t mtu_bytes = 2048;
  std::string steps;  // a cycle table of its own beside the platform's file; empty: the platform's
};

// The parts of a name in any order, joined by '-', at most one of a kind: a transfer method (sdma,
// pio, rcpy), a reliability scheme (nirx, hrx), who passes multicasts on (hmc: the hosts; hrx
// implies it), an MTU (1k, 2k, 4k), a tree (binary, binomial). Empty: sdma. Error: lists what is
// known.
Result<Implementation> parse_implementation(std::string_view name);

// One combination of transfer, reliability and multicast, whether or not it exists.
struct Combination {
  Implementation parts;      // MTU and tree are free
  std::string_view why_not;  // no implementation has these parts together; empty: one has
};
// Every combination of the paper's three axes, and the baselines: the supported matrix.
std::vector<Combination> combinations();

// On how many nodes it can run, by the NIs' memory; 0: on any number.
std::uint32_t most_nodes(const Implementation& implementation, const hw::Platform& platform);

const char* transfer_name(TransferKind kind);  // "sdma"

// What a packet buffer of it holds: the MTU and lci's own prefix.
std::uint32_t buffer_bytes(const Implementation& implementation);

// Names of the implementations in the paper's tables and figures, the default first; other
// combinations exist.
std::vector<std::string> implementation_names();

// One node's part of an implementation: the port, and the control program on its NI.
class Endpoint {
 public:
  virtual ~Endpoint() = default;
  virtual Port& port() = 0;
  // When its program has ended, in the rank's thread: what the host still owes its peers, where it
  // runs the reliability scheme. Returns when nobody can need it any more; on a task, which is left
  // where it is then, never.
  virtual void linger() = 0;
};

// Called when an implementation sees its assumptions violated (paper section 4: it aborts).
using Fatal = std::function<void(Rank self, const std::string& reason)>;

// What a rank's port is told of the job.
struct RankOptions {
  Rank self;
  std::uint32_t ranks;          // one a node, from node 0 on
  bool work_takes_time = true;  // what the client declares (Port::charge)
};

// On node rank.self. `machine` and `fatal` outlive the endpoint. Error: the NIs' memory is too
// small for the scheme on so many nodes; names the number of nodes it is good for.
Result<std::unique_ptr<Endpoint>> make_endpoint(const Implementation& implementation,
                                                fabric::model::Machine& machine,
                                                const RankOptions& rank, const Fatal& fatal);

// The two sides of an endpoint apart, for a rank that is a process of its own: what runs on the
// node's NI, in the simulator ...
class NiSide {
 public:
  virtual ~NiSide() = default;
};
Result<std::unique_ptr<NiSide>> make_ni_side(const Implementation& implementation,
                                             fabric::model::Machine& machine, Peer node,
                                             std::uint32_t ranks, const Fatal& fatal);
// ... and the port, in the rank's process. `ni` and `counters` outlive it.
std::unique_ptr<Endpoint> make_host_side(const Implementation& implementation,
                                         fabric::model::RemoteHostNi& ni, const RankOptions& rank,
                                         const Fatal& fatal, PortCounters& counters);

}  // namespace fairlead::lci
