#include "fairlead/fabric/model/lanai/lanai_commands.h"

#include <gtest/gtest.h>

#include "fairlead/fabric/model/rank_gate.h"
#include "fairlead/hw/test_platform.h"

namespace fairlead::fabric::model {
namespace {

// A rank whose process writes what the test says; nothing here lets virtual time pass.
class DamagedRank : public testing::Test {
 protected:
  DamagedRank()
      : memory_(
            std::move(GateMemory::create(EvenNodes::alone(2), 2, hw::round_platform()).value())),
        machine_(hw::round_platform(), EvenNodes::alone(2), 2, 2048,
                 {memory_->packets(), memory_->ni_memory()}),
        gate_(*memory_, machine_, 0, [] { return false; }) {}

  Result<void> execute(GateCommand command) {
    slot().commands[0] = command;
    slot().queued = 1;
    return gate_.execute();
  }
  template <class Op>
  Result<void> execute(Op op, std::uint32_t id = 0, std::uint64_t a = 0) {
    return execute(GateCommand{static_cast<std::uint32_t>(op), id, 0, a, 0});
  }
  // A packet of the rank's, ready to be posted to rank 1.
  NiPacket& packet() {
    EXPECT_TRUE(execute(LanaiOp::alloc, 0, 100).ok());
    EXPECT_EQ(slot().answer.ok, 1u);
    NiPacket& made = machine_.host(0).packet(slot().answer.id);
    made.peer = 1;
    made.header.client.kind = PacketKind::data;
    return made;
  }
  GateSlot& slot() { return memory_->slot(0); }

  std::unique_ptr<GateMemory> memory_;
  LanaiMachine machine_;
  RankGate gate_;
};

TEST_F(DamagedRank, UnknownOperationsAreRefused) {
  const Result<void> done = execute(GateCommand{99, 0, 0, 0, 0});
  // Expect: a text that says whose fault it may be
  ASSERT_FALSE(done.ok());
  EXPECT_NE(done.error().text.find("memory of this rank is damaged"), std::string::npos);
}

TEST_F(DamagedRank, MoreCommandsThanThereAreAreRefused) {
  slot().queued = GateSlot::kCommands + 1;
  // Expect: nothing past the array is read
  EXPECT_FALSE(gate_.execute().ok());
}

TEST_F(DamagedRank, ImpossibleTimesAreRefused) {
  for (const std::int64_t time : {std::int64_t{-1}, INT64_MAX}) {
    EXPECT_FALSE(
        execute(GateCommand{static_cast<std::uint32_t>(GateOp::observe), 0, time, 0, 0}).ok());
  }
}

TEST_F(DamagedRank, PacketsThatAreNotTheRanksAreRefused) {
  for (const LanaiOp op : {LanaiOp::post, LanaiOp::cancel, LanaiOp::release, LanaiOp::release_local,
                           LanaiOp::return_host_buffer}) {
    EXPECT_FALSE(execute(op, 12345, 1).ok()) << static_cast<int>(op);
  }
  const PacketId id = packet().id;
  // Expect: not given back as what it is not, and only once
  EXPECT_FALSE(execute(LanaiOp::release, id).ok());
  EXPECT_TRUE(execute(LanaiOp::cancel, id).ok());
  EXPECT_FALSE(execute(LanaiOp::cancel, id).ok());
}

TEST_F(DamagedRank, DescriptorsAreChecked) {
  packet().peer = 2;
  EXPECT_FALSE(execute(LanaiOp::post, slot().answer.id, 1).ok());
  packet().peer = 0;
  EXPECT_FALSE(execute(LanaiOp::post, slot().answer.id, 1).ok());
  packet().header.client.size = 60000;
  EXPECT_FALSE(execute(LanaiOp::post, slot().answer.id, 1).ok());
  packet().header.client.kind = static_cast<PacketKind>(77);
  EXPECT_FALSE(execute(LanaiOp::post, slot().answer.id, 1).ok());
  packet();
  EXPECT_FALSE(execute(LanaiOp::post, slot().answer.id, 1000).ok());
  // Expect: what is not in NI memory may be posted to write the TLB, and for nothing else.
  ASSERT_TRUE(execute(LanaiOp::alloc_local, 0, 24).ok());
  EXPECT_FALSE(execute(LanaiOp::post, slot().answer.id, 1).ok());
  NiPacket& local = machine_.host(0).packet(slot().answer.id);
  local.header.client.kind = PacketKind::tlb_write;
  local.header.client.size = 60000;
  EXPECT_FALSE(execute(LanaiOp::post, slot().answer.id, 1).ok());
}

TEST_F(DamagedRank, SizesAreBounded) {
  EXPECT_FALSE(execute(LanaiOp::alloc, 0, 1 << 20).ok());
  EXPECT_FALSE(execute(LanaiOp::alloc_local, 0, 1 << 20).ok());
  EXPECT_FALSE(execute(LanaiOp::write, 0, 1 << 20).ok());
  // Expect: too many words are no room, not damage
  EXPECT_TRUE(execute(LanaiOp::add_words, 7, 1 << 20).ok());
  EXPECT_EQ(slot().answer.ok, 0u);
}

TEST_F(DamagedRank, VirtualInterfacesThatItDoesNotHaveAreRefused) {
  for (const LanaiOp op : {LanaiOp::connect_vi, LanaiOp::disconnect_vi, LanaiOp::close_vi,
                           LanaiOp::post_vi_send, LanaiOp::post_vi_receive}) {
    EXPECT_FALSE(execute(op, 7).ok()) << static_cast<int>(op);
  }
  // Expect: no memory beyond the addresses that there are
  const std::uint64_t all = GateViMemory::kAddressMask;
  EXPECT_FALSE(execute(GateCommand{static_cast<std::uint32_t>(LanaiOp::allow), 1, 0, all, 1}).ok());
}

// With a program that looks at doorbells, as VIs need.
class DamagedViRank : public DamagedRank {
 protected:
  DamagedViRank() {
    static constexpr NiProgramCalls kLooks{.turn = [](void*, hw::NiWork) {},
                                           .rung = [](void*, PacketId, Ps) {}};
    machine_.ni(0).load(kLooks, this);
  }
  Result<void> count(std::uint32_t queue, std::uint64_t a, std::uint64_t b) {
    return execute(GateCommand{static_cast<std::uint32_t>(LanaiOp::count_entries), queue, 0, a, b});
  }
  const ViTable::Entries* entries(std::uint16_t number) {
    return machine_.ni(0).vi_table().entries(0, number);
  }
};

TEST_F(DamagedViRank, CompletionQueuesThatCannotBeAreRefused) {
  const std::uint64_t index = 0x7f00'0000'1000;
  const auto queue = [](std::uint64_t number, std::uint64_t room) { return room | number << 32; };
  const struct {
    const char* what;
    std::uint32_t vi;
    std::uint64_t a;
    std::uint64_t b;
    bool good;
  } all[] = {
      {"the first number", 0, index, queue(1, 8), true},
      {"the last number", 0, index, queue(kViEntriesNumberMax, 8), true},
      {"the most room", 0, index, queue(1, INT32_MAX), true},
      {"of receives", 0, index | std::uint64_t{1} << 63, queue(1, 8), true},
      {"no number", 0, index, queue(0, 8), false},
      {"a number that there is not", 0, index, queue(kViEntriesNumberMax + 1, 8), false},
      {"one that has 16 bits of a good one", 0, index, queue(0x1'0001, 8), false},
      {"more room than is counted", 0, index, queue(1, std::uint64_t{1} << 31), false},
      {"an index across words", 0, index + 2, queue(1, 8), false},
      {"an index beyond all memory", 0, index | std::uint64_t{1} << 50, queue(1, 8), false},
      {"a virtual interface that is not its own", 7, index, queue(1, 8), false},
  };
  for (const auto& each : all) {
    ASSERT_TRUE(execute(LanaiOp::forget_vis).ok());
    EXPECT_EQ(count(each.vi, each.a, each.b).ok(), each.good) << each.what;
    // Expect: the interface's table has what is good, and nothing else
    const auto number = static_cast<std::uint16_t>(each.b >> 32);
    EXPECT_EQ(entries(number) != nullptr, each.good) << each.what;
  }
  // Expect: room 0 takes it away
  ASSERT_TRUE(count(0, index, queue(5, 8)).ok());
  ASSERT_TRUE(count(0, index, queue(5, 0)).ok());
  EXPECT_EQ(entries(5), nullptr);
}

TEST_F(DamagedRank, WhatItWroteOverAPacketsSizeDoesNotMatter) {
  NiPacket& mine = packet();
  const PacketId id = mine.id;
  mine.slot_bytes = 60000;
  mine.id = 4711;
  // Expect: given back as what it was taken as: the next of its size is the same
  ASSERT_TRUE(execute(LanaiOp::cancel, id).ok());
  EXPECT_EQ(packet().id, id);
}

TEST_F(DamagedRank, ARankThatLeavesIsNotWaitedFor) {
  give_turn(slot(), GateTurn::rank);
  EXPECT_FALSE(await_turn(slot(), GateTurn::simulator, milliseconds(1)));
  memory_->mark_left(0);
  EXPECT_TRUE(await_turn(slot(), GateTurn::simulator, seconds(10)));
}

}  // namespace
}  // namespace fairlead::fabric::model
