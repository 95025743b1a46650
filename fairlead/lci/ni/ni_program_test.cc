// The control program on hand-made packets: no network, no time, every action written down.
#include "fairlead/lci/ni/ni_program.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "fairlead/base/counters.h"
#include "fairlead/proto/credit_window.h"
#include "fairlead/proto/go_back_n.h"
#include "fairlead/proto/selective_repeat.h"

namespace fairlead::lci {
namespace {

using fabric::PacketKind;

using fabric::Holds;
using fabric::kNoPacket;
using fabric::NiPacket;

class FakeHardware {
 public:
  struct Sent {
    Peer peer;
    PacketKind kind;
    std::uint32_t sequence;
    std::uint32_t ack;
    std::uint64_t operand;
    friend bool operator==(const Sent&, const Sent&) = default;
  };

  Peer self() const { return 0; }
  Peer node_of(Rank rank) const { return rank; }
  Ps now() const { return time; }
  void charge(Step) {}
  NiPacket& packet(std::uint32_t id) { return packets_.at(id); }
  PortCounters& counters() { return counters_; }
  void fetch(std::uint32_t id) { fetched.push_back(id); }
  void deliver(std::uint32_t id) { delivered.push_back(id); }
  void land(std::uint32_t id) { landed.push_back(id); }
  void report(std::uint32_t, std::uint64_t cookie) { reported.push_back(cookie); }
  void answer(std::uint32_t id) { answered.push_back(packet(id).operand); }
  void transmit(Peer peer, std::uint32_t id) {
    const NiPacket& p = packet(id);
    left.push_back(id);
    // What the receiver sees is where it came from.
    EXPECT_EQ(p.peer, self());
    sent.push_back({peer, p.header.client.kind, p.header.sequence, p.header.ack, p.operand});
  }
  void send_buffer_free(std::uint32_t) { ++buffers_freed; }
  std::uint32_t make_control(PacketKind kind, Peer peer) { return make(kind, peer); }
  std::uint32_t image(std::uint32_t id) {
    packets_[++last_] = packet(id);
    packets_[last_].holds = Holds::nothing;
    packets_[last_].origin = kNoPacket;
    return last_;
  }
  void submit_forward(std::uint32_t id, Peer child) { forwards.push_back({id, child}); }
  void free_packet(std::uint32_t id) { freed.push_back(id); }
  std::uint64_t* find_word(Rank, std::uint32_t segment, std::uint64_t offset) {
    return segment == 7 && offset == 0 ? &word : nullptr;
  }

  std::uint32_t make(PacketKind kind, Peer peer) {
    packets_[++last_] = NiPacket{};
    packets_[last_].peer = peer;
    packets_[last_].origin = kNoPacket;
    packets_[last_].header.client.kind = kind;
    return last_;
  }

  std::vector<std::uint32_t> fetched, delivered, landed, freed, left;
  std::vector<std::pair<std::uint32_t, Peer>> forwards;
  std::vector<std::uint64_t> reported, answered;
  std::vector<Sent> sent;
  Ps time{};
  int buffers_freed = 0;
  std::uint64_t word = 5;

 private:
  std::map<std::uint32_t, NiPacket> packets_;
  std::uint32_t last_ = 0;
  PortCounters counters_;
};

// The NI of node 0 of 8, all in group 0.
template <class Flow>
class ProgramTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kWindow = 4;
  static constexpr std::uint32_t kNodes = 8;

  ProgramTest(Flow flow, std::uint32_t receive_buffers, proto::TreeShape tree)
      : program_(ni_, std::move(flow),
                 {kNodes, kNodes, receive_buffers, false, true, tree,
                  [](void* self, Peer, Peer peer, const char* what) {
                    static_cast<ProgramTest*>(self)->violated_ = std::to_string(peer) + ": " + what;
                  },
                  this}) {}

  // The host posts a packet whose data is written already.
  std::uint32_t post(Peer peer) {
    const std::uint32_t id = ni_.make(PacketKind::data, peer);
    ni_.packet(id).holds = Holds::send_buffer;
    program_.on_descriptor(id);
    return id;
  }
  std::uint32_t post_to_all() {
    const std::uint32_t id = ni_.make(PacketKind::multicast, UINT32_MAX);
    ni_.packet(id).holds = Holds::send_buffer;
    program_.on_descriptor(id);
    return id;
  }
  // One comes from `peer`.
  std::uint32_t arrive(Peer peer, PacketKind kind, std::uint32_t sequence, std::uint32_t ack = 0,
                       Peer source = 0) {
    const std::uint32_t id = ni_.make(kind, peer);
    ni_.packet(id).header.client.source = source;
    ni_.packet(id).header.sequence = sequence;
    ni_.packet(id).header.ack = ack;
    program_.on_received(id);
    return id;
  }
  // The processor gets to the forwards it made for itself.
  void run_forwards() {
    const auto all = std::move(ni_.forwards);
    ni_.forwards.clear();
    for (const auto& [id, child] : all) program_.on_forward(id, child);
  }
  std::vector<Peer> destinations() const {
    std::vector<Peer> all;
    for (const FakeHardware::Sent& each : ni_.sent) all.push_back(each.peer);
    return all;
  }

  FakeHardware ni_;
  std::string violated_;
  NiProgram<FakeHardware, Flow> program_;
};

class NiProgramTest : public ProgramTest<proto::CreditWindow> {
 protected:
  NiProgramTest()
      : ProgramTest(proto::CreditWindow(kNodes, kWindow), 64, proto::TreeShape::binary) {}
};

TEST_F(NiProgramTest, PacketsLeaveInOrderWithTheirNumbers) {
  post(1);
  post(2);
  post(1);
  // Expect: a sequence per peer
  EXPECT_EQ(ni_.sent, (std::vector<FakeHardware::Sent>{{1, PacketKind::data, 0, 0, 0},
                                                       {2, PacketKind::data, 0, 0, 0},
                                                       {1, PacketKind::data, 1, 0, 0}}));
  program_.on_transmitted(kNoPacket, 0);
  EXPECT_EQ(ni_.buffers_freed, 1);
}

TEST_F(NiProgramTest, DataInHostMemoryIsFetchedFirstAndReported) {
  const std::uint32_t id = ni_.make(PacketKind::data, 1);
  ni_.packet(id).fetch_bytes = 100;
  ni_.packet(id).cookie = 77;
  ni_.packet(id).wants_report = true;
  program_.on_descriptor(id);
  // Expect: nothing leaves before it is here
  EXPECT_EQ(ni_.fetched, std::vector<std::uint32_t>{id});
  EXPECT_TRUE(ni_.sent.empty());
  program_.on_fetched(id);
  EXPECT_EQ(ni_.sent.size(), 1u);
  EXPECT_EQ(ni_.reported, std::vector<std::uint64_t>{77});
}

TEST_F(NiProgramTest, WithoutCreditPacketsWaitForAnAcknowledgment) {
  for (std::uint32_t i = 0; i < kWindow + 3; ++i) post(1);
  // Expect: a window's worth, the rest waits; another peer is not held up
  EXPECT_EQ(ni_.sent.size(), kWindow);
  EXPECT_EQ(ni_.counters().credit_stalls, 3u);
  post(2);
  EXPECT_EQ(ni_.sent.back().peer, 2u);
  arrive(1, PacketKind::ack, 0, 2);
  // Expect: as many as came back, in order
  ASSERT_EQ(ni_.sent.size(), kWindow + 3);
  EXPECT_EQ(ni_.sent[kWindow + 1].sequence, kWindow);
  EXPECT_EQ(ni_.sent[kWindow + 2].sequence, kWindow + 1);
  EXPECT_EQ(ni_.counters().acks_received, 1u);
  // Expect: a new packet does not pass the one that waits
  post(1);
  arrive(1, PacketKind::ack, 1, 1);
  EXPECT_EQ(ni_.sent.back().sequence, kWindow + 2);
}

TEST_F(NiProgramTest, HalfAWindowIsAcknowledged) {
  for (std::uint32_t i = 0; i < kWindow; ++i) arrive(1, PacketKind::data, i);
  EXPECT_EQ(ni_.delivered.size(), kWindow);
  EXPECT_EQ(violated_, "");
  program_.on_delivered(kNoPacket, 1);
  EXPECT_TRUE(ni_.sent.empty());
  program_.on_delivered(kNoPacket, 1);
  // Expect: one acknowledgment for two buffers, at the expense of no credit
  EXPECT_EQ(ni_.sent, (std::vector<FakeHardware::Sent>{{1, PacketKind::ack, 0, 2, 0}}));
  EXPECT_EQ(ni_.counters().acks_sent, 1u);
  for (std::uint32_t i = 0; i < kWindow; ++i) post(1);
  EXPECT_EQ(ni_.sent.size(), 1u + kWindow);
}

TEST_F(NiProgramTest, DataCarriesWhatIsOwed) {
  arrive(1, PacketKind::data, 0);
  program_.on_delivered(kNoPacket, 1);
  post(2);
  post(1);
  post(1);
  // Expect: on the first packet to that peer, once
  EXPECT_EQ(ni_.sent, (std::vector<FakeHardware::Sent>{{2, PacketKind::data, 0, 0, 0},
                                                       {1, PacketKind::data, 0, 1, 0},
                                                       {1, PacketKind::data, 1, 0, 0}}));
  EXPECT_EQ(ni_.counters().acks_piggybacked, 1u);
}

TEST_F(NiProgramTest, AGapADuplicateAndAStrangerAreViolations) {
  arrive(1, PacketKind::data, 0);
  EXPECT_EQ(violated_, "");
  arrive(1, PacketKind::data, 0);
  EXPECT_EQ(violated_, "1: a packet came twice");
  arrive(1, PacketKind::data, 2);
  EXPECT_EQ(violated_, "1: a packet is missing or out of order");
  arrive(9, PacketKind::data, 0);
  EXPECT_EQ(violated_, "9: a packet is missing or out of order");
  // Expect: none of them reached the host
  EXPECT_EQ(ni_.delivered.size(), 1u);
}

TEST_F(NiProgramTest, ForgedCreditIsAViolation) {
  arrive(1, PacketKind::ack, 0, 1);
  EXPECT_EQ(violated_, "1: more credit came back than was lent");
  violated_.clear();
  post(2);
  arrive(2, PacketKind::data, 0, 2);
  EXPECT_EQ(violated_, "2: more credit came back than was lent");
  EXPECT_TRUE(ni_.delivered.empty());
}

TEST_F(NiProgramTest, AnUnknownKindAndABrokenPacketAreCounted) {
  const std::uint32_t odd = arrive(1, PacketKind::count, 0);
  EXPECT_EQ(ni_.counters().corrupt_dropped, 1u);
  EXPECT_EQ(ni_.freed, std::vector<std::uint32_t>{odd});
  program_.on_corrupt(ni_.make(PacketKind::data, 2));
  EXPECT_EQ(ni_.counters().corrupt_dropped, 2u);
  EXPECT_EQ(violated_, "2: a packet failed its CRC check");
}

TEST_F(NiProgramTest, FetchAndAddAnswersWithTheFormerValue) {
  const std::uint32_t id = ni_.make(PacketKind::fetch_add, 1);
  ni_.packet(id).operand = 3;
  ni_.packet(id).header.client.words[0] = 7;
  program_.on_received(id);
  // Expect: the request's buffer is owed back on its reply
  EXPECT_EQ(ni_.word, 8u);
  EXPECT_EQ(ni_.sent, (std::vector<FakeHardware::Sent>{{1, PacketKind::fetch_add_reply, 0, 1, 5}}));
  EXPECT_EQ(ni_.counters().fetch_adds_served, 1u);
}

TEST_F(NiProgramTest, FetchAndAddOfNoWordIsDropped) {
  const std::uint32_t id = ni_.make(PacketKind::fetch_add, 1);
  ni_.packet(id).header.client.words[0] = 8;
  program_.on_received(id);
  EXPECT_EQ(ni_.word, 5u);
  EXPECT_TRUE(ni_.sent.empty());
  EXPECT_EQ(ni_.freed, std::vector<std::uint32_t>{id});
  EXPECT_EQ(ni_.counters().bound_dropped, 1u);
  // Expect: its buffer is the sender's again all the same
  post(1);
  EXPECT_EQ(ni_.sent.back().ack, 1u);
}

TEST_F(NiProgramTest, AReplyGoesToTheHost) {
  const std::uint32_t id = ni_.make(PacketKind::fetch_add_reply, 2);
  ni_.packet(id).operand = 41;
  program_.on_received(id);
  EXPECT_EQ(ni_.answered, std::vector<std::uint64_t>{41});
}

// --- Multicast.

TEST_F(NiProgramTest, AMulticastGoesToTheRootsChildrenFromOneBuffer) {
  const std::uint32_t id = post_to_all();
  EXPECT_EQ(destinations(), (std::vector<Peer>{1, 2}));
  // Expect: the buffer is the host's again when the last image has left
  for (const std::uint32_t out : ni_.left) EXPECT_EQ(ni_.packet(out).origin, id);
  program_.on_transmitted(id, 0);
  EXPECT_EQ(ni_.buffers_freed, 0);
  program_.on_transmitted(id, 0);
  EXPECT_EQ(ni_.buffers_freed, 1);
}

TEST_F(NiProgramTest, AMulticastGoesToTheHostAndOn) {
  // From node 7, whose tree has this NI at position 1: children at 3 and 4
  const std::uint32_t id = arrive(7, PacketKind::multicast, 0, 0, 7);
  ASSERT_EQ(ni_.delivered.size(), 1u);
  EXPECT_NE(ni_.delivered[0], id);
  run_forwards();
  EXPECT_EQ(destinations(), (std::vector<Peer>{2, 3}));
  // Expect: the receive buffer is owed back only when host and children are served
  program_.on_delivered(id, 7);
  program_.on_transmitted(id, 0);
  EXPECT_TRUE(ni_.freed.empty());
  program_.on_transmitted(id, 0);
  EXPECT_EQ(ni_.freed, std::vector<std::uint32_t>{id});
  post(7);
  EXPECT_EQ(ni_.sent.back().ack, 1u);
  EXPECT_EQ(ni_.counters().multicasts_forwarded, 2u);
}

TEST_F(NiProgramTest, ALeafKeepsAMulticastForItself) {
  // Position 5 in the tree of node 3.
  const std::uint32_t id = arrive(1, PacketKind::multicast, 0, 0, 3);
  EXPECT_EQ(ni_.delivered, std::vector<std::uint32_t>{id});
  EXPECT_TRUE(ni_.forwards.empty());
}

TEST_F(NiProgramTest, ForwardsNeedCreditLikeAnything) {
  for (std::uint32_t i = 0; i < kWindow; ++i) post(2);
  arrive(7, PacketKind::multicast, 0, 0, 7);
  run_forwards();
  // Expect: the other child is not held up
  EXPECT_EQ(destinations(), (std::vector<Peer>{2, 2, 2, 2, 3}));
  arrive(2, PacketKind::ack, 0, 1);
  EXPECT_EQ(ni_.sent.back().peer, 2u);
  EXPECT_EQ(ni_.sent.back().kind, PacketKind::multicast);
}

TEST_F(NiProgramTest, AMulticastOfAForeignRootIsNotForwarded) {
  arrive(7, PacketKind::multicast, 0, 0, 1000);
  EXPECT_EQ(ni_.delivered.size(), 1u);
  EXPECT_TRUE(ni_.forwards.empty());
}

// --- The same program with retransmission.

class ResendingNi : public ProgramTest<proto::GoBackN> {
 protected:
  static constexpr std::uint32_t kBuffers = 8;
  ResendingNi()
      : ProgramTest(proto::GoBackN({kWindow, microseconds(100), microseconds(10), 3}), kBuffers,
                    proto::TreeShape::binary) {}
};

TEST_F(ResendingNi, KeepsWhatIsNotAcknowledged) {
  const std::uint32_t first = post(1);
  const std::uint32_t second = post(1);
  EXPECT_EQ(ni_.sent.size(), 2u);
  EXPECT_TRUE(ni_.freed.empty());
  arrive(1, PacketKind::ack, 0, 1);
  EXPECT_EQ(ni_.freed.front(), first);
  EXPECT_EQ(ni_.buffers_freed, 1);
  // Expect: after the timeout the one that is left goes again under its number
  ni_.time = microseconds(300);
  program_.on_timer();
  ASSERT_EQ(ni_.sent.size(), 3u);
  EXPECT_EQ(ni_.sent.back().sequence, 1u);
  EXPECT_EQ(ni_.counters().retransmissions, 1u);
  arrive(1, PacketKind::ack, 0, 2);
  EXPECT_EQ(ni_.buffers_freed, 2);
  EXPECT_NE(second, first);
}

TEST_F(ResendingNi, DropsWhatIsNotNextAndAnswersDuplicates) {
  arrive(1, PacketKind::data, 0);
  program_.on_delivered(kNoPacket, 1);
  arrive(1, PacketKind::data, 2);
  arrive(1, PacketKind::data, 0);
  EXPECT_EQ(ni_.delivered.size(), 1u);
  EXPECT_EQ(ni_.counters().gaps_dropped, 1u);
  EXPECT_EQ(ni_.counters().duplicates_dropped, 1u);
  EXPECT_EQ(violated_, "");
  ni_.time = microseconds(50);
  program_.on_timer();
  // Expect: one delayed acknowledgment for both
  ASSERT_EQ(ni_.sent.size(), 1u);
  EXPECT_EQ(ni_.sent.back().kind, PacketKind::ack);
  EXPECT_EQ(ni_.sent.back().ack, 1u);
}

TEST_F(ResendingNi, AsksForWhatItHadNoBufferFor) {
  for (std::uint32_t i = 0; i < kBuffers; ++i) arrive(1, PacketKind::data, i);
  arrive(2, PacketKind::data, 0);
  EXPECT_EQ(ni_.delivered.size(), kBuffers);
  EXPECT_EQ(ni_.counters().full_dropped, 1u);
  ni_.sent.clear();
  program_.on_delivered(kNoPacket, 1);
  EXPECT_TRUE(ni_.sent.empty());
  program_.on_delivered(kNoPacket, 1);
  // Expect: when there is room again, one request to the one that lost
  ASSERT_FALSE(ni_.sent.empty());
  EXPECT_EQ(ni_.sent.front().kind, PacketKind::resend);
  EXPECT_EQ(ni_.sent.front().peer, 2u);
  arrive(2, PacketKind::data, 0);
  EXPECT_EQ(ni_.delivered.size(), kBuffers + 1);
}

TEST_F(ResendingNi, SendsEverythingAgainOnRequest) {
  post(1);
  post(1);
  arrive(1, PacketKind::resend, 0, 0);
  ASSERT_EQ(ni_.sent.size(), 4u);
  EXPECT_EQ(ni_.sent[2].sequence, 0u);
  EXPECT_EQ(ni_.sent[3].sequence, 1u);
}

TEST_F(ResendingNi, PacketsToForwardLeaveRoomForLeaves) {
  // Expect: roots' children may not take the last buffers, leaves may
  std::uint32_t taken = 0;
  while (ni_.counters().full_dropped == 0) arrive(7, PacketKind::multicast, taken++, 0, 7);
  EXPECT_LT(ni_.delivered.size(), kBuffers);
  const std::size_t before = ni_.delivered.size();
  arrive(3, PacketKind::data, 0);
  EXPECT_EQ(ni_.delivered.size(), before + 1);
}

TEST_F(ResendingNi, AFalseAcknowledgmentFreesNothing) {
  post(1);
  arrive(1, PacketKind::ack, 0, 5);
  EXPECT_EQ(ni_.buffers_freed, 0);
  EXPECT_EQ(ni_.counters().corrupt_dropped, 1u);
}

TEST_F(ResendingNi, APeerThatNeverAnswersIsNamed) {
  post(5);
  for (int i = 0; i < 20; ++i) {
    ni_.time += milliseconds(10);
    program_.on_timer();
  }
  EXPECT_EQ(violated_.substr(0, 2), "5:");
}

TEST_F(ResendingNi, BrokenPacketsAreLostPackets) {
  program_.on_corrupt(ni_.make(PacketKind::data, 2));
  EXPECT_EQ(violated_, "");
  EXPECT_EQ(ni_.counters().corrupt_dropped, 1u);
}

// --- The same program where what comes early is kept.

class KeepingNi : public ProgramTest<proto::SelectiveRepeat> {
 protected:
  static constexpr std::uint32_t kBuffers = 8;
  KeepingNi()
      : ProgramTest(proto::SelectiveRepeat(kNodes, {.window_max = 8,
                                                    .window_first = 8,
                                                    .timeout_first = microseconds(100),
                                                    .timeout_min = microseconds(50),
                                                    .timeout_max = milliseconds(1),
                                                    .ack_delay = microseconds(10),
                                                    .ack_every = 4,
                                                    .acks_released = true,
                                                    .measures = true,
                                                    .tries_max = 3}),
                    kBuffers, proto::TreeShape::binary) {}

  // An acknowledgment comes from `peer`: all before `next`, and those of `early` after it.
  void acknowledge(Peer peer, std::uint32_t next, std::uint32_t early, bool asks = false,
                   PacketKind kind = PacketKind::ack) {
    const std::uint32_t id = ni_.make(kind, peer);
    ni_.packet(id).header.ack = next;
    ni_.packet(id).header.client.words[0] = early;
    ni_.packet(id).header.client.words[2] = asks ? 1 : 0;
    program_.on_received(id);
  }
  std::uint32_t told_early() { return ni_.packet(ni_.left.back()).header.client.words[0]; }
  bool asked() { return ni_.packet(ni_.left.back()).header.client.words[2] != 0; }
  std::vector<std::uint32_t> numbers_sent() const {
    std::vector<std::uint32_t> all;
    for (const FakeHardware::Sent& each : ni_.sent) {
      if (each.kind == PacketKind::data) all.push_back(each.sequence);
    }
    return all;
  }
};

TEST_F(KeepingNi, KeepsWhatComesEarlyAndTellsAtOnce) {
  arrive(1, PacketKind::data, 0);
  EXPECT_TRUE(ni_.sent.empty());
  const std::uint32_t third = arrive(1, PacketKind::data, 2);
  const std::uint32_t fourth = arrive(1, PacketKind::data, 3);
  // Expect: packet 0 is accepted, and not yet with the host: told of as if it were early
  ASSERT_EQ(ni_.sent.size(), 2u);
  EXPECT_EQ(ni_.sent.back().kind, PacketKind::ack);
  EXPECT_EQ(ni_.sent.back().ack, 0u);
  EXPECT_EQ(told_early(), 0b1101u);
  EXPECT_EQ(ni_.delivered.size(), 1u);
  const std::uint32_t second = arrive(1, PacketKind::data, 1);
  ASSERT_EQ(ni_.delivered.size(), 4u);
  EXPECT_EQ(ni_.delivered[1], second);
  EXPECT_EQ(ni_.delivered[2], third);
  EXPECT_EQ(ni_.delivered[3], fourth);
  // Expect: the window moves as the host takes them
  for (int i = 0; i < 4; ++i) program_.on_delivered(kNoPacket, 1);
  EXPECT_EQ(ni_.sent.back().ack, 4u);
  EXPECT_EQ(told_early(), 0u);
  EXPECT_EQ(ni_.counters().gaps_dropped + ni_.counters().duplicates_dropped, 0u);
}

TEST_F(KeepingNi, EarlyPacketsTakeHalfOfTheBuffersAtMost) {
  for (std::uint32_t i = 1; i < 7; ++i) arrive(1, PacketKind::data, i);
  EXPECT_EQ(ni_.counters().full_dropped, 2u);
  // Expect: there is one for what is missing, and the sender is told what found none
  arrive(1, PacketKind::data, 0);
  EXPECT_EQ(ni_.delivered.size(), 5u);
  program_.on_delivered(kNoPacket, 1);
  EXPECT_EQ(ni_.sent.back().kind, PacketKind::resend);
  EXPECT_EQ(ni_.sent.back().ack, 0u);
  EXPECT_EQ(told_early(), 0b11111u);
}

TEST_F(KeepingNi, SendsOnlyWhatIsMissingAgain) {
  for (int i = 0; i < 6; ++i) post(1);
  ni_.sent.clear();
  acknowledge(1, 0, 0b111010);
  // Expect: 0 was passed by three, 2 by three of which two came in a row
  EXPECT_EQ(numbers_sent(), (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(ni_.buffers_freed, 4);
  EXPECT_EQ(ni_.counters().retransmissions, 2u);
  acknowledge(1, 6, 0);
  EXPECT_EQ(ni_.buffers_freed, 6);
}

TEST_F(KeepingNi, OnRequestSendsAllThatIsNotAcknowledged) {
  for (int i = 0; i < 4; ++i) post(1);
  ni_.sent.clear();
  acknowledge(1, 1, 0b01, false, PacketKind::resend);
  EXPECT_EQ(numbers_sent(), (std::vector<std::uint32_t>{2, 3}));
}

TEST_F(KeepingNi, AsksWhereAllHasComeAndNothingMoves) {
  for (int i = 0; i < 8; ++i) post(1);
  acknowledge(1, 0, 0xff);
  EXPECT_EQ(ni_.buffers_freed, 8);
  post(1);
  const std::size_t sent = ni_.sent.size();
  EXPECT_EQ(sent, 8u);  // the window stays closed
  ni_.time = milliseconds(1);
  program_.on_timer();
  ASSERT_EQ(ni_.sent.size(), sent + 1);
  EXPECT_EQ(ni_.sent.back().kind, PacketKind::ack);
  EXPECT_TRUE(asked());
  // Expect: who is asked says how far it is
  acknowledge(2, 0, 0, true);
  EXPECT_EQ(ni_.sent.back().peer, 2u);
  EXPECT_EQ(ni_.sent.back().kind, PacketKind::ack);
  EXPECT_FALSE(asked());
  acknowledge(1, 8, 0);
  EXPECT_EQ(ni_.sent.back().sequence, 8u);
}

TEST_F(KeepingNi, AFalseAcknowledgmentFreesNothing) {
  post(1);
  acknowledge(1, 0, 0b10);
  acknowledge(1, 2, 0);
  EXPECT_EQ(ni_.buffers_freed, 0);
  EXPECT_EQ(ni_.counters().corrupt_dropped, 2u);
}

TEST_F(KeepingNi, APeerThatNeverAnswersIsNamed) {
  post(5);
  for (int i = 0; i < 20; ++i) {
    ni_.time += milliseconds(10);
    program_.on_timer();
  }
  EXPECT_EQ(violated_.substr(0, 2), "5:");
}

}  // namespace
}  // namespace fairlead::lci
