#include <new>
#include <utility>

#include "fairlead/fabric/model/elan/elan_machine.h"
#include "fairlead/fabric/model/elan/elan_terms.h"
#include "fairlead/fabric/model/ni_kind.h"
#include "fairlead/fabric/model/rdma/rdma_commands.h"
#include "fairlead/fabric/model/rdma/rdma_gate.h"
#include "fairlead/fabric/model/rdma/remote_rdma_host.h"
#include "fairlead/fabric/model/remote_host.h"

namespace fairlead::fabric::model {
namespace {

std::uint32_t most_ranks(const hw::Platform& /*platform*/) { return kRanksPerNodeMax; }

std::unique_ptr<Machine> make(hw::Platform platform, const EvenNodes& ranks, std::uint32_t nodes,
                              std::uint32_t /*payload_bytes*/, const SharedMemory& shared) {
  return std::make_unique<ElanMachine>(std::move(platform), ranks, nodes, shared);
}

// What a rank's process is told in addition to what every kind of the RDMA family tells it.
struct ElanGate {
  RdmaTerms terms;
  std::uint64_t interface_bytes;
  std::uint32_t groups;
};
static_assert(sizeof(ElanGate) <= GateHeader::kKindBytes);

void describe(const hw::Platform& platform, const EvenNodes& /*ranks*/, GateHeader& header) {
  const RdmaTerms terms = elan_terms(platform);
  header.look = terms.poll;
  ::new (header.kind) ElanGate{terms, platform.ni.as<hw::ElanParams>().memory_bytes,
                               ElanMachine::has_groups(platform) ? 1u : 0u};
}

std::unique_ptr<RankCommands> commands(Machine& machine, Rank rank, RankMemory& memory) {
  return std::make_unique<RdmaCommands>(static_cast<ElanMachine&>(machine).host(rank),
                                        machine.ranks().ranks, memory);
}

std::unique_ptr<ModelNic> remote_nic(GateClient& gate, const GateMemory& memory,
                                     PortCounters& counters) {
  const auto& told = *reinterpret_cast<const ElanGate*>(memory.header().kind);
  return std::make_unique<RemoteNic<RemoteRdmaHost, ElanNic<RemoteRdmaHost>>>(
      gate, memory, counters, told.groups != 0, memory.ranks().each, told.interface_bytes);
}

constexpr std::string_view kImplementations[] = {"elan", "elan-tree", "elan-host"};

}  // namespace

const NiKind& elan_kind() {
  static constexpr NiKind kKind = {
      hw::ElanParams::kName, NiFamily::rdma,   &most_ranks,     &make, 0, &describe, &commands,
      &remote_nic,           kImplementations, kNodeRegionBytes};
  return kKind;
}

}  // namespace fairlead::fabric::model
