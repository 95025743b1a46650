// The control program on hand-made packets: no network, no time, every action written down.
#include "fairlead/lci/ni_program.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "fairlead/base/counters.h"

namespace fairlead::lci {
namespace {

using fabric::PacketKind;

struct FakePacket {
  fabric::PacketHeader header{};
  std::uint64_t operand = 0;
  std::uint64_t cookie = 0;
  Peer peer = 0;
  std::uint16_t fetch_bytes = 0;
  bool wants_report = false;
  bool from_host = false;
};

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
  Ps now() const { return Ps{0}; }
  void charge(Step) {}
  FakePacket& packet(std::uint32_t id) { return packets_.at(id); }
  PortCounters& counters() { return counters_; }
  void fetch(std::uint32_t id) { fetched.push_back(id); }
  void deliver(std::uint32_t id) { delivered.push_back(id); }
  void report(std::uint64_t cookie) { reported.push_back(cookie); }
  void answer(std::uint32_t id) { answered.push_back(packet(id).operand); }
  void transmit(Peer peer, std::uint32_t id) {
    const FakePacket& p = packet(id);
    // What the receiver sees is where it came from.
    EXPECT_EQ(p.peer, self());
    sent.push_back({peer, p.header.client.kind, p.header.sequence, p.header.ack, p.operand});
  }
  void send_buffer_free() { ++buffers_freed; }
  std::uint32_t make_control(PacketKind kind, Peer peer) {
    const std::uint32_t id = make(kind, peer);
    return id;
  }
  void free_packet(std::uint32_t id) { freed.push_back(id); }
  std::uint64_t* find_word(std::uint32_t segment, std::uint64_t offset) {
    return segment == 7 && offset == 0 ? &word : nullptr;
  }

  std::uint32_t make(PacketKind kind, Peer peer) {
    packets_[++last_].peer = peer;
    packets_[last_].header.client.kind = kind;
    return last_;
  }

  std::vector<std::uint32_t> fetched, delivered, freed;
  std::vector<std::uint64_t> reported, answered;
  std::vector<Sent> sent;
  int buffers_freed = 0;
  std::uint64_t word = 5;

 private:
  std::map<std::uint32_t, FakePacket> packets_;
  std::uint32_t last_ = 0;
  PortCounters counters_;
};

class NiProgramTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kWindow = 4;

  // The host posts a packet whose data is written already.
  void post(Peer peer) { program_.on_descriptor(ni_.make(PacketKind::data, peer)); }
  // One comes from `peer`.
  std::uint32_t arrive(Peer peer, PacketKind kind, std::uint32_t sequence, std::uint32_t ack = 0) {
    const std::uint32_t id = ni_.make(kind, peer);
    ni_.packet(id).header.sequence = sequence;
    ni_.packet(id).header.ack = ack;
    program_.on_received(id);
    return id;
  }

  FakeHardware ni_;
  std::string violated_;
  CreditProgram<FakeHardware> program_{ni_,
                                       {3, kWindow, 16,
                                        [](void* self, Peer, Peer peer, const char* what) {
                                          static_cast<NiProgramTest*>(self)->violated_ =
                                              std::to_string(peer) + ": " + what;
                                        },
                                        this}};
};

TEST_F(NiProgramTest, PacketsLeaveInOrderWithTheirNumbers) {
  post(1);
  post(2);
  post(1);
  // Expect: a sequence per peer
  EXPECT_EQ(ni_.sent, (std::vector<FakeHardware::Sent>{{1, PacketKind::data, 0, 0, 0},
                                                       {2, PacketKind::data, 0, 0, 0},
                                                       {1, PacketKind::data, 1, 0, 0}}));
  program_.on_transmitted();
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
  program_.on_delivered(1);
  EXPECT_TRUE(ni_.sent.empty());
  program_.on_delivered(1);
  // Expect: one acknowledgment for two buffers, at the expense of no credit
  EXPECT_EQ(ni_.sent, (std::vector<FakeHardware::Sent>{{1, PacketKind::ack, 0, 2, 0}}));
  EXPECT_EQ(ni_.counters().acks_sent, 1u);
  for (std::uint32_t i = 0; i < kWindow; ++i) post(1);
  EXPECT_EQ(ni_.sent.size(), 1u + kWindow);
}

TEST_F(NiProgramTest, DataCarriesWhatIsOwed) {
  arrive(1, PacketKind::data, 0);
  program_.on_delivered(1);
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

}  // namespace
}  // namespace fairlead::lci
