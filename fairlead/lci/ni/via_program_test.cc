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

}  // namespace
}  // namespace fairlead::lci
