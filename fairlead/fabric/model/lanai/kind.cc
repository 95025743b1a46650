#include <new>

#include "fairlead/fabric/model/lanai/lanai_commands.h"
#include "fairlead/fabric/model/lanai/lanai_gate.h"
#include "fairlead/fabric/model/lanai/lanai_machine.h"
#include "fairlead/fabric/model/ni_kind.h"

namespace fairlead::fabric::model {
namespace {

std::unique_ptr<Machine> make(hw::Platform platform, std::uint32_t nodes,
                              std::uint32_t payload_bytes, const SharedMemory& shared) {
  return std::make_unique<LanaiMachine>(std::move(platform), nodes, payload_bytes, shared);
}

void describe(const hw::Platform& platform, std::uint32_t /*ranks*/, GateHeader& header) {
  const hw::LanaiParams& ni = platform.ni.as<hw::LanaiParams>();
  const hw::LibraryRates rates(platform.host, ni);
  header.look = rates.step[static_cast<std::size_t>(Step::poll_empty)];
  ::new (header.kind) LanaiHeader{rates, ni.send_buffers, ni.host_ring_batch};
}

std::unique_ptr<RankCommands> commands(Machine& machine, Rank rank, RankMemory& /*memory*/) {
  return std::make_unique<LanaiCommands>(static_cast<LanaiMachine&>(machine), rank);
}

}  // namespace

const NiKind& lanai_kind() {
  static constexpr NiKind kKind = {hw::LanaiParams::kName,
                                   NiFamily::firmware,
                                   &make,
                                   NiHardware::kWords * sizeof(std::uint64_t),
                                   &describe,
                                   &commands,
                                   nullptr};
  return kKind;
}

}  // namespace fairlead::fabric::model
