// The host-NI interface of a modelled rank that is a process: its slot and its packets lie in
// memory it can write, so every command and every packet may be anything. The machine behind it
// runs.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "fairlead/fabric/model/lanai/lanai_commands.h"
#include "fairlead/fabric/model/lanai/test_mover.h"
#include "fairlead/fabric/model/rank_gate.h"
#include "fairlead/hw/test_platform.h"
#include "fairlead/sim/task.h"

using namespace fairlead::fabric::model;  // NOLINT: the functions below

namespace hw = fairlead::hw;
namespace sim = fairlead::sim;

namespace {

// What the gate does not check is for the NI's program to look up: the group of a multicast, the
// page of a TLB entry. This one has neither.
void mover(void* self, hw::NiWork work) {
  auto& ni = *static_cast<NiHardware*>(self);
  // Other work need not have a packet.
  if (work.kind != kDescriptor && work.kind != kFetched && work.kind != kReceived) return;
  const fairlead::fabric::PacketKind kind = ni.packet(work.packet).header.client.kind;
  if (kind == fairlead::fabric::PacketKind::multicast ||
      kind == fairlead::fabric::PacketKind::tlb_write)
    return;
  test_mover(self, work);
}

constexpr NiProgramCalls kMover{.turn = &mover};

struct Run {
  Run(const GateMemory& memory, std::span<const std::uint8_t> input)
      : machine(hw::round_platform(), fairlead::EvenNodes::alone(2), 2, 2048,
                {memory.packets(), memory.ni_memory()}),
        gate(memory, machine, 0, [] { return false; }),
        left(input) {
    for (fairlead::Peer node = 0; node < 2; ++node)
      machine.ni(node).load(kMover, &machine.ni(node));
  }

  // Each command: operation, id, argument, its shift, and what is written over the packet that was
  // given out last.
  static void commands(sim::Task&, void* self) {
    auto& run = *static_cast<Run*>(self);
    GateSlot& slot = run.gate.slot();
    constexpr std::size_t kEach = 4 + sizeof(fairlead::fabric::PacketHeader);
    for (; run.left.size() >= kEach; run.left = run.left.subspan(kEach)) {
      const std::uint8_t* const in = run.left.data();
      slot.commands[0] = {in[0] % 32u, in[1], 0, std::uint64_t{in[2]} << (in[3] % 16), in[3]};
      slot.queued = 1;
      if (!run.gate.execute().ok()) return;
      const bool given = static_cast<LanaiOp>(in[0] % 32u) == LanaiOp::alloc && slot.answer.ok == 1;
      if (!given) continue;
      fairlead::fabric::NiPacket& packet = run.machine.host(0).packet(slot.answer.id);
      std::memcpy(&packet.header, in + 4, sizeof packet.header);
      packet.peer = in[3] % 3;
    }
  }

  LanaiMachine machine;
  RankGate gate;
  std::span<const std::uint8_t> left;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::unique_ptr<GateMemory> memory =
      std::move(GateMemory::create(fairlead::EvenNodes::alone(2), 2, hw::round_platform()).value());
  static const std::unique_ptr<sim::FiberPool> pool =
      std::move(sim::FiberPool::create({.stack_bytes = 256 * 1024, .max_fibers = 4}).value());
  Run run(*memory, {data, size});
  sim::Task task(run.machine.engine(), *pool, 0, 0);
  run.machine.host(0).run_on(task);
  if (!task.start(fairlead::Ps{0}, &Run::commands, &run).ok()) __builtin_trap();
  (void)run.machine.engine().run_until_idle();
  return 0;
}
