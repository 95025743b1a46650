// The Port's puts as RDMA writes in the control program for virtual interfaces, on hand-made
// packets: what goes to memory, what to the host, and what is said of the sender's memory.
#include "fairlead/lci/ni/via_puts.h"

#include <gtest/gtest.h>

#include <string>

#include "fairlead/lci/ni/fake_via_ni.h"
#include "fairlead/lci/ni/parts_left.h"

namespace fairlead::lci {
namespace {

using fabric::kNoPacket;
using fabric::NiPacket;
using fabric::PacketKind;

constexpr std::uint32_t kSegment = 5;
constexpr std::uint64_t kBase = 8192;
constexpr std::uint64_t kBytes = 10'000;

class ViaPutsTest : public ViaProgramTest {
 protected:
  ViaPutsTest() { expose(kBytes, true); }
  void expose(std::uint64_t bytes, bool writes) {
    ni_.vi_table().allow(0, {kSegment, 0, kBase, bytes, writes, false, true});
  }
  // A put of node 3's comes.
  std::uint32_t arrive_put(std::uint32_t segment, std::uint64_t offset, std::uint32_t bytes) {
    const std::uint32_t id = ni_.make(PacketKind::page_transfer, 3);
    NiPacket& packet = ni_.packet(id);
    packet.header.sequence = came_++;
    packet.header.client.size = bytes;
    PageTarget{segment, offset}.write(packet.header.client);
    program_.on_received(id);
    return id;
  }
  // It is handed to the host, by a receive descriptor like any packet.
  void expect_for_host(std::uint32_t id) {
    expect({"fetch 64"});
    program_.on_fetched(id);
    expect({"deliver " + std::to_string(id)});
    EXPECT_TRUE(ni_.packet(id).redirected);
    program_.on_delivered(kNoPacket, 3);
  }

 private:
  std::uint32_t came_ = 0;
};

TEST_F(ViaPutsTest, LandWhereTheSegmentIsAndTellNobody) {
  const std::uint32_t id = arrive_put(kSegment, 4000, 2000);
  expect({"land 2000 at " + std::to_string(kBase + 4000)});
  // Expect: both pages that it lies on were looked up
  EXPECT_EQ(ni_.charged[Step::ntlb_lookup], 2);
  program_.on_landed(id, 3);
  expect({});
  EXPECT_EQ(ni_.freed, 1);
}

TEST_F(ViaPutsTest, ReachTheWholeSegmentAndNotAByteMore) {
  arrive_put(kSegment, kBytes - 100, 100);
  expect({"land 100 at " + std::to_string(kBase + kBytes - 100)});
  expect_for_host(arrive_put(kSegment, kBytes - 99, 100));
  expect_for_host(arrive_put(kSegment, kBytes + 1, 0));
  // Expect: offsets that wrap around are no way in
  expect_for_host(arrive_put(kSegment, UINT64_MAX - 50, 100));
}

TEST_F(ViaPutsTest, GoToTheHostWhereTheInterfaceMayNotWrite) {
  expect_for_host(arrive_put(kSegment + 1, 0, 8));
  // Expect: memory of virtual interfaces is no segment, though it has the same number
  ni_.vi_table().allow(0, {kSegment + 1, 0, kBase, kBytes, true, true});
  expect_for_host(arrive_put(kSegment + 1, 0, 8));
  expose(kBytes, false);
  expect_for_host(arrive_put(kSegment, 0, 8));
  expose(0, true);
  expect_for_host(arrive_put(kSegment, 0, 8));
}

TEST_F(ViaPutsTest, GoToTheHostWhenTheSegmentIsGoneBeforeTheyAreThere) {
  const std::uint32_t id = arrive_put(kSegment, 0, 8);
  expect({"land 8 at " + std::to_string(kBase)});
  ni_.packet(id).redirected = true;  // the hardware found nothing to write to
  program_.on_landed(id, 3);
  expect_for_host(id);
  EXPECT_EQ(ni_.freed, 0);  // it is the host's
}

// Virtual interfaces of programs do not reach what the Port has exposed.
TEST_F(ViaPutsTest, SegmentsAreNoMemoryOfVirtualInterfaces) {
  EXPECT_EQ(ni_.vi_table().memory(0, kSegment), nullptr);
  ni_.vi_table().forbid(0, kSegment);
  EXPECT_NE(ni_.vi_table().segment(0, kSegment), nullptr);
  // Expect: another rank of the node has none of that name
  EXPECT_EQ(ni_.vi_table().segment(1, kSegment), nullptr);
  ni_.vi_table().forget(0);
  EXPECT_EQ(ni_.vi_table().segment(0, kSegment), nullptr);
}

TEST_F(ViaPutsTest, LeaveBehindWhatWasPostedBeforeAndAreReportedWhenTheyWereRead) {
  const std::uint32_t put = ring(2, 1, 100);
  NiPacket& packet = ni_.packet(put);
  packet.header.client.kind = PacketKind::page_transfer;
  packet.wants_report = true;
  packet.cookie = 77;
  PutSource{true, kSegment, 4090}.write(packet);
  const int looked_up = ni_.charged[Step::ntlb_lookup];
  ni_.time = ni_.look;
  program_.on_look();
  // A packet by the same virtual interface, without data, whose descriptor is read behind.
  const std::uint32_t word = ring(2, 1, 0);
  ni_.time = ni_.look;
  program_.on_look();
  expect({"taken 2", "fetch 64", "taken 2", "fetch 64"});
  program_.on_fetched(put);
  // Expect: the pages of its source, not a buffer's
  EXPECT_EQ(ni_.charged[Step::ntlb_lookup], looked_up + 2);
  expect({"fetch 100"});
  program_.on_fetched(word);
  expect({});
  program_.on_fetched(put);
  expect({"send to 1", "send to 1"});
  program_.on_transmitted(kNoPacket, 0);
  expect({"buffer free", "status of 77"});
  program_.on_transmitted(kNoPacket, 0);
  expect({"buffer free", "status"});
}

TEST(PartsLeftTest, CountWhenAllBeforeAreOverInAnyOrder) {
  PartsLeft<int> parts;
  Counter done[3];
  parts.count_when_left(&done[0]);
  // Expect: nothing is under way, so that it counts at once
  EXPECT_EQ(done[0].ok.load(), 1u);
  const std::uint64_t first = parts.add(10);
  const std::uint64_t second = parts.add(20);
  parts.count_when_left(&done[1]);
  parts.count_when_left(nullptr);
  const std::uint64_t third = parts.add(30);
  parts.count_when_left(&done[2]);
  EXPECT_EQ(parts.note(second), 20);
  parts.over(second);
  parts.over(third);
  EXPECT_EQ(done[1].ok.load() + done[2].ok.load(), 0u);
  parts.over(first);
  EXPECT_EQ(done[1].ok.load(), 1u);
  EXPECT_EQ(done[2].ok.load(), 1u);
  EXPECT_EQ(parts.counted(), 3u);
  // Expect: numbers go on, and none is 0
  EXPECT_GT(parts.add(40), third);
  EXPECT_GT(first, 0u);
}

}  // namespace
}  // namespace fairlead::lci
