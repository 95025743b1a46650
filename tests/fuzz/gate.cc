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

// Empties the doorbell at once.
void rung(void* self, fairlead::fabric::PacketId id, fairlead::Ps) {
  auto& ni = *static_cast<NiHardware*>(self);
  const auto number = static_cast<std::uint32_t>(ni.packet(id).operand);
  if (ni.doorbells().has(number)) ni.doorbells().clear(number);
}

constexpr NiProgramCalls kMover{.turn = &mover};
constexpr NiProgramCalls kLooksAtDoorbells{.turn = &mover, .rung = &rung};

// The operation of a byte: in an order of its own, so that inputs that were found keep their
// meaning when operations are added. 0 to 15, and 24 to 39 again, are those of the first inputs.
constexpr std::uint32_t kOps = 48;
std::uint32_t op_of(std::uint8_t byte) {
  constexpr std::uint32_t kKnown[16] = {
      static_cast<std::uint32_t>(LanaiOp::write),
      static_cast<std::uint32_t>(LanaiOp::post),
      static_cast<std::uint32_t>(LanaiOp::cancel),
      static_cast<std::uint32_t>(LanaiOp::release),
      static_cast<std::uint32_t>(LanaiOp::release_local),
      static_cast<std::uint32_t>(LanaiOp::return_host_buffer),
      static_cast<std::uint32_t>(LanaiOp::alloc),
      static_cast<std::uint32_t>(LanaiOp::alloc_local),
      static_cast<std::uint32_t>(LanaiOp::image),
      static_cast<std::uint32_t>(LanaiOp::add_words),
      static_cast<std::uint32_t>(GateOp::observe),
      static_cast<std::uint32_t>(GateOp::sync),
      static_cast<std::uint32_t>(GateOp::compute),
      static_cast<std::uint32_t>(GateOp::retire),
      static_cast<std::uint32_t>(GateOp::block),
      static_cast<std::uint32_t>(GateOp::block_for_more),
  };
  constexpr LanaiOp kLater[16] = {
      LanaiOp::open_vi,       LanaiOp::close_vi,
      LanaiOp::allow,         LanaiOp::forbid,
      LanaiOp::connect_vi,    LanaiOp::disconnect_vi,
      LanaiOp::post_vi_send,  LanaiOp::post_vi_receive,
      LanaiOp::count_entries, LanaiOp::forget_vis,
      LanaiOp::post_near,     LanaiOp::read_near,
      LanaiOp::alloc_near,    LanaiOp::move,
      LanaiOp::slowed,        static_cast<LanaiOp>(99),
  };
  const std::uint32_t number = byte % kOps;
  const std::uint32_t at = number % 24;
  if (at < 16) return kKnown[at];
  return static_cast<std::uint32_t>(kLater[at - 16 + (number < 24 ? 0 : 8)]);
}
// Those whose arguments are addresses, handles and sizes: two words of the input.
bool is_of_vi(std::uint32_t op) {
  switch (static_cast<LanaiOp>(op)) {
    case LanaiOp::allow:
    case LanaiOp::connect_vi:
    case LanaiOp::post_vi_send:
    case LanaiOp::post_vi_receive:
    case LanaiOp::count_entries:
      return true;
    default:
      return false;
  }
}

struct Run {
  // An even number of bytes: the NIs look at doorbells.
  Run(const GateMemory& memory, std::span<const std::uint8_t> input)
      : machine(hw::round_platform(), fairlead::EvenNodes::alone(2), 2, 2048,
                {memory.packets(), memory.ni_memory()}),
        gate(memory, machine, 0, [] { return false; }),
        left(input) {
    const NiProgramCalls& calls = input.size() % 2 == 0 ? kLooksAtDoorbells : kMover;
    for (fairlead::Peer node = 0; node < 2; ++node) machine.ni(node).load(calls, &machine.ni(node));
  }

  // Each command: operation, id, argument, its shift, and what is written over the packet that was
  // given out last, or the arguments.
  static void commands(sim::Task&, void* self) {
    auto& run = *static_cast<Run*>(self);
    GateSlot& slot = run.gate.slot();
    constexpr std::size_t kEach = 4 + sizeof(fairlead::fabric::PacketHeader);
    for (; run.left.size() >= kEach; run.left = run.left.subspan(kEach)) {
      const std::uint8_t* const in = run.left.data();
      const std::uint32_t op = op_of(in[0]);
      slot.commands[0] = {op, in[1], 0, std::uint64_t{in[2]} << (in[3] % 16), in[3]};
      if (is_of_vi(op)) {
        std::memcpy(&slot.commands[0].a, in + 4, sizeof slot.commands[0].a);
        std::memcpy(&slot.commands[0].b, in + 12, sizeof slot.commands[0].b);
      }
      slot.queued = 1;
      if (!run.gate.execute().ok()) return;
      const bool given = static_cast<LanaiOp>(op) == LanaiOp::alloc && slot.answer.ok == 1;
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
