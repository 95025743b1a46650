// One rank's part of a modelled job: its port, and what runs for it on its node's NI. Whatever the
// kind of NI; --lci names one of the implementations of the kind's family.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "fairlead/base/counters.h"
#include "fairlead/base/result.h"
#include "fairlead/fabric/model/gate_client.h"
#include "fairlead/fabric/model/machine.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

class Endpoint {
 public:
  virtual ~Endpoint() = default;
  virtual Port& port() = 0;
  // The first call once its program has ended: its memory may go, and network interfaces move
  // nothing of it from now on. Takes no time.
  virtual void program_ended() {}
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
  std::uint32_t ranks;
  bool work_takes_time = true;                          // what the client declares (Port::charge)
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;  // that Port::allocate may give
};

// What runs on a node's NI, in the simulator; its ranks share it.
class NiSide {
 public:
  virtual ~NiSide() = default;
};

// An implementation of the interface on machines of one family of NIs.
class ModelImplementation {
 public:
  virtual ~ModelImplementation() = default;

  // A cycle table of its own beside the platform's file; empty: the platform's.
  virtual std::string steps() const { return {}; }
  // What a packet of the machine holds, where that is not the NI's business.
  virtual std::uint32_t buffer_bytes() const = 0;

  // What runs on that node's NI; it outlives the endpoints of the node's ranks. `machine` and
  // `fatal` outlive it. Error: the NIs cannot carry so many nodes; names the number that they are
  // good for.
  virtual Result<std::unique_ptr<NiSide>> make_ni_side(fabric::model::Machine& machine, Peer node,
                                                       const Fatal& fatal) const = 0;
  // The rank's port, where it is a fiber. `machine` and `fatal` outlive it.
  virtual std::unique_ptr<Endpoint> make_endpoint(fabric::model::Machine& machine,
                                                  const RankOptions& rank,
                                                  const Fatal& fatal) const = 0;
  // Makes the host's side alone, in the rank's own process. The references outlive it.
  virtual std::unique_ptr<Endpoint> make_host_side(fabric::model::GateClient& gate,
                                                   const fabric::model::GateMemory& memory,
                                                   const RankOptions& rank, const Fatal& fatal,
                                                   PortCounters& counters) const = 0;
};

}  // namespace fairlead::lci
