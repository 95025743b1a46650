// The gate of two modelled ranks on QsNet that are processes: commands to the host beside an Elan,
// DMA descriptors, queries, what is asked of the thread that matches messages, reductions. Slots
// and packets lie in memory that the ranks can write, so every one may be anything. The machine
// behind them runs, and asks them for their memory, of which there is a little here.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "fairlead/fabric/model/elan/elan_machine.h"
#include "fairlead/fabric/model/rank_gate.h"
#include "fairlead/fabric/model/rdma/rdma_gate.h"
#include "fairlead/sim/task.h"

using namespace fairlead::fabric::model;  // NOLINT: the functions below

namespace hw = fairlead::hw;
namespace sim = fairlead::sim;

namespace {

constexpr fairlead::Rank kRanks = 2;

const hw::Platform& platform() {
  static const hw::Platform loaded = [] {
    hw::PlatformChanges changes;
    // Without noise, whose ticks of a long time are many.
    changes.set = {"network.reduction_bytes=256", "noise.ticks_per_s=0", "noise.daemons_per_s=0"};
    return std::move(hw::load_platform(FAIRLEAD_PLATFORMS "/qsnet-es40.toml", changes).value());
  }();
  return loaded;
}

// A command of the input, as it lies there.
struct Bytes {
  std::uint8_t op;
  std::uint8_t id;
  std::uint8_t shaped;  // even: its numbers are brought to where most are valid
  std::uint8_t shift;
  std::uint64_t a;
  std::uint64_t b;
  RdmaEntry entry;
};
static_assert(sizeof(Bytes) == 24 + sizeof(RdmaEntry));

constexpr std::array kOps = {
    static_cast<std::uint32_t>(RdmaOp::ring),
    static_cast<std::uint32_t>(RdmaOp::ring),
    static_cast<std::uint32_t>(RdmaOp::ring),
    static_cast<std::uint32_t>(RdmaOp::ring),
    static_cast<std::uint32_t>(RdmaOp::take),
    static_cast<std::uint32_t>(RdmaOp::give),
    static_cast<std::uint32_t>(RdmaOp::finish),
    static_cast<std::uint32_t>(RdmaOp::return_buffers),
    static_cast<std::uint32_t>(RdmaOp::add_key),
    static_cast<std::uint32_t>(RdmaOp::remove_key),
    static_cast<std::uint32_t>(RdmaOp::show),
    static_cast<std::uint32_t>(RdmaOp::move),
    static_cast<std::uint32_t>(RdmaOp::name_memory),
    static_cast<std::uint32_t>(RdmaOp::permit),
    static_cast<std::uint32_t>(RdmaOp::forget_memory),
    static_cast<std::uint32_t>(RdmaOp::name_counter),
    static_cast<std::uint32_t>(RdmaOp::place),
    static_cast<std::uint32_t>(RdmaOp::serve),
    static_cast<std::uint32_t>(GateOp::observe),
    static_cast<std::uint32_t>(GateOp::sync),
    static_cast<std::uint32_t>(GateOp::compute),
    static_cast<std::uint32_t>(GateOp::block),
    static_cast<std::uint32_t>(GateOp::block_for_more),
    static_cast<std::uint32_t>(GateOp::retire),
    99u,
};

// Most of what is left is valid, or just not.
void shape(Bytes& in) {
  in.a %= 512;
  in.b %= 8192;
  RdmaEntry& entry = in.entry;
  entry.kind = static_cast<RdmaKind>(static_cast<unsigned>(entry.kind) % 14);
  entry.queue %= kRdmaQueues + 1;
  entry.word_bytes %= 12;
  entry.dest %= kRanks + 1;
  entry.operation %= 300;
  entry.size %= 5000;
  entry.key %= 8;
  entry.offset %= 8192;
  entry.a %= 8;
  entry.b %= 8;
  RdmaNamed& named = entry.named;
  named.used %= 2;
  named.compare %= 8;
  named.stores %= 4;
  named.members %= kRanks + 2;
  named.store_key %= 8;
  named.store_offset %= 8192;
  if (named.after % 4 != 0) named.after = kNoEvent;
  if (named.bumped % 4 != 0) named.bumped = kNoEvent;
  named.after %= 8;
  named.after_value %= 8;
}

// Memory of the ranks: what an interface asks for may lie anywhere in theirs, and is here.
class Memory {
 public:
  bool serve(const GateMemory& gates, GateSlot& slot) {
    GateMemoryRequest& asked = slot.memory;
    std::byte* packet = reinterpret_cast<std::byte*>(&asked.word);
    if (asked.word_only != 0) {
      if (asked.size > sizeof asked.word) std::abort();
    } else {
      const std::span<std::byte> all = gates.packets();
      // Expect: within the packets, whatever was asked of the interface
      if (asked.offset > all.size() || asked.size > all.size() - asked.offset) std::abort();
      packet = all.data() + asked.offset;
    }
    for (std::uint64_t i = 0; i < asked.size; ++i) {
      std::byte& mine = bytes_[(asked.address + i) % bytes_.size()];
      asked.what == GateMemoryRequest::kRead ? void(packet[i] = mine) : void(mine = packet[i]);
    }
    give_turn(slot, GateTurn::simulator);
    return true;
  }

 private:
  std::array<std::byte, 8192> bytes_{};
};

struct Run {
  Run(const GateMemory& memory, std::span<const std::uint8_t> its_input)
      : machine(platform(), fairlead::EvenNodes::alone(kRanks), kRanks,
                {memory.packets(), memory.ni_memory()}),
        first(memory, machine, 0, [this, &memory] { return ranks.serve(memory, first.slot()); }),
        second(memory, machine, 1, [this, &memory] { return ranks.serve(memory, second.slot()); }),
        input(its_input) {
    for (RankGate* gate : {&first, &second}) {
      give_turn(gate->slot(), GateTurn::simulator);
      gate->slot().left.store(0);
    }
  }

  // Every other command of the input is this rank's, until one of its is refused.
  void commands(RankGate& gate, fairlead::Rank rank) {
    GateSlot& slot = gate.slot();
    std::uint32_t packet = 0;  // given out last
    for (std::size_t at = rank; (at + 1) * sizeof(Bytes) <= input.size(); at += kRanks) {
      Bytes in;
      std::memcpy(&in, input.data() + at * sizeof in, sizeof in);
      if (in.shaped % 2 == 0) shape(in);
      const std::uint32_t op = kOps[in.op % kOps.size()];
      const bool rings = op == static_cast<std::uint32_t>(RdmaOp::ring);
      if (rings) {
        slot.commands[0] = {static_cast<std::uint32_t>(RdmaOp::take), 0, 0, 0, 0};
        slot.queued = 1;
        if (!gate.execute().ok()) return;
        packet = slot.answer.id;
        RdmaFront& front = machine.host(rank).front(packet);
        front.entry = in.entry;
        front.header = {};
        std::memcpy(&front.header.client, &in.entry.named, sizeof front.header.client);
        front.header.client.size %= 400;
      }
      const bool of_packet = op == static_cast<std::uint32_t>(RdmaOp::give) ||
                             op == static_cast<std::uint32_t>(RdmaOp::finish);
      const std::uint32_t id = rings || (of_packet && in.id % 4 != 0) ? packet : in.id;
      slot.commands[0] = {op, id, std::int64_t{in.shift}, in.a << in.shift % 16, in.b};
      slot.queued = 1;
      if (!gate.execute().ok()) return;
    }
  }

  ElanMachine machine;
  Memory ranks;
  RankGate first;
  RankGate second;
  std::span<const std::uint8_t> input;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::unique_ptr<GateMemory> memory =
      std::move(GateMemory::create(fairlead::EvenNodes::alone(kRanks), kRanks, platform()).value());
  static const std::unique_ptr<sim::FiberPool> pool =
      std::move(sim::FiberPool::create({.stack_bytes = 256 * 1024, .max_fibers = 4}).value());
  Run run(*memory, {data, size});
  sim::Task first(run.machine.engine(), *pool, 0, 0);
  sim::Task second(run.machine.engine(), *pool, 1, 1);
  run.machine.run_on(0, first);
  run.machine.run_on(1, second);
  const auto of_first = [](sim::Task&, void* self) {
    auto& its = *static_cast<Run*>(self);
    its.commands(its.first, 0);
  };
  const auto of_second = [](sim::Task&, void* self) {
    auto& its = *static_cast<Run*>(self);
    its.commands(its.second, 1);
  };
  if (!first.start(fairlead::Ps{0}, of_first, &run).ok() ||
      !second.start(fairlead::Ps{0}, of_second, &run).ok()) {
    std::abort();
  }
  (void)run.machine.engine().run_until_idle();
  return 0;
}
