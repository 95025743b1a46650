#include <new>

#include "fairlead/fabric/model/lanai/lanai_commands.h"
#include "fairlead/fabric/model/lanai/lanai_gate.h"
#include "fairlead/fabric/model/lanai/lanai_machine.h"
#include "fairlead/fabric/model/ni_kind.h"

namespace fairlead::fabric::model {
namespace {

std::uint32_t most_ranks(const hw::Platform& platform) {
  return LanaiShares::most_ranks(platform.ni.as<hw::LanaiParams>());
}

std::unique_ptr<Machine> make(hw::Platform platform, const EvenNodes& ranks, std::uint32_t nodes,
                              std::uint32_t payload_bytes, const SharedMemory& shared) {
  return std::make_unique<LanaiMachine>(std::move(platform), ranks, nodes, payload_bytes, shared);
}

void describe(const hw::Platform& platform, const EvenNodes& ranks, GateHeader& header) {
  const hw::LanaiParams& ni = platform.ni.as<hw::LanaiParams>();
  const hw::LibraryRates rates(platform.host, ni);
  header.look = rates.step[static_cast<std::size_t>(Step::poll_empty)];
  ::new (header.kind) LanaiHeader{rates, LanaiShares(ni, ranks)};
}

std::unique_ptr<RankCommands> commands(Machine& machine, Rank rank, RankMemory& memory) {
  return std::make_unique<LanaiCommands>(static_cast<LanaiMachine&>(machine), rank, memory);
}

}  // namespace

const NiKind& lanai_kind() {
  static constexpr NiKind kKind = {hw::LanaiParams::kName,
                                   NiFamily::firmware,
                                   &most_ranks,
                                   &make,
                                   NiHardware::kWords * sizeof(std::uint64_t),
                                   &describe,
                                   &commands,
                                   nullptr};
  return kKind;
}

}  // namespace fairlead::fabric::model
