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

namespace fairlead::lci {

enum class TransferKind : std::uint8_t { sdma, pio };

struct Implementation {
  std::string name;  // "sdma", "pio-1k"
  TransferKind transfer = TransferKind::sdma;
  std::uint32_t mtu_bytes = 2048;
};

// The parts of a name in any order, joined by '-': a transfer method (sdma, pio), an MTU (1k, 2k,
// 4k). Empty: sdma. Error: lists what is known.
Result<Implementation> parse_implementation(std::string_view name);

// What a packet buffer of it holds: the MTU and lci's own prefix.
std::uint32_t buffer_bytes(const Implementation& implementation);

// Names of the implementations for the modelled platforms, the default first.
std::vector<std::string> implementation_names();

// One node's part of an implementation: the port, and the control program on its NI.
class Endpoint {
 public:
  virtual ~Endpoint() = default;
  virtual Port& port() = 0;
};

// Called when an implementation sees its assumptions violated (paper section 4: it aborts).
using Fatal = std::function<void(Rank self, const std::string& reason)>;

// What a rank's port is told of the job.
struct RankOptions {
  Rank self;
  std::uint32_t ranks;          // one a node, from node 0 on
  bool work_takes_time = true;  // what the client declares (Port::charge)
};

// On node rank.self. `machine` and `fatal` outlive the endpoint. Error: the NIs' memory does not
// give every sender a window; names the number of nodes that it does.
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
                                             const Fatal& fatal);
// ... and the port, in the rank's process. `ni` and `counters` outlive it.
std::unique_ptr<Port> make_host_side(const Implementation& implementation,
                                     fabric::model::RemoteHostNi& ni, const RankOptions& rank,
                                     PortCounters& counters);

}  // namespace fairlead::lci
