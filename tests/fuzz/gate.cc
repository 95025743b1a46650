// The host-NI interface of a modelled rank that is a process: its slot and its packets lie in
// memory it can write, so every command and every packet may be anything.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "fairlead/fabric/model/rank_gate.h"
#include "fairlead/hw/test_platform.h"

using namespace fairlead::fabric::model;  // NOLINT: one function below

namespace hw = fairlead::hw;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::unique_ptr<GateMemory> memory =
      std::move(GateMemory::create(2, 2, hw::round_platform()).value());
  Machine machine(hw::round_platform(), 2, 2048, {memory->packets(), memory->words()});
  RankGate gate(*memory, machine, 0);
  GateSlot& slot = memory->slot(0);
  std::span<const std::uint8_t> left(data, size);
  // Each: operation, id, argument, and what is written over the packet that was given out last.
  constexpr std::size_t kEach = 4 + sizeof(fairlead::fabric::PacketHeader);
  while (left.size() >= kEach) {
    const auto op = static_cast<GateOp>(left[0] % 24);
    // What lets virtual time pass needs a task.
    const bool waits = op >= GateOp::sync && op != GateOp::retire;
    if (!waits) {
      slot.commands[0] = {static_cast<std::uint32_t>(op), left[1], 0,
                          std::uint64_t{left[2]} << (left[3] % 16), left[3]};
      slot.queued = 1;
      if (!gate.execute().ok()) return 0;
      if (op == GateOp::alloc && slot.answer.ok == 1) {
        ModelPacket& packet = machine.host(0).packet(slot.answer.id);
        std::memcpy(&packet.header, left.data() + 4, sizeof packet.header);
        packet.peer = left[3] % 3;
      }
    }
    left = left.subspan(kEach);
  }
  return 0;
}
