// One rank's part of a modelled job: its port, and the control program on its node's NI. In one
// process, or on the two sides of a gate.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "fairlead/base/result.h"
#include "fairlead/fabric/model/lanai/remote_host_ni.h"
#include "fairlead/fabric/model/machine.h"
#include "fairlead/lci/ni/implementations.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

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
