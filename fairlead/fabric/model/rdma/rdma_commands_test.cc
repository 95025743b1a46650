#include "fairlead/fabric/model/rdma/rdma_commands.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

#include "fairlead/fabric/model/rank_gate.h"
#include "fairlead/fabric/model/rdma/rdma_machine.h"
#include "fairlead/hw/test_platform.h"

namespace fairlead::fabric::model {
namespace {

// A rank whose process writes what the test says; nothing here lets virtual time pass.
class DamagedRdmaRank : public testing::Test {
 protected:
  explicit DamagedRdmaRank(const hw::Platform& platform = hw::round_rdma_platform())
      : memory_(std::move(GateMemory::create(EvenNodes::alone(2), 2, platform).value())),
        machine_(platform, EvenNodes::alone(2), 2, {memory_->packets(), memory_->ni_memory()}),
        gate_(*memory_, machine_, 0, [] { return false; }) {}

  Result<void> execute(RdmaOp op, std::uint32_t id = 0, std::uint64_t a = 0, std::uint64_t b = 0) {
    slot().commands[0] = GateCommand{static_cast<std::uint32_t>(op), id, 0, a, b};
    slot().queued = 1;
    return gate_.execute();
  }
  // Takes a packet and rings for what `write` makes of a good entry.
  template <class Write>
  bool rings(Write write) {
    EXPECT_TRUE(execute(RdmaOp::take).ok());
    const std::uint32_t id = slot().answer.id;
    RdmaFront& front = machine_.host(0).front(id);
    front.header.client.size = 8;
    front.entry = {};
    front.entry.kind = RdmaKind::send;
    front.entry.dest = 1;
    write(front);
    return execute(RdmaOp::ring, id).ok();
  }
  GateSlot& slot() { return memory_->slot(0); }

  std::unique_ptr<GateMemory> memory_;
  RdmaMachine machine_;
  RankGate gate_;
};

TEST_F(DamagedRdmaRank, PacketsThatAreNotTheRanksAreRefused) {
  EXPECT_FALSE(execute(RdmaOp::give, 0).ok());
  EXPECT_FALSE(execute(RdmaOp::ring, 0).ok());
  ASSERT_TRUE(execute(RdmaOp::take).ok());
  const std::uint32_t id = slot().answer.id;
  // Expect: given back once
  EXPECT_TRUE(execute(RdmaOp::give, id).ok());
  EXPECT_FALSE(execute(RdmaOp::give, id).ok());
}

TEST_F(DamagedRdmaRank, EntriesAreChecked) {
  EXPECT_TRUE(rings([](RdmaFront&) {}));
  EXPECT_FALSE(rings([](RdmaFront& front) { front.entry.dest = 2; }));
  EXPECT_FALSE(rings([](RdmaFront& front) { front.entry.queue = kLanes; }));
  EXPECT_FALSE(rings([](RdmaFront& front) { front.header.client.size = 1025; }));
  EXPECT_FALSE(rings([](RdmaFront& front) { front.entry.kind = RdmaKind::credit; }));
  EXPECT_FALSE(rings([](RdmaFront& front) { front.entry.kind = RdmaKind::tport; }));
  // Expect: copies have a queue, numbers and sizes of their own
  const auto copy = [](RdmaFront& front) {
    front.entry.kind = RdmaKind::write;
    front.entry.queue = kCopyQueue;
    front.entry.size = 100;
  };
  EXPECT_TRUE(rings(copy));
  EXPECT_FALSE(rings([&](RdmaFront& front) {
    copy(front);
    front.entry.operation = 4;
  }));
  EXPECT_FALSE(rings([&](RdmaFront& front) {
    copy(front);
    front.entry.queue = 0;
  }));
  EXPECT_FALSE(rings([&](RdmaFront& front) {
    copy(front);
    front.entry.size = kRemoteCopyBytesMax + 1;
  }));
}

hw::Platform reducing_platform() {
  hw::Platform platform = hw::round_rdma_platform();
  platform.network.topology = hw::TopologyKind::fat_tree;
  platform.network.buffer_bytes = 4096;
  platform.network.reduction_bytes = 64;
  platform.network.reduction_rate = BytesPerSec{1'000'000'000};
  return platform;
}

class DamagedReducingRank : public DamagedRdmaRank {
 protected:
  DamagedReducingRank() : DamagedRdmaRank(reducing_platform()) {}
  // Rings for what `write` makes of a good one, the `number`-th.
  template <class Write>
  bool reduces(std::uint64_t number, Write write) {
    return rings([&](RdmaFront& front) {
      front.entry.kind = RdmaKind::reduce;
      front.entry.queue = kCopyQueue;
      front.entry.dest = 0;
      front.entry.size = 16;
      front.entry.a = number;
      front.entry.word_bytes = static_cast<std::uint8_t>(ReduceType::float64);
      front.entry.named.members = 2;
      write(front.entry);
    });
  }
};

TEST_F(DamagedReducingRank, ReductionsAreChecked) {
  EXPECT_TRUE(reduces(0, [](RdmaEntry&) {}));
  // Expect: numbers that follow each other, of each set of ranks
  EXPECT_FALSE(reduces(0, [](RdmaEntry&) {}));
  EXPECT_FALSE(reduces(2, [](RdmaEntry&) {}));
  EXPECT_TRUE(reduces(1, [](RdmaEntry&) {}));
  using Damage = void (*)(RdmaEntry&);
  for (const Damage damage :
       {Damage{[](RdmaEntry& entry) { entry.dest = 1; }},
        Damage{[](RdmaEntry& entry) { entry.named.members = 1; }},
        Damage{[](RdmaEntry& entry) { entry.named.members = 3; }},
        Damage{[](RdmaEntry& entry) { entry.named.stores = 1; }},
        Damage{[](RdmaEntry& entry) { entry.named.stores = 9; }},
        Damage{[](RdmaEntry& entry) { entry.named.compare = kReduceOps; }},
        Damage{[](RdmaEntry& entry) {
          entry.named.compare = static_cast<std::uint8_t>(ReduceOp::bit_xor);
        }},
        Damage{[](RdmaEntry& entry) { entry.word_bytes = kReduceTypes; }},
        Damage{[](RdmaEntry& entry) { entry.size = 0; }},
        Damage{[](RdmaEntry& entry) { entry.size = 12; }},
        Damage{[](RdmaEntry& entry) { entry.size = 64 * kReductionPartsMax; }},
        Damage{[](RdmaEntry& entry) { entry.address = UINT64_MAX - 8; }},
        Damage{[](RdmaEntry& entry) { entry.offset = UINT64_MAX - 8; }},
        Damage{[](RdmaEntry& entry) { entry.operation = 4; }},
        Damage{[](RdmaEntry& entry) { entry.queue = 0; }}}) {
    EXPECT_FALSE(reduces(2, damage));
  }
  EXPECT_TRUE(reduces(2, [](RdmaEntry&) {}));
}

// Where switches combine nothing.
TEST_F(DamagedRdmaRank, ReductionsAreRefusedWhereThereAreNone) {
  EXPECT_FALSE(rings([](RdmaFront& front) {
    front.entry.kind = RdmaKind::reduce;
    front.entry.queue = kCopyQueue;
    front.entry.size = 16;
    front.entry.dest = 0;
    front.entry.named.members = 2;
    front.entry.word_bytes = static_cast<std::uint8_t>(ReduceType::float64);
  }));
}

TEST_F(DamagedRdmaRank, BuffersAndMemoryAreBounded) {
  EXPECT_TRUE(execute(RdmaOp::return_buffers, 1, 0, 4).ok());
  EXPECT_FALSE(execute(RdmaOp::return_buffers, 2, 0, 1).ok());
  EXPECT_FALSE(execute(RdmaOp::return_buffers, 1, kLanes, 1).ok());
  EXPECT_FALSE(execute(RdmaOp::return_buffers, 1, 0, 5).ok());
  EXPECT_TRUE(execute(RdmaOp::add_key, kGateKeyRead, 4096, 4096).ok());
  EXPECT_NE(slot().answer.value, 0u);
  EXPECT_FALSE(execute(RdmaOp::add_key, kGateKeyRead, 4096, UINT64_MAX).ok());
  EXPECT_FALSE(execute(static_cast<RdmaOp>(99)).ok());
}

hw::Platform interrupting_platform() {
  hw::Platform platform = hw::round_rdma_platform();
  hw::RdmaParams ni = platform.ni.as<hw::RdmaParams>();
  ni.interrupts = true;
  platform.ni = hw::AnyPart(std::make_unique<hw::RdmaParams>(ni));
  platform.host.processors = 2;
  return platform;
}

class DamagedInterruptedRank : public DamagedRdmaRank {
 protected:
  DamagedInterruptedRank() : DamagedRdmaRank(interrupting_platform()) {}
};

TEST_F(DamagedInterruptedRank, AHandlerEndsOnceAndComputesNothing) {
  constexpr std::uint64_t kTooLong = (UINT64_C(1) << 61) + 1;
  EXPECT_FALSE(execute(RdmaOp::served).ok());
  EXPECT_FALSE(execute(RdmaOp::serve, 1, kTooLong).ok());
  ASSERT_TRUE(execute(RdmaOp::serve, 1).ok());
  // Expect: one at a time, and what is asked for in the future is asked for now
  EXPECT_FALSE(execute(RdmaOp::serve, 1).ok());
  EXPECT_FALSE(execute(RdmaOp::compute, 0, 1000, 0).ok());
  EXPECT_TRUE(execute(RdmaOp::served).ok());
  EXPECT_FALSE(execute(RdmaOp::served).ok());
  ASSERT_TRUE(execute(RdmaOp::serve, 0, kTooLong - 1).ok());
  EXPECT_TRUE(execute(RdmaOp::served).ok());
  EXPECT_LT(slot().answer.value, UINT64_C(1) << 40);
  EXPECT_FALSE(execute(RdmaOp::compute, 0, kTooLong, 0).ok());
  EXPECT_FALSE(execute(RdmaOp::compute, 0, 1, kTooLong).ok());
}

TEST_F(DamagedRdmaRank, WhereNothingInterruptsThereIsNoHandler) {
  for (const RdmaOp op : {RdmaOp::slowed, RdmaOp::compute, RdmaOp::serve, RdmaOp::served}) {
    EXPECT_FALSE(execute(op).ok());
  }
}

}  // namespace
}  // namespace fairlead::fabric::model
