#include <new>
#include <utility>

#include "fairlead/fabric/model/ni_kind.h"
#include "fairlead/fabric/model/rdma/rdma_commands.h"
#include "fairlead/fabric/model/rdma/rdma_gate.h"
#include "fairlead/fabric/model/rdma/rdma_machine.h"
#include "fairlead/fabric/model/rdma/remote_rdma_host.h"

namespace fairlead::fabric::model {
namespace {

// The MTU is the interface's.
std::uint32_t most_ranks(const hw::Platform& /*platform*/) { return kRanksPerNodeMax; }

std::unique_ptr<Machine> make(hw::Platform platform, const EvenNodes& ranks, std::uint32_t nodes,
                              std::uint32_t /*payload_bytes*/, const SharedMemory& shared) {
  return std::make_unique<RdmaMachine>(std::move(platform), ranks, nodes, shared);
}

void describe(const hw::Platform& platform, const EvenNodes& ranks, GateHeader& header) {
  const RdmaTerms terms(platform, ranks.each);
  header.look = terms.poll;
  ::new (header.kind) RdmaTerms(terms);
}

std::unique_ptr<RankCommands> commands(Machine& machine, Rank rank, RankMemory& memory) {
  return std::make_unique<RdmaCommands>(static_cast<RdmaMachine&>(machine).host(rank),
                                        machine.ranks().ranks, memory);
}

std::unique_ptr<ModelNic> remote_nic(GateClient& gate, const GateMemory& memory,
                                     PortCounters& counters) {
  return std::make_unique<RemoteNic<RemoteRdmaHost, RdmaNic<RemoteRdmaHost>>>(gate, memory,
                                                                              counters);
}

}  // namespace

const NiKind& rdma_kind() {
  static constexpr NiKind kKind = {
      hw::RdmaParams::kName, NiFamily::rdma, &most_ranks,     &make, 0, &describe, &commands,
      &remote_nic,           kDirectOnly,    kNodeRegionBytes};
  return kKind;
}

}  // namespace fairlead::fabric::model
