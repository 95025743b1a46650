// RDMA of virtual interfaces by the control program: writes and reads by the descriptors that are
// posted, what they do to the other side's memory, and what is refused there.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "fairlead/lci/ni/fake_vi_host.h"

namespace fairlead::lci {
namespace {

constexpr std::uint16_t kWrite = fabric::kViOpWrite;
constexpr std::uint16_t kRead = fabric::kViOpRead;

class ViaRdmaTest : public ViaMessagesTest {
 protected:
  // Posts RDMA of these pieces of memory, for address 9000 of the other side's memory 12; its
  // descriptor is read.
  std::uint32_t post_rdma(std::uint16_t control, const std::vector<ViSegment>& data,
                          std::uint16_t number = 0) {
    const std::uint32_t id = post(number);
    std::vector<ViSegment> segments = {{9000, 12, 0}};
    segments.insert(segments.end(), data.begin(), data.end());
    describe(id, segments, control);
    program_.on_fetched(id);
    return id;
  }
  // An operation of the other side's: a piece of a write, or a read, with number 6.
  struct Asks {
    std::uint64_t address = 6000;
    std::uint32_t handle = 5;
    std::uint32_t bytes = 300;  // of all of it
    std::uint32_t offset = 0;
    std::uint32_t data = 300;
  };
  std::uint32_t rdma(ViOp op, const Asks& asks) {
    const std::uint32_t id = ni_.make(PacketKind::data, 3);
    NiPacket& packet = ni_.packet(id);
    packet.header.sequence = sequence_++;
    packet.header.client.source = 3;
    packet.header.job = 7 | 4 << 16;
    packet.source = static_cast<std::uint8_t>(op);
    const fabric::ViPlace place{asks.address, asks.handle, 0};
    std::memcpy(packet.payload(), &place, sizeof place);
    packet.header.client.size = sizeof place + asks.data;
    ViMessageHead head;
    head.queue = 2;
    head.connection = 1;
    head.sequence = 6;
    head.offset = asks.offset;
    head.bytes = asks.bytes;
    head.write(packet.header.client.words);
    program_.on_received(id);
    return id;
  }
  std::uint32_t write(const Asks& asks) { return rdma(ViOp::message_write, asks); }
  std::uint32_t read(Asks asks) {
    asks.data = 0;
    return rdma(ViOp::read, asks);
  }
  // A piece of what was read comes back.
  std::uint32_t answer(std::uint32_t bytes, std::uint32_t offset, std::uint32_t data,
                       std::uint16_t number = 0) {
    const std::uint32_t id = ni_.make(PacketKind::data, 3);
    NiPacket& packet = ni_.packet(id);
    packet.header.sequence = sequence_++;
    packet.header.client.source = 3;
    packet.header.client.size = data;
    packet.source = static_cast<std::uint8_t>(ViOp::read_data);
    ViMessageHead head;
    head.queue = 2;
    head.connection = 1;
    head.sequence = number;
    head.offset = offset;
    head.bytes = bytes;
    head.write(packet.header.client.words);
    program_.on_received(id);
    return id;
  }
  ViMessageHead head_of(std::uint32_t id) {
    return ViMessageHead::read(ni_.packet(id).header.client.words);
  }
  ViOp op_of(std::uint32_t id) { return static_cast<ViOp>(ni_.packet(id).source); }
};

TEST_F(ViaRdmaTest, AWriteLeavesFromItsDescriptor) {
  const std::uint32_t id = post_rdma(kWrite, {{5000, 5, 300}}, 8);
  expect({"taken 1", "fetch 64", "fetch 300"});
  const std::uint32_t piece = ni_.last();
  program_.on_fetched(piece);
  expect({"send to 3"});
  // Expect: it says where it goes, and asks for no receive
  EXPECT_EQ(op_of(piece), ViOp::message_write);
  EXPECT_FALSE(head_of(piece).has_immediate);
  EXPECT_EQ(head_of(piece).bytes, 300u);
  fabric::ViPlace place;
  std::memcpy(&place, ni_.packet(piece).payload(), sizeof place);
  EXPECT_EQ(place.address, 9000u);
  EXPECT_EQ(place.handle, 12u);
  EXPECT_EQ(ni_.packet(piece).header.client.size, sizeof place + 300);
  EXPECT_EQ(ni_.packet(piece).page_bytes, sizeof place);
  program_.on_transmitted(id, 0);
  // Expect: on level 2 it is complete when it has left
  expect({"tell 1"});
  EXPECT_EQ(ni_.told[0].status, fabric::kViOpRdmaWrite);
  EXPECT_EQ(ni_.told[0].bytes, 300u);
  EXPECT_EQ(ni_.told[0].value, 8u);
}

TEST_F(ViaRdmaTest, AWriteOfReliableReceptionWaitsForTheOtherMemory) {
  connect({true, true});
  const std::uint32_t id = post_rdma(kWrite, {{5000, 5, 300}});
  program_.on_fetched(ni_.last());
  program_.on_transmitted(id, 0);
  EXPECT_TRUE(ni_.told.empty());
  message(0, 0, 0, ViOp::message_done);
  ASSERT_EQ(ni_.told.size(), 1u);
  EXPECT_EQ(ni_.told[0].what, ViTold::sent);
}

TEST_F(ViaRdmaTest, EachPieceOfALongWriteSaysWhereItBelongs) {
  post_rdma(kWrite, {{4096, 5, 700}, {6000, 5, 800}});
  // Expect: 984 bytes in a packet of 1,000, gathered from two places
  EXPECT_EQ(done(), (std::vector<std::string>{"taken 1", "fetch 64", "fetch 16"}));
  program_.on_fetched(1);
  expect({"fetch 700", "fetch 284", "fetch 516"});
  const std::uint32_t second = ni_.last();
  EXPECT_EQ(head_of(second).offset, 984u);
  EXPECT_EQ(head_of(second).bytes, 1500u);
  EXPECT_EQ(ni_.packet(second).cookie, 6284u);
}

TEST_F(ViaRdmaTest, AWriteTakesNoReceive) {
  for (const bool tells : {false, true}) {
    connect({true, tells});
    post_receive();
    const std::uint32_t first = write({.bytes = 500});
    const std::uint32_t second = write({.bytes = 500, .offset = 300, .data = 200});
    // Expect: straight to memory, without a descriptor and without a word to the host
    EXPECT_EQ(done(), (std::vector<std::string>{"land 300 at 6000", "land 200 at 6300"}));
    EXPECT_EQ(ni_.packet(second).page_bytes, sizeof(fabric::ViPlace));
    program_.on_landed(first, 3);
    const std::uint32_t before = ni_.last();
    program_.on_landed(second, 3);
    // Expect: level 4 is told when the last piece is in memory
    EXPECT_EQ(ni_.last() > before, tells);
    if (tells) {
      EXPECT_EQ(op_of(ni_.last()), ViOp::message_done);
      EXPECT_EQ(head_of(ni_.last()).queue, 7);
      EXPECT_EQ(head_of(ni_.last()).sequence, 6);
    }
    EXPECT_TRUE(ni_.told.empty());
    EXPECT_EQ(ni_.vi_table().end(2)->receives.size(), 1u);
    done();
  }
  EXPECT_EQ(ni_.freed, 4);
}

TEST_F(ViaRdmaTest, AWriteOfNoBytesIsAnswered) {
  connect({true, true});
  write({.bytes = 0, .data = 0});
  EXPECT_EQ(op_of(ni_.last()), ViOp::message_done);
  expect({"send to 3"});
}

TEST_F(ViaRdmaTest, AWriteDoesNotOvertakeTheMessageBeforeIt) {
  post_receive();
  message(40, 0, 40);
  const std::uint32_t descriptor = ni_.last();
  write({});
  EXPECT_EQ(done(), std::vector<std::string>{"fetch 64"});
  describe(descriptor, {{8000, 5, 64}});
  program_.on_fetched(descriptor);
  EXPECT_EQ(done(), (std::vector<std::string>{"land 40 at 8000", "tell 0", "land 300 at 6000"}));
}

struct BadOperation {
  const char* what;
  std::uint64_t address;
  std::uint32_t handle;
  std::uint32_t bytes;
};
// Memory 5 is from 4096 to 14,096. Others: 6 has another tag, 7 permits no writes, 8 no reads.
constexpr BadOperation kBadWrites[] = {
    {"memory that is not registered", 6000, 4, 300}, {"another protection tag", 6000, 6, 300},
    {"memory that permits no writes", 6000, 7, 300}, {"before the memory", 4095, 5, 300},
    {"beyond the memory", 13'797, 5, 300},           {"its end beyond", 14'000, 5, 300},
    {"far from it", UINT64_MAX - 100, 5, 300},       {"an address of nobody's", 0, 0, 0},
};
constexpr BadOperation kBadReads[] = {
    {"memory that is not registered", 6000, 4, 300}, {"another protection tag", 6000, 6, 300},
    {"memory that permits no reads", 6000, 8, 300},  {"before the memory", 4095, 5, 300},
    {"beyond the memory", 13'797, 5, 300},           {"all of the address space", 0, 5, 5000},
};

class ViaRefusals : public ViaRdmaTest {
 protected:
  ViaRefusals() {
    ni_.vi_table().allow(0, {6, 8, 4096, 10'000, true, true});
    ni_.vi_table().allow(0, {7, 9, 4096, 10'000, false, true});
    ni_.vi_table().allow(0, {8, 9, 4096, 10'000, true, false});
  }
  // The other end is told what became of its operation 6, and its host of the reason.
  void expect_broken(const char* what) {
    EXPECT_TRUE(is_broken()) << what;
    EXPECT_EQ(op_of(ni_.last()), ViOp::broken) << what;
    EXPECT_EQ(head_of(ni_.last()).bytes, fabric::kViRdmaProtectionError) << what;
    EXPECT_EQ(head_of(ni_.last()).sequence, 6) << what;
    EXPECT_EQ(head_of(ni_.last()).queue, 7) << what;
  }
};

TEST_F(ViaRefusals, WritesBreakWhatIsReliable) {
  for (const bool tells : {false, true}) {
    for (const BadOperation& bad : kBadWrites) {
      connect({true, tells});
      write({bad.address, bad.handle, bad.bytes, 0, bad.bytes});
      EXPECT_EQ(done(), std::vector<std::string>{"tell 3"}) << bad.what;
      expect_broken(bad.what);
      // Expect: nothing of that connection is performed any more
      write({});
      EXPECT_EQ(done(), std::vector<std::string>{}) << bad.what;
    }
  }
  connect({true, false, false});
  write({});
  EXPECT_EQ(done(), std::vector<std::string>{"tell 3"});
  expect_broken("a virtual interface that permits no writes");
}

TEST_F(ViaRefusals, UnreliableWritesAreDropped) {
  for (const BadOperation& bad : kBadWrites) {
    connect({false, false});
    write({bad.address, bad.handle, bad.bytes, 0, bad.bytes / 2});
    // Expect: the host is told once, by the first piece
    EXPECT_EQ(done(), std::vector<std::string>{"tell 3"}) << bad.what;
    if (bad.bytes > 0) write({bad.address, bad.handle, bad.bytes, 150, 150});
    EXPECT_EQ(done(), std::vector<std::string>{}) << bad.what;
    EXPECT_FALSE(is_broken()) << bad.what;
    write({});
    EXPECT_EQ(done(), std::vector<std::string>{"land 300 at 6000"}) << bad.what;
  }
}

TEST_F(ViaRefusals, MemoryThatIsWithdrawnWhileAWriteComes) {
  write({.bytes = 600});
  ni_.vi_table().forbid(0, 5);
  done();
  write({.bytes = 600, .offset = 300});
  EXPECT_EQ(done(), std::vector<std::string>{"tell 3"});
  expect_broken("a later piece");
}

TEST_F(ViaRefusals, PiecesThatCannotBeAreDropped) {
  // Expect: nothing, of more than all, of more than the VI transfers, of less than an address
  write({.bytes = 300, .offset = 301, .data = 0});
  write({.bytes = 300, .offset = 200, .data = 101});
  write({.bytes = 5001, .data = 10});
  message(8, 0, 8, ViOp::message_write);
  EXPECT_EQ(done(), std::vector<std::string>{});
  EXPECT_EQ(ni_.freed, 4);
  EXPECT_FALSE(is_broken());
}

TEST_F(ViaRdmaTest, AReadAsksAndItsDescriptorTakesTheAnswer) {
  const std::uint32_t id = post_rdma(kRead, {{5000, 5, 100}, {7000, 5, 900}}, 8);
  program_.on_fetched(id);
  const std::uint32_t request = ni_.last();
  expect({"taken 1", "fetch 64", "fetch 16", "send to 3"});
  EXPECT_EQ(op_of(request), ViOp::read);
  EXPECT_EQ(head_of(request).bytes, 1000u);
  EXPECT_EQ(ni_.packet(request).header.client.size, sizeof(fabric::ViPlace));
  program_.on_transmitted(id, 0);
  // Expect: not complete before all of the answer is here
  const std::uint32_t first = answer(1000, 0, 600, 8);
  EXPECT_EQ(done(), (std::vector<std::string>{"land 100 at 5000", "land 500 at 7000"}));
  EXPECT_TRUE(ni_.told.empty());
  program_.on_landed(first, 3);
  answer(1000, 600, 400, 8);
  EXPECT_EQ(done(), (std::vector<std::string>{"land 400 at 7500", "tell 1"}));
  EXPECT_EQ(ni_.told[0].status, fabric::kViOpRdmaRead);
  EXPECT_EQ(ni_.told[0].bytes, 1000u);
  EXPECT_EQ(ni_.told[0].value, 8u);
}

TEST_F(ViaRdmaTest, AnswersThatNobodyAskedForAreDropped) {
  answer(100, 0, 100);
  const std::uint32_t id = post_rdma(kRead, {{5000, 5, 100}}, 8);
  done();
  // Expect: nothing before the request has left, of another number, length or place
  answer(100, 0, 100, 8);
  program_.on_transmitted(id, 0);
  answer(100, 0, 100, 7);
  answer(99, 0, 99, 8);
  answer(100, 10, 90, 8);
  answer(100, 0, 101, 8);
  EXPECT_EQ(done(), std::vector<std::string>{});
  EXPECT_EQ(ni_.freed, 6);
  answer(100, 0, 100, 8);
  EXPECT_EQ(done(), (std::vector<std::string>{"land 100 at 5000", "tell 1"}));
}

TEST_F(ViaRdmaTest, MemoryThatIsWithdrawnWhileAReadIsUnderWay) {
  const std::uint32_t id = post_rdma(kRead, {{5000, 5, 100}}, 8);
  program_.on_transmitted(id, 0);
  ni_.vi_table().forbid(0, 5);
  done();
  answer(100, 0, 100, 8);
  EXPECT_EQ(done(), std::vector<std::string>{"tell 1"});
  EXPECT_EQ(ni_.told[0].status, fabric::kViOpRdmaRead | fabric::kViProtectionError);
  EXPECT_TRUE(is_broken());
}

TEST_F(ViaRdmaTest, UnreliableInterfacesDoNotRead) {
  connect({false, false});
  post_rdma(kRead, {{5000, 5, 100}});
  ASSERT_EQ(ni_.told.size(), 1u);
  EXPECT_EQ(ni_.told[0].status & fabric::kViErrorMask, fabric::kViFormatError);
  EXPECT_FALSE(is_broken());
}

TEST_F(ViaRdmaTest, AReadOfTheOtherSideIsAnsweredInPieces) {
  read({.bytes = 2100});
  expect({"fetch 1000", "fetch 1000", "fetch 100"});
  const std::uint32_t last = ni_.last();
  for (std::uint32_t id = last - 2; id <= last; ++id) program_.on_fetched(id);
  expect({"send to 3", "send to 3", "send to 3"});
  // Expect: each says where it belongs
  EXPECT_EQ(op_of(last), ViOp::read_data);
  EXPECT_EQ(head_of(last).queue, 7);
  EXPECT_EQ(head_of(last).connection, 4);
  EXPECT_EQ(head_of(last).sequence, 6);
  EXPECT_EQ(head_of(last).offset, 2000u);
  EXPECT_EQ(head_of(last).bytes, 2100u);
  EXPECT_EQ(ni_.packet(last - 1).cookie, 7000u);
  EXPECT_EQ(ni_.freed, 1);
}

TEST_F(ViaRdmaTest, LongReadsWaitForRoom) {
  ni_.vi_table().end(2)->transfer_max = 10'000;
  read({.address = 4096, .bytes = 9000});
  // Expect: 8 pieces at a time in NI memory, the next one when the first has left
  EXPECT_EQ(ni_.did.size(), 8u);
  ni_.did.clear();
  program_.on_fetched(ni_.last() - 7);
  expect({"send to 3", "fetch 1000"});
}

TEST_F(ViaRdmaTest, NoMoreReadsThanThereMayBe) {
  ni_.vi_table().end(2)->transfer_max = 10'000;
  // The first ones fill the NI's memory, so that the others wait.
  for (std::uint32_t i = 0; i < fabric::kViReadsMax; ++i) read({.address = 4096, .bytes = 9000});
  EXPECT_FALSE(is_broken());
  read({});
  EXPECT_TRUE(is_broken());
}

TEST_F(ViaRefusals, Reads) {
  for (const BadOperation& bad : kBadReads) {
    connect({});
    read({bad.address, bad.handle, bad.bytes});
    EXPECT_EQ(done(), std::vector<std::string>{"tell 5"}) << bad.what;
    expect_broken(bad.what);
    read({});
    EXPECT_EQ(done(), std::vector<std::string>{}) << bad.what;
  }
  connect({true, false, true, false});
  read({});
  EXPECT_EQ(done(), std::vector<std::string>{"tell 5"});
  expect_broken("a virtual interface that permits no reads");
  // Expect: where nothing may be read at all, nothing is said of it
  connect({false, false, true, true});
  read({.handle = 4});
  EXPECT_EQ(done(), std::vector<std::string>{});
  EXPECT_FALSE(is_broken());
}

TEST_F(ViaRdmaTest, WhatBelongsToNoConnectionIsDropped) {
  ni_.vi_table().disconnect(0, 2);
  write({});
  read({});
  answer(100, 0, 100);
  expect({});
  EXPECT_EQ(ni_.freed, 3);
}

TEST_F(ViaRdmaTest, AReadDoesNotOvertakeTheWriteBeforeIt) {
  const std::uint32_t first = post(1);
  const std::uint32_t second = post(2);
  describe(first, {{9000, 12, 0}, {5000, 5, 900}}, kWrite);
  describe(second, {{9000, 12, 0}, {7000, 5, 100}}, kRead);
  done();
  program_.on_fetched(first);
  const std::uint32_t piece = ni_.last();
  program_.on_fetched(second);
  const std::uint32_t request = ni_.last();
  // Expect: the request, which has no data to wait for, leaves behind the write's
  expect({"fetch 900"});
  program_.on_fetched(piece);
  expect({"send to 3", "send to 3"});
  EXPECT_LT(ni_.packet(piece).header.sequence, ni_.packet(request).header.sequence);
}

}  // namespace
}  // namespace fairlead::lci
