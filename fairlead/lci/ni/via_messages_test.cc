// Messages of virtual interfaces by the control program: descriptors as programs have posted them,
// from the doorbell of a send to the status of a receive, and what becomes of those that are wrong.
#include "fairlead/lci/ni/via_messages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "fairlead/lci/ni/fake_vi_host.h"

namespace fairlead::lci {
namespace {

TEST_F(ViaMessagesTest, ASendFromDoorbellToStatus) {
  const std::uint32_t id = post(8);
  expect({"taken 1", "fetch 64"});
  describe(id, {{5000, 5, 100}});
  program_.on_fetched(id);
  // Expect: its data goes straight from the program's memory into a packet for the other side
  expect({"fetch 100"});
  const std::uint32_t piece = ni_.last();
  EXPECT_EQ(ni_.packet(piece).cookie, 5000u);
  const auto head = ViMessageHead::read(ni_.packet(piece).header.client.words);
  EXPECT_EQ(head.queue, 7);
  EXPECT_EQ(head.connection, 4);
  EXPECT_EQ(head.bytes, 100u);
  program_.on_fetched(piece);
  expect({"send to 3"});
  EXPECT_TRUE(ni_.told.empty());
  program_.on_transmitted(id, 0);
  // Expect: told when the network has it
  expect({"tell 1"});
  EXPECT_EQ(ni_.told[0].bytes, 100u);
  EXPECT_EQ(ni_.told[0].status, 0u);
  EXPECT_EQ(ni_.told[0].value, 8u);
}

TEST_F(ViaMessagesTest, ASendOfReliableReceptionWaitsForTheOtherMemory) {
  connect({true, true});
  const std::uint32_t id = post();
  describe(id, {});
  program_.on_fetched(id);
  program_.on_transmitted(id, 0);
  EXPECT_TRUE(ni_.told.empty());
  message(0, 0, 0, ViOp::message_done);
  ASSERT_EQ(ni_.told.size(), 1u);
  EXPECT_EQ(ni_.told[0].what, ViTold::sent);
}

TEST_F(ViaMessagesTest, ASendIsGatheredFromSeveralPlaces) {
  const std::uint32_t id = post();
  describe(id, {{5000, 5, 10}, {0, 0, 0}, {6000, 5, 20}});
  // Expect: a descriptor of more than 64 bytes is read in two parts
  program_.on_fetched(id);
  EXPECT_EQ(done(), (std::vector<std::string>{"taken 1", "fetch 64", "fetch 16"}));
  program_.on_fetched(id);
  expect({"fetch 10", "fetch 20"});
  const std::uint32_t fragment = ni_.last();
  const std::uint32_t piece = fragment - 1;
  std::memset(ni_.packet(fragment).payload(), 7, 10);
  program_.on_fetched(fragment);
  program_.on_fetched(piece);
  expect({"send to 3"});
  EXPECT_EQ(ni_.packet(piece).payload()[9], std::byte{7});
  EXPECT_EQ(ni_.packet(piece).page_bytes, 10u);
  EXPECT_EQ(ni_.packet(piece).header.client.size, 30u);
}

TEST_F(ViaMessagesTest, LongSendsWaitForRoom) {
  const std::uint32_t id = post();
  ni_.vi_table().end(2)->transfer_max = 10'000;
  describe(id, {{4096, 5, 9000}});
  ni_.did.clear();
  program_.on_fetched(id);
  // Expect: 8 packets of 1,000 bytes in NI memory, the last one when one has left
  EXPECT_EQ(ni_.did.size(), 8u);
  ni_.did.clear();
  program_.on_transmitted(id, 0);
  expect({"fetch 1000"});
}

struct BadSend {
  const char* what;
  std::uint32_t status;
  std::vector<ViSegment> segments;
  std::uint16_t control;
};

TEST_F(ViaMessagesTest, NothingInHostMemoryIsBelieved) {
  ni_.vi_table().allow(0, {6, 8, 4096, 10'000, true, true});
  const BadSend all[] = {
      {"reserved bits", fabric::kViFormatError, {{5000, 5, 10}}, 0x10},
      {"no operation", fabric::kViFormatError, {{0, 0, 0}, {5000, 5, 10}}, 3},
      {"a read of no address", fabric::kViFormatError, {}, 2},
      {"a read with immediate data", fabric::kViFormatError, {{0, 0, 0}, {5000, 5, 10}}, 6},
      {"a write of no address", fabric::kViFormatError, {}, 1},
      {"one with immediate data", fabric::kViFormatError, {}, 5},
      {"more than the VI transfers", fabric::kViLengthError, {{4096, 5, 5001}}, 0},
      {"a write of more than that", fabric::kViLengthError, {{0, 5, 0}, {4096, 5, 5001}}, 1},
      {"a read of more than that", fabric::kViLengthError, {{0, 5, 0}, {4096, 5, 5001}}, 2},
      {"lengths that overflow", fabric::kViLengthError, {{0, 5, UINT32_MAX}, {0, 5, 2}}, 0},
      {"memory that is not registered", fabric::kViProtectionError, {{5000, 4, 10}}, 0},
      {"another protection tag", fabric::kViProtectionError, {{5000, 6, 10}}, 0},
      {"a write out of it", fabric::kViProtectionError, {{0, 0, 0}, {5000, 6, 10}}, 1},
      {"a read into it", fabric::kViProtectionError, {{0, 0, 0}, {5000, 6, 10}}, 2},
      {"before the memory", fabric::kViProtectionError, {{4095, 5, 10}}, 0},
      {"beyond the memory", fabric::kViProtectionError, {{14'090, 5, 10}}, 0},
  };
  for (const BadSend& bad : all) {
    connect({});
    const std::uint32_t id = post();
    describe(id, bad.segments, bad.control);
    ni_.told.clear();
    program_.on_fetched(id);
    ASSERT_EQ(ni_.told.size(), 1u) << bad.what;
    EXPECT_EQ(ni_.told[0].status & fabric::kViErrorMask, bad.status) << bad.what;
    // Expect: the connection is broken, and the other side is told
    EXPECT_TRUE(is_broken()) << bad.what;
    EXPECT_EQ(ni_.packet(ni_.last() - 1).source, static_cast<std::uint8_t>(ViOp::told));
    EXPECT_EQ(ni_.packet(ni_.last()).source, static_cast<std::uint8_t>(ViOp::broken));
  }
}

TEST_F(ViaMessagesTest, AnUnreliableSendThatIsWrongBreaksNothing) {
  connect({false, false});
  const std::uint32_t id = post();
  describe(id, {{5000, 4, 10}});
  program_.on_fetched(id);
  ASSERT_EQ(ni_.told.size(), 1u);
  EXPECT_FALSE(is_broken());
}

TEST_F(ViaMessagesTest, AReceiveTakesTheMessageWithoutTheHost) {
  post_receive();
  const std::uint32_t id = message(40, 0, 40);
  expect({"fetch 64"});
  const std::uint32_t descriptor = ni_.last();
  describe(descriptor, {{6000, 5, 64}});
  program_.on_fetched(descriptor);
  // Expect: data, then what the host is told, in this order
  expect({"land 40 at 6000", "tell 0"});
  EXPECT_EQ(ni_.told[0].bytes, 40u);
  EXPECT_EQ(ni_.told[0].status, fabric::kViOpReceive);
  program_.on_landed(id, 3);
  // Expect: descriptor and packet are gone
  EXPECT_EQ(ni_.freed, 2);
}

TEST_F(ViaMessagesTest, AReceiveIsScatteredOverSeveralPlaces) {
  connect({true, true});
  post_receive();
  message(40, 0, 30);
  const std::uint32_t descriptor = ni_.last();
  describe(descriptor, {{6000, 5, 10}, {7000, 5, 90}});
  // Expect: the second packet waits for the descriptor, too
  const std::uint32_t second = message(40, 30, 10);
  EXPECT_EQ(done(), std::vector<std::string>{"fetch 64"});
  program_.on_fetched(descriptor);
  expect({"land 10 at 6000", "land 20 at 7000", "land 10 at 7020", "tell 0"});
  program_.on_landed(second, 3);
  // Expect: the other side is told that all of it is in memory
  EXPECT_EQ(ni_.packet(ni_.last()).source, static_cast<std::uint8_t>(ViOp::message_done));
  expect({"send to 3"});
}

TEST_F(ViaMessagesTest, AnUnreliableMessageThatLosesItsEndLeavesItsReceiveToTheNext) {
  connect({false, false});
  post_receive();
  post_receive();
  message(2000, 0, 900);
  const std::uint32_t descriptor = ni_.last();
  describe(descriptor, {{6000, 5, 2000}});
  program_.on_fetched(descriptor);
  EXPECT_EQ(done(), (std::vector<std::string>{"fetch 64", "land 900 at 6000"}));
  // Expect: what follows the gap is dropped
  message(2000, 1800, 200);
  EXPECT_EQ(done(), std::vector<std::string>{});
  message(40, 0, 40);
  EXPECT_EQ(done(), std::vector<std::string>{"fetch 64"});
  const std::uint32_t again = ni_.last();
  EXPECT_EQ(ni_.vi_table().end(2)->receives.size(), 1u);
  describe(again, {{6000, 5, 2000}});
  program_.on_fetched(again);
  EXPECT_EQ(done(), (std::vector<std::string>{"land 40 at 6000", "tell 0"}));
  EXPECT_EQ(ni_.told[0].bytes, 40u);
}

TEST_F(ViaMessagesTest, EachMessageTakesAReceiveOfItsOwn) {
  post_receive();
  post_receive();
  message(8, 0, 8);
  const std::uint32_t first = ni_.last();
  message(8, 0, 8);
  EXPECT_EQ(done(), std::vector<std::string>{"fetch 64"});
  describe(first, {{6000, 5, 64}});
  program_.on_fetched(first);
  expect({"land 8 at 6000", "tell 0", "fetch 64"});
  const std::uint32_t second = ni_.last();
  describe(second, {{7000, 5, 64}});
  program_.on_fetched(second);
  expect({"land 8 at 7000", "tell 0"});
}

TEST_F(ViaMessagesTest, ACompletionQueueIsFullByTheNisOwnCount) {
  // Two entries are written to a queue of two, and then a third one is due.
  const struct {
    const char* what;
    std::uint32_t consumed;  // the consumer index by then
    bool overruns;
  } all[] = {
      {"nothing was taken", 0, true}, {"room was made in time", 1, false},
      {"all was taken", 2, false},    {"more was taken than there was", 3, true},
      {"far more", 0x80000000, true}, {"less than none", UINT32_MAX, true},
  };
  constexpr std::uint64_t kConsumedAt = 100;  // nobody reads there but by read_word_now()
  for (const auto& each : all) {
    for (const bool breaks : {true, false}) {
      connect({breaks, false});
      ni_.vi_table().end(2)->receive_entries = true;
      ni_.vi_table().count_entries(0, 2, true, {33, 0, 0});
      ni_.vi_table().count_entries(0, 2, true, {33, 2, kConsumedAt});
      ni_.consumed = 0;
      ni_.index_reads = 0;
      for (int i = 0; i < 3; ++i) {
        // Expect: the index is not read where the queue does not look full.
        EXPECT_EQ(ni_.index_reads, 0) << each.what;
        if (i == 2) ni_.consumed = each.consumed;
        ni_.told.clear();
        ni_.did.clear();
        post_receive();
        const std::uint32_t id = message(8, 0, 8);
        const std::uint32_t descriptor = ni_.last();
        describe(descriptor, {{6000, 5, 64}});
        program_.on_fetched(descriptor);
        program_.on_landed(id, 3);
        ASSERT_EQ(ni_.told.size(), 1u) << each.what;
        // Expect: the message is received, whether there is room for its entry or not.
        EXPECT_EQ(ni_.told[0].bytes, 8u) << each.what;
        EXPECT_EQ(ni_.told[0].status, fabric::kViOpReceive) << each.what;
        const bool overruns = i == 2 && each.overruns;
        EXPECT_EQ(ni_.told[0].overrun, overruns) << each.what;
        EXPECT_EQ(ni_.told[0].entry, overruns ? 0 : 33) << each.what;
        EXPECT_EQ(is_broken(), overruns) << each.what;
        const auto did = done();
        const bool has_entry = std::find(did.begin(), did.end(), "entry, tell 0") != did.end();
        EXPECT_EQ(has_entry, !overruns) << each.what;
      }
      EXPECT_EQ(ni_.index_reads, 1) << each.what;
    }
  }
}

TEST_F(ViaMessagesTest, AMessageThatFindsNoReceiveBreaksWhatIsReliable) {
  message(8, 0, 8);
  EXPECT_EQ(done(), std::vector<std::string>{"tell 2"});
  EXPECT_TRUE(is_broken());
  NiPacket& told = ni_.packet(ni_.last());
  EXPECT_EQ(told.source, static_cast<std::uint8_t>(ViOp::broken));
  EXPECT_EQ(ViMessageHead::read(told.header.client.words).bytes, fabric::kViRemoteDescriptorError);
  // Expect: dropped without a word where messages may be lost
  connect({false, false});
  message(8, 0, 8);
  EXPECT_EQ(done(), std::vector<std::string>{});
  EXPECT_FALSE(is_broken());
}

TEST_F(ViaMessagesTest, AReceiveThatDoesNotFitBreaksWhatIsReliable) {
  const auto status_of = [this](bool breaks, const std::vector<ViSegment>& segments,
                                std::uint16_t control) {
    connect({breaks, false});
    post_receive();
    ni_.told.clear();
    message(40, 0, 40);
    const std::uint32_t descriptor = ni_.last();
    describe(descriptor, segments, control);
    program_.on_fetched(descriptor);
    EXPECT_EQ(is_broken(), breaks);
    return ni_.told.empty() ? 0 : ni_.told[0].status & fabric::kViErrorMask;
  };
  for (const bool breaks : {true, false}) {
    EXPECT_EQ(status_of(breaks, {{6000, 5, 39}}, 0), fabric::kViLengthError);
    EXPECT_EQ(status_of(breaks, {{6000, 6, 64}}, 0), fabric::kViProtectionError);
    EXPECT_EQ(status_of(breaks, {{14'090, 5, 64}}, 0), fabric::kViProtectionError);
    EXPECT_EQ(status_of(breaks, {{6000, 5, 64}}, 4), fabric::kViFormatError);
  }
  // Expect: a descriptor in memory of another tag is not even read
  connect({});
  ni_.vi_table().allow(0, {6, 8, 4096, 10'000, true, true});
  post_receive(6);
  ni_.did.clear();
  ni_.told.clear();
  message(40, 0, 40);
  EXPECT_EQ(done(), std::vector<std::string>{"tell 0"});
  EXPECT_EQ(ni_.told[0].status & fabric::kViErrorMask, fabric::kViProtectionError);
}

TEST_F(ViaMessagesTest, WhatBelongsToNoConnectionIsDropped) {
  post_receive();
  ni_.vi_table().disconnect(0, 2);
  message(8, 0, 8);
  EXPECT_EQ(done(), std::vector<std::string>{});
  EXPECT_EQ(ni_.freed, 1);
}

TEST_F(ViaMessagesTest, ADisconnectEndsWhatIsUnderWay) {
  // A message whose descriptor is being read, and one of which half has come.
  post_receive();
  message(8, 0, 8);
  const std::uint32_t descriptor = ni_.last();
  const std::uint32_t token = post();
  ni_.vi_table().disconnect(0, 2);
  ni_.did.clear();
  describe(descriptor, {{6000, 5, 64}});
  program_.on_fetched(descriptor);
  describe(token, {{6000, 5, 64}});
  program_.on_fetched(token);
  EXPECT_EQ(done(), std::vector<std::string>{});
  EXPECT_TRUE(ni_.told.empty());
  // Expect: packet, descriptor and token are free
  EXPECT_EQ(ni_.freed, 3);
}

TEST_F(ViaMessagesTest, WhatHasNotLeftAtADisconnectIsForNobody) {
  const std::uint32_t token = post();
  describe(token, {{6000, 5, 64}});
  program_.on_fetched(token);
  const std::uint32_t piece = ni_.last();
  ni_.vi_table().disconnect(0, 2);
  program_.on_fetched(piece);
  // Expect: the packet leaves, as it is numbered, without the data that its host may have changed
  const NiPacket& packet = ni_.packet(piece);
  EXPECT_EQ(packet.header.client.size, 0u);
  EXPECT_EQ(ViMessageHead::read(packet.header.client.words).queue, 0xffff);
  program_.on_transmitted(token, 0);
  EXPECT_TRUE(ni_.told.empty());
}

TEST_F(ViaMessagesTest, AWriteWithImmediateDataTakesAReceive) {
  post_receive();
  const fabric::ViPlace place{8000, 5, 0};
  const std::uint32_t id = ni_.make(PacketKind::data, 3);
  NiPacket& packet = ni_.packet(id);
  packet.header.sequence = sequence_++;
  packet.header.client.source = 3;
  packet.header.client.size = sizeof place + 24;
  packet.source = static_cast<std::uint8_t>(ViOp::message_write);
  std::memcpy(packet.payload(), &place, sizeof place);
  ViMessageHead head;
  head.queue = 2;
  head.connection = 1;
  head.bytes = 24;
  head.has_immediate = true;
  head.immediate = 99;
  head.write(packet.header.client.words);
  program_.on_received(id);
  expect({"fetch 64"});
  const std::uint32_t descriptor = ni_.last();
  describe(descriptor, {});
  program_.on_fetched(descriptor);
  expect({"land 24 at 8000", "tell 0"});
  EXPECT_EQ(ni_.told[0].status, fabric::kViOpRemoteWrite | fabric::kViHasImmediate);
  EXPECT_EQ(ni_.told[0].value, 99u);
}

TEST_F(ViaMessagesTest, WhatANeighbourMakesUpIsAMessageLikeAnyOther) {
  const std::uint32_t id = message(8, 0, 8, ViOp::told);
  // Expect: it takes a descriptor of the Port's
  expect({"fetch 64"});
  EXPECT_EQ(ni_.packet(id).source, static_cast<std::uint8_t>(ViOp::none));
}

}  // namespace
}  // namespace fairlead::lci
