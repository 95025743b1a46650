#include <new>
#include <utility>

#include "fairlead/fabric/model/firelink/firelink_commands.h"
#include "fairlead/fabric/model/firelink/firelink_gate.h"
#include "fairlead/fabric/model/firelink/firelink_machine.h"
#include "fairlead/fabric/model/firelink/remote_firelink_host.h"
#include "fairlead/fabric/model/ni_kind.h"
#include "fairlead/fabric/model/node_regions.h"

namespace fairlead::fabric::model {
namespace {

// Twice those of others: nothing of it is kept by a rank's place in a byte, and the hosts of this
// kind are large.
constexpr std::uint32_t kRanksOfHostMax = 256;

std::uint32_t most_ranks(const hw::Platform& /*platform*/) { return kRanksOfHostMax; }

std::unique_ptr<Machine> make(hw::Platform platform, const EvenNodes& ranks, std::uint32_t nodes,
                              std::uint32_t /*payload_bytes*/, const SharedMemory& shared) {
  return std::make_unique<FirelinkMachine>(std::move(platform), ranks, nodes, shared);
}

void describe(const hw::Platform& platform, const EvenNodes& /*ranks*/, GateHeader& header) {
  const FirelinkTerms terms(platform, header.nodes);
  header.look = terms.poll;
  ::new (header.kind) FirelinkTerms(terms);
}

std::unique_ptr<RankCommands> commands(Machine& machine, Rank rank, RankMemory& memory) {
  return std::make_unique<FirelinkCommands>(static_cast<FirelinkMachine&>(machine), rank, memory);
}

std::unique_ptr<ModelNic> remote_nic(GateClient& gate, const GateMemory& memory,
                                     PortCounters& counters) {
  return std::make_unique<RemoteNic<RemoteFirelinkHost, FirelinkNic<RemoteFirelinkHost>>>(
      gate, memory, counters);
}

}  // namespace

const NiKind& firelink_kind() {
  static constexpr NiKind kKind = {hw::FirelinkParams::kName,
                                   NiFamily::rdma,
                                   &most_ranks,
                                   &make,
                                   0,
                                   &describe,
                                   &commands,
                                   &remote_nic,
                                   kDirectOnly,
                                   kNodeRegionBytes};
  return kKind;
}

}  // namespace fairlead::fabric::model
