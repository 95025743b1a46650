// The control program for virtual interfaces on hand-made packets: doorbells in, actions out.
#include "fairlead/lci/ni/via_program.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/lci/ni/fake_via_ni.h"

namespace fairlead::lci {
namespace {

using fabric::kNoPacket;
using fabric::NiPacket;
using fabric::PacketKind;

TEST_F(ViaProgramTest, ASendFromDoorbellToStatus) {
  const std::uint32_t id = ring(2, 1, 100);
  // Expect: nothing until the third look has ended
  expect({});
  EXPECT_EQ(ni_.look, nanoseconds(30));
  ni_.time = ni_.look;
  program_.on_look();
  // Expect: the doorbell is empty again, its descriptor is read
  expect({"taken 2", "fetch 64"});
  program_.on_fetched(id);
  // Expect: then its data
  expect({"fetch 100"});
  EXPECT_EQ(ni_.charged[Step::descriptor], 1);
  program_.on_fetched(id);
  expect({"send to 1"});
  program_.on_transmitted(kNoPacket, 0);
  expect({"buffer free", "status"});
}

TEST_F(ViaProgramTest, ASendWithoutDataNeedsItsDescriptorOnly) {
  const std::uint32_t id = ring(0, 1, 0);
  ni_.time = nanoseconds(10);
  program_.on_look();
  expect({"taken 0", "fetch 64"});
  program_.on_fetched(id);
  expect({"send to 1"});
}

TEST_F(ViaProgramTest, AnArrivalWaitsForItsReceiveDescriptor) {
  const std::uint32_t id = arrive(3, 0);
  expect({"fetch 64"});
  program_.on_fetched(id);
  expect({"deliver " + std::to_string(id)});
  // Expect: the host gets a packet like any other
  EXPECT_EQ(ni_.packet(id).fetch_bytes, 0u);
  program_.on_delivered(kNoPacket, 3);
  expect({});
}

TEST_F(ViaProgramTest, TrafficIsHandledBetweenTwoLooks) {
  ring(1, 2, 0);
  // Expect: something arrives during the first look; that ends first, and holds up the second
  ni_.time = nanoseconds(4);
  const std::uint32_t id = arrive(3, 0);
  EXPECT_EQ(ni_.time, nanoseconds(10));
  expect({"fetch 64"});
  EXPECT_EQ(ni_.look, nanoseconds(20));
  // Expect: what comes at the end of the second look waits for what that has found
  ni_.time = nanoseconds(20);
  program_.on_fetched(id);
  expect({"taken 1", "fetch 64", "deliver " + std::to_string(id)});
  EXPECT_EQ(ni_.look, kNever);
}

TEST_F(ViaProgramTest, TheLooksThatASendWaitsForAreThoseAtTheOtherDoorbells) {
  // Expect: the mean over all doorbells is half a round and half a look
  Ps sum{};
  for (std::uint32_t doorbell = 0; doorbell < 4; ++doorbell) {
    const Ps from = ni_.time;
    ring(doorbell, 1, 0);
    sum += ni_.look - from;
    ni_.time = ni_.look;
    program_.on_look();
    // One that was just passed is a whole round away.
    ring(doorbell, 1, 0);
    EXPECT_EQ(ni_.look - ni_.time, nanoseconds(40));
    ni_.time = ni_.look;
    program_.on_look();
  }
  EXPECT_EQ(sum, nanoseconds(40));
}

// The TLB has 2 entries: registered last, the two pages of receives have them first.
TEST_F(ViaProgramTest, AnEntryThatIsNotInTheTlbIsReadOnceWhileItStays) {
  for (std::uint32_t i = 0; i < 6; ++i) {
    const std::uint32_t id = ring(0, 1 + i % 3, 0);
    ni_.time = ni_.look;
    program_.on_look();
    program_.on_fetched(id);
  }
  // Expect: two pages of sends in turn, each missed once
  EXPECT_EQ(ni_.charged[Step::ntlb_lookup], 6);
  EXPECT_EQ(program_.tlb_misses(), 2u);
  EXPECT_EQ(ni_.table_reads, 2);
  // Expect: a receive takes an entry back
  program_.on_fetched(arrive(3, 0));
  EXPECT_EQ(program_.tlb_misses(), 3u);
}

TEST_F(ViaProgramTest, AHostIsNotBelieved) {
  ring(9, 1, 0);
  EXPECT_EQ(violated_, "its host rang a doorbell that it does not have");
  expect({});
  EXPECT_EQ(ni_.look, kNever);
}

TEST_F(ViaProgramTest, TheDmaEngineIsStartedInATurnLikeAnyOther) {
  program_.on_hardware();
  expect({"start DMA"});
  EXPECT_EQ(ni_.time, nanoseconds(10));
}

// RDMA from rank 3: memory 5 of 10,000 bytes from address 4096 on, by queue 2.
class ViaRdmaTest : public ViaProgramTest {
 protected:
  ViaRdmaTest() {
    ni_.vi_table().allow(0, {5, 9, 4096, 10'000, true, true});
    ni_.vi_table().connect(0, {2, 3, 1, 9, true, true, true});
  }
  std::uint32_t operation(fabric::ViOp op, const fabric::RdmaHead& head, std::uint32_t data = 0) {
    const std::uint32_t id = ni_.make(PacketKind::data, 3);
    NiPacket& packet = ni_.packet(id);
    packet.header.sequence = sequence_++;
    packet.header.client.source = 3;
    packet.header.client.chan = 77;
    packet.header.client.size = sizeof head + data;
    packet.source = static_cast<std::uint8_t>(op);
    std::memcpy(packet.payload(), &head, sizeof head);
    program_.on_received(id);
    return id;
  }
  static constexpr fabric::RdmaHead kHead{5000, 5, 300, 0, 2, 1, 1, {10, 20, 30, 40}};

  std::uint32_t sequence_ = 0;
};

TEST_F(ViaRdmaTest, AWriteGoesToMemoryAndIsAnswered) {
  fabric::RdmaHead head = kHead;
  const std::uint32_t first = operation(fabric::ViOp::write, head, 200);
  head.offset = 200;
  const std::uint32_t second = operation(fabric::ViOp::write, head, 100);
  // Expect: no receive descriptor is read
  expect({"land 200 at 5000", "land 100 at 5200"});
  program_.on_landed(first, 3);
  expect({});
  program_.on_landed(second, 3);
  // Expect: an answer for its initiator, behind the last piece
  expect({"send to 3"});
  const NiPacket& done = ni_.packet(ni_.last());
  EXPECT_EQ(done.header.client.chan, 77);
  EXPECT_EQ(done.header.client.lane, 1);
  EXPECT_EQ(done.header.client.words[1], 20u);
  EXPECT_EQ(done.header.dest_rank, 3u);
  EXPECT_EQ(ni_.freed, 2);
}

TEST_F(ViaRdmaTest, AReadIsAnsweredInPieces) {
  fabric::RdmaHead head = kHead;
  head.bytes = 2100;
  operation(fabric::ViOp::read, head);
  expect({"fetch 1000", "fetch 1000", "fetch 100"});
  const std::uint32_t last = ni_.last();
  for (std::uint32_t id = last - 2; id <= last; ++id) program_.on_fetched(id);
  expect({"send to 3", "send to 3", "send to 3"});
  // Expect: each says where it belongs, and all but the last that more follows
  EXPECT_EQ(ni_.packet(last).header.client.words[1], 2020u);
  EXPECT_EQ(ni_.packet(last).page_bytes, 0u);
  EXPECT_EQ(ni_.packet(last - 1).page_bytes, 1u);
  EXPECT_EQ(ni_.packet(last - 1).cookie, 6000u);
}

TEST_F(ViaRdmaTest, LongReadsWaitForRoom) {
  fabric::RdmaHead head = kHead;
  head.bytes = 9000;
  operation(fabric::ViOp::read, head);
  // Expect: 8 pieces at a time in NI memory, the next one when the first has left
  EXPECT_EQ(ni_.did.size(), 8u);
  ni_.did.clear();
  program_.on_fetched(ni_.last() - 7);
  expect({"send to 3", "fetch 1000"});
}

TEST_F(ViaRdmaTest, WhatIsNotPermittedIsForTheHost) {
  const auto is_refused = [this](fabric::ViOp op, const fabric::RdmaHead& head,
                                 std::uint32_t data) {
    ni_.vi_table().connect(0, {2, 3, 1, 9, true, true, true});
    operation(op, head, data);
    // Acknowledgments apart.
    const auto rest = [this] {
      std::vector<std::string> did = std::exchange(ni_.did, {});
      std::erase(did, "send to 3");
      return did;
    };
    const bool is_for_host = rest() == std::vector<std::string>{"fetch 64"};
    // Expect: nothing of that connection is performed any more
    operation(fabric::ViOp::write, kHead, 300);
    return is_for_host && rest().empty();
  };
  fabric::RdmaHead head = kHead;
  head.handle = 6;
  EXPECT_TRUE(is_refused(fabric::ViOp::write, head, 300));
  head = kHead;
  head.address = 4095;
  EXPECT_TRUE(is_refused(fabric::ViOp::read, head, 0));
  head.address = 14'000;
  EXPECT_TRUE(is_refused(fabric::ViOp::write, head, 300));
  head = kHead;
  head.offset = 200;
  EXPECT_TRUE(is_refused(fabric::ViOp::write, head, 101));
  ni_.vi_table().allow(0, {5, 8, 4096, 10'000, true, true});
  EXPECT_TRUE(is_refused(fabric::ViOp::write, kHead, 300));
  ni_.vi_table().allow(0, {5, 9, 4096, 10'000, true, false});
  EXPECT_TRUE(is_refused(fabric::ViOp::read, kHead, 0));
}

TEST_F(ViaRdmaTest, WhatBelongsToNoConnectionIsDropped) {
  fabric::RdmaHead head = kHead;
  head.connection = 0;
  operation(fabric::ViOp::write, head, 300);
  head = kHead;
  head.queue = 3;
  operation(fabric::ViOp::read, head);
  ni_.vi_table().disconnect(0, 2);
  operation(fabric::ViOp::write, kHead, 300);
  expect({});
  EXPECT_EQ(ni_.freed, 3);
}

TEST_F(ViaRdmaTest, AnswersNeedNoReceiveDescriptor) {
  const std::uint32_t id = ni_.make(PacketKind::data, 3);
  ni_.packet(id).header.sequence = sequence_++;
  ni_.packet(id).source = static_cast<std::uint8_t>(fabric::ViOp::read_data);
  ni_.packet(id).page_bytes = 1;
  program_.on_received(id);
  expect({"piece " + std::to_string(id)});
}

}  // namespace
}  // namespace fairlead::lci
