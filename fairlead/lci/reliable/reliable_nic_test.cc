// hrx by hand-made frames; whole suites run over it in direct_port_test.cc.
#include "fairlead/lci/reliable/reliable_nic.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fairlead/base/wait_ladder.h"
#include "fairlead/fabric/udp/udp_nic.h"
#include "fairlead/lci/direct/fake_nic.h"
#include "fairlead/lci/reliable/frame.h"
#include "fairlead/proto/pacer.h"

namespace fairlead::lci {
namespace {

using fabric::PacketHeader;
using fabric::PacketKind;

class ReliableNicTest : public testing::Test {
 protected:
  ReliableNicTest() {
    ReliableOptions options;
    options.epoch = nanoseconds(monotonic_ns());
    options.timeout_first = seconds(600);  // nothing is sent again on a slow machine
    options.left = [](void* self, Peer) { return static_cast<ReliableNicTest*>(self)->left_; };
    options.context = this;
    nic_ = make_reliable_nic(below_, options);
    nic_->attach({&ReliableNicTest::on_arrived, nullptr, this});
  }
  static Keep on_arrived(void* self, const fabric::Incoming& in) {
    auto& test = *static_cast<ReliableNicTest*>(self);
    test.got_.emplace_back(reinterpret_cast<const char*>(in.payload.data()), in.payload.size());
    test.tokens_.push_back(in.token);
    return test.keep_ && in.keepable ? Keep::yes : Keep::no;
  }
  Post post(const std::string& text, std::uint32_t lane = 0, std::uint32_t mark = 0) {
    PacketHeader header{};
    header.ack = mark;
    header.client.lane = static_cast<std::uint8_t>(lane);
    header.client.chan = 7;
    header.client.size = static_cast<std::uint32_t>(text.size());
    const Piece piece{text.data(), text.size()};
    return nic_->post(1, header, {&piece, 1});
  }
  // A frame of rank 1 that holds `texts`.
  static std::vector<std::byte> frame(const std::vector<std::string>& texts) {
    std::vector<std::byte> made;
    for (const std::string& text : texts) {
      fabric::ClientHeader client{};
      client.chan = 7;
      client.size = static_cast<std::uint32_t>(text.size());
      const std::size_t at = made.size();
      made.resize(at + record_bytes(text.size()));
      const Piece piece{text.data(), text.size()};
      write_record(made.data() + at, client, {&piece, 1});
    }
    return made;
  }
  static PacketHeader from_1(PacketKind kind, std::uint32_t sequence, std::size_t size) {
    PacketHeader header{};
    header.client.kind = kind;
    header.client.source = 1;
    header.client.size = static_cast<std::uint32_t>(size);
    header.sequence = sequence;
    return header;
  }
  Keep deliver(std::uint32_t sequence, const std::vector<std::string>& texts,
               std::uint64_t token = 0) {
    const std::vector<std::byte> bytes = frame(texts);
    frames_.push_back(bytes);
    return below_.deliver(from_1(PacketKind::frame, sequence, bytes.size()), frames_.back(), token);
  }
  // `stamp`: of the packet that it answers; 0: none.
  void acknowledge(std::uint32_t next, std::uint32_t stamp = 0) {
    PacketHeader header = from_1(PacketKind::ack, 0, 0);
    header.ack = next;
    header.client.words[1] = stamp;
    below_.deliver(header, {});
  }
  void acknowledge_early(std::uint32_t next, std::uint64_t early, std::uint32_t stamp = 0) {
    PacketHeader header = from_1(PacketKind::ack, 0, sizeof early);
    header.ack = next;
    header.client.words[1] = stamp;
    below_.deliver(header, std::as_bytes(std::span(&early, 1)));
  }
  std::size_t records_sent() const {
    std::size_t count = 0;
    for (const FakeNic::Sent& one : below_.sent) {
      RecordReader reader(one.payload);
      while (reader.next()) ++count;
    }
    return count;
  }

  FakeNic below_;
  std::unique_ptr<ReliableNic> nic_;
  std::vector<std::string> got_;
  std::vector<std::uint64_t> tokens_;
  std::vector<std::vector<std::byte>> frames_;
  bool keep_ = false;
  bool left_ = false;
};

TEST_F(ReliableNicTest, PacketsThatWaitShareAFrame) {
  // The first window is full.
  const std::string large(2000, 'x');
  for (std::uint32_t i = 0; i < 16; ++i) EXPECT_EQ(post(large), Post::done);
  nic_->reap(1, fabric::kAllLanes);
  ASSERT_EQ(below_.sent.size(), 16u);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(post("12345678"), Post::done);
  nic_->reap(1, fabric::kAllLanes);
  EXPECT_EQ(below_.sent.size(), 16u);
  EXPECT_FALSE(nic_->settled());
  acknowledge(16);
  nic_->reap(1, fabric::kAllLanes);
  // Expect: 40 records of 32 bytes fit one frame
  EXPECT_EQ(below_.sent.size(), 17u);
  EXPECT_EQ(records_sent(), 56u);
  EXPECT_EQ(below_.sent.back().payload.size(), 40 * record_bytes(8));
  acknowledge(17);
  EXPECT_TRUE(nic_->settled());
}

TEST_F(ReliableNicTest, AnUrgentPacketLeavesAtOnceWithThoseBeforeIt) {
  // Until one is held back for the next one: a test that loses its processor has others leave.
  std::size_t posted = 0;
  do {
    ASSERT_EQ(post("12345678"), Post::done);
    ++posted;
    if (below_.sent.size() == 16) acknowledge(static_cast<std::uint32_t>(below_.sent.size()));
  } while (records_sent() == posted && posted < 1000);
  ASSERT_LT(records_sent(), posted);
  ASSERT_EQ(post("urgent", 0, fabric::kUrgentMark), Post::done);
  EXPECT_EQ(records_sent(), posted + 1);
}

TEST_F(ReliableNicTest, FramesLeaveSpreadOverTheRoundTripAfterALoss) {
  const std::string large(2000, 'x');
  for (int i = 0; i < 16; ++i) EXPECT_EQ(post(large), Post::done);
  nic_->reap(1, fabric::kAllLanes);
  // Expect: as long as nothing was lost, all that the window allows
  ASSERT_EQ(below_.sent.size(), 16u);
  usleep(200'000);
  // Frame 1 is lost, sent again, and has come with another one.
  acknowledge_early(1, 0b0111'1111'1111'1110, below_.sent.back().header.client.words[0]);
  nic_->reap(1, fabric::kAllLanes);
  EXPECT_EQ(post(large), Post::done);
  nic_->reap(1, fabric::kAllLanes);
  ASSERT_EQ(below_.sent.size(), 18u);
  acknowledge(17);
  EXPECT_EQ(nic_->counters().paced, 0u);
  // The window is about 30 now, and the round trip 200 ms: a frame may leave each 5 ms.
  constexpr std::int64_t kEach = 4'000'000;  // ns, at least
  constexpr std::int64_t kBurst = proto::Pacer::Options{}.burst;
  const std::int64_t begin = monotonic_ns();
  for (int i = 0; i < 24; ++i) EXPECT_EQ(post(large), Post::done);
  nic_->reap(1, fabric::kAllLanes);
  const auto at_once = static_cast<std::int64_t>(below_.sent.size()) - 18;
  // Expect: the rest of a burst, of which two have left and one may wait for its slice, and what
  // was earned meanwhile
  EXPECT_GE(at_once, kBurst - 3);
  EXPECT_LE(at_once, kBurst + (monotonic_ns() - begin) / kEach);
  EXPECT_EQ(nic_->counters().paced, 1u);
  EXPECT_FALSE(nic_->settled());
  // Expect: no sleep beyond the time of the next ones
  nic_->sleep(milliseconds(1000));
  EXPECT_LE(below_.slept, milliseconds(20));
  // Expect: the rest without an acknowledgment, not before its time
  while (below_.sent.size() < 18 + 24) nic_->reap(1, fabric::kAllLanes);
  EXPECT_GE(monotonic_ns() - begin, (24 - kBurst - 2) * kEach);
}

TEST_F(ReliableNicTest, WhatIsLostLeavesBeforeWhatIsNew) {
  const std::string large(2000, 'x');
  for (int i = 0; i < 20; ++i) EXPECT_EQ(post(large), Post::done);
  nic_->reap(1, fabric::kAllLanes);
  ASSERT_EQ(below_.sent.size(), 16u);
  // Frames 1 and 2 are lost: of the first 12 all others have come.
  acknowledge_early(1, 0b1111'1111'1100);
  // Expect: at the end of the turn, with the others that the window has room for behind them
  EXPECT_EQ(below_.sent.size(), 16u);
  nic_->reap(1, fabric::kAllLanes);
  ASSERT_GT(below_.sent.size(), 18u);
  EXPECT_EQ(below_.sent[16].header.sequence, 1u);
  EXPECT_EQ(below_.sent[17].header.sequence, 2u);
  EXPECT_EQ(below_.sent[18].header.sequence, 16u);
  EXPECT_EQ(nic_->counters().retransmissions, 2u);
}

TEST_F(ReliableNicTest, AFullWindowIsAnAnswer) {
  const std::string large(2000, 'x');
  int sent = 0;
  while (sent < 100'000 && post(large) == Post::done) ++sent;
  EXPECT_EQ(post(large), Post::again_credit);
  // Expect: the other lanes have windows of their own
  EXPECT_EQ(post(large, 1), Post::done);
  // Expect: what waited leaves when the peer has taken the window
  const std::size_t before = below_.sent.size();
  acknowledge(16);
  nic_->reap(1, fabric::kAllLanes);
  EXPECT_GT(below_.sent.size(), before);
  EXPECT_EQ(post(large), Post::done);
}

TEST_F(ReliableNicTest, EarlyFramesAreHeldAndDeliveredInOrder) {
  EXPECT_EQ(deliver(1, {"b", "c"}, 11), Keep::yes);
  EXPECT_TRUE(got_.empty());
  EXPECT_EQ(deliver(1, {"b", "c"}, 12), Keep::no);
  EXPECT_EQ(deliver(0, {"a"}, 13), Keep::no);
  // Expect: once each, in order, and the fabric's buffer given back
  EXPECT_EQ(got_, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(below_.released, (std::vector<std::uint64_t>{11}));
  nic_->reap(1, fabric::kAllLanes);
  // Expect: told at once, as something came early and twice
  ASSERT_FALSE(below_.sent.empty());
  EXPECT_EQ(below_.sent.back().header.client.kind, PacketKind::ack);
  EXPECT_EQ(below_.sent.back().header.ack, 2u);
}

TEST_F(ReliableNicTest, AKeptPacketKeepsItsFrame) {
  keep_ = true;
  EXPECT_EQ(deliver(0, {"a", "b"}, 21), Keep::yes);
  ASSERT_EQ(tokens_.size(), 2u);
  nic_->release(tokens_[0]);
  EXPECT_TRUE(below_.released.empty());
  nic_->release(tokens_[1]);
  EXPECT_EQ(below_.released, (std::vector<std::uint64_t>{21}));
}

TEST_F(ReliableNicTest, ALaneThatMayNotBeReapedWaits) {
  nic_->reap(1, fabric::LaneMask{0b110});
  EXPECT_EQ(deliver(0, {"a"}, 31), Keep::yes);
  EXPECT_TRUE(got_.empty());
  nic_->reap(1, fabric::kAllLanes);
  EXPECT_EQ(got_, (std::vector<std::string>{"a"}));
}

TEST_F(ReliableNicTest, OneLookGoesPastWhatHasComeBefore) {
  deliver(0, {"a"});
  const auto again = [this] { deliver(0, {"a"}); };
  below_.arriving = {again, again, [this] { acknowledge(0); }, [this] { deliver(1, {"b"}); },
                     [this] { deliver(2, {"c"}); }};
  nic_->reap(256, fabric::kAllLanes);
  // Expect: what is new, and no more than the fabric gives at a look
  EXPECT_EQ(got_, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(below_.arriving.size(), 1u);
  // Expect: no more than it may
  below_.arriving.insert(below_.arriving.begin(), {again, again});
  nic_->reap(2, fabric::kAllLanes);
  EXPECT_EQ(below_.arriving.size(), 1u);
}

TEST_F(ReliableNicTest, WhatCannotBeIsDroppedAndCounted) {
  const PortCounters& counters = nic_->counters();
  std::vector<std::byte> bytes = frame({"hello"});
  PacketHeader odd = from_1(PacketKind::frame, 0, bytes.size());
  odd.client.lane = 3;
  below_.deliver(odd, bytes);
  odd = from_1(PacketKind::data, 0, bytes.size());
  below_.deliver(odd, bytes);
  odd = from_1(PacketKind::frame, 0, bytes.size() + 1);
  below_.deliver(odd, bytes);
  // Acknowledges what was never sent.
  odd = from_1(PacketKind::frame, 0, bytes.size());
  odd.ack = 5;
  below_.deliver(odd, bytes);
  EXPECT_EQ(counters.corrupt_dropped, 4u);
  odd = from_1(PacketKind::frame, 0, bytes.size());
  odd.client.source = 2;
  below_.deliver(odd, bytes);
  EXPECT_EQ(counters.foreign_dropped, 1u);
  EXPECT_TRUE(got_.empty());
  // A record that is longer than its frame, after a good one.
  std::vector<std::byte> torn = frame({"good", "bad"});
  torn.resize(torn.size() - 8);
  below_.deliver(from_1(PacketKind::frame, 0, torn.size()), torn);
  EXPECT_EQ(got_, (std::vector<std::string>{"good"}));
  EXPECT_EQ(counters.corrupt_dropped, 5u);
}

TEST_F(ReliableNicTest, APeerThatLeftOwesNothing) {
  EXPECT_EQ(post("x"), Post::done);
  nic_->reap(1, fabric::kAllLanes);
  EXPECT_FALSE(nic_->settled());
  left_ = true;
  EXPECT_TRUE(nic_->settled());
}

TEST_F(ReliableNicTest, AGoodbyeEndsTheWaitForALostAcknowledgment) {
  EXPECT_EQ(post("x"), Post::done);
  nic_->reap(1, fabric::kAllLanes);
  acknowledge(0);
  // Expect: an acknowledgment that says nothing new is no goodbye
  EXPECT_FALSE(nic_->settled());
  nic_->leave();
  const FakeNic::Sent goodbye = below_.sent.back();
  // Expect: said to the one that was met, more than once
  EXPECT_EQ(goodbye.dest, 1u);
  EXPECT_GE(below_.sent.size(), 3u);
  for (const FakeNic::Sent& one : below_.sent) EXPECT_EQ(one.dest, 1u);
  PacketHeader theirs = goodbye.header;
  theirs.client.source = 1;
  below_.deliver(theirs, {});
  EXPECT_TRUE(nic_->settled());
  // Expect: no word to a peer that has gone
  const std::size_t before = below_.sent.size();
  nic_->leave();
  EXPECT_EQ(below_.sent.size(), before);
}

// Bytes on the heap of an endpoint over udp in a job of `ranks`.
std::size_t heap_of_endpoint(Peer ranks) {
  fabric::UdpOptions options;
  options.peers = ranks;
  const std::size_t before = mallinfo2().uordblks;
  const auto udp = std::move(fabric::open_udp(options).value());
  const auto reliable = make_reliable_nic(*udp, {});
  return mallinfo2().uordblks - before;
}

TEST(ReliableNicMemory, AnIdlePeerTakesAtMost256Bytes) {
  const std::size_t few = heap_of_endpoint(64);
  if (few == 0) GTEST_SKIP() << "a sanitizer's heap does not count";
  const std::size_t each = (heap_of_endpoint(1024) - few) / (1024 - 64);
  EXPECT_LE(each, 256u);
  EXPECT_GE(each, 16u);
}

}  // namespace
}  // namespace fairlead::lci
