// The control program for virtual interfaces on hand-made packets: doorbells in, actions out. A
// look at a doorbell takes 10 ns, nothing else takes time.
#include "fairlead/lci/ni/via_program.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "fairlead/base/counters.h"
#include "fairlead/fabric/model/lanai/doorbells.h"
#include "fairlead/proto/credit_window.h"

namespace fairlead::lci {
namespace {

using fabric::Holds;
using fabric::kNoPacket;
using fabric::NiPacket;
using fabric::PacketKind;

class FakeNi {
 public:
  Peer self() const { return 0; }
  Peer node_of(Rank rank) const { return rank; }
  Ps now() const { return time; }
  void charge(Step step) { ++charged[step]; }
  NiPacket& packet(std::uint32_t id) { return packets_.at(id); }
  PortCounters& counters() { return counters_; }
  void fetch(std::uint32_t id) { did.push_back("fetch " + std::to_string(packet(id).fetch_bytes)); }
  void deliver_described(std::uint32_t id) { did.push_back("deliver " + std::to_string(id)); }
  void land(std::uint32_t) {}
  void report(std::uint32_t, std::uint64_t) {}
  void answer(std::uint32_t) {}
  void transmit(Peer peer, std::uint32_t) { did.push_back("send to " + std::to_string(peer)); }
  void send_buffer_free(std::uint32_t) { did.push_back("buffer free"); }
  void complete(std::uint32_t) { did.push_back("status"); }
  std::uint32_t make_control(PacketKind kind, Peer peer) { return make(kind, peer); }
  std::uint32_t image(std::uint32_t) { return 0; }
  void submit_forward(std::uint32_t, Peer) {}
  void free_packet(std::uint32_t) {}
  std::uint64_t* find_word(Rank, std::uint32_t, std::uint64_t) { return nullptr; }

  fabric::model::Doorbells& doorbells() { return doorbells_; }
  Ps time_of(Step step) const { return step == Step::doorbell ? nanoseconds(10) : Ps{0}; }
  void busy_until(Ps until) { time = until; }
  void look_at(Ps at) { look = at; }
  void take_doorbell(std::uint32_t number) {
    doorbells_.clear(number);
    did.push_back("taken " + std::to_string(number));
  }
  void start_dma() { did.push_back("start DMA"); }
  void read_now() { ++table_reads; }

  std::uint32_t make(PacketKind kind, Peer peer) {
    packets_[++last_] = NiPacket{};
    packets_[last_].id = last_;
    packets_[last_].peer = peer;
    packets_[last_].origin = kNoPacket;
    packets_[last_].header.client.kind = kind;
    return last_;
  }

  Ps time{};
  Ps look = kNever;
  std::vector<std::string> did;
  std::map<Step, int> charged;
  int table_reads = 0;

 private:
  fabric::model::Doorbells doorbells_;
  std::map<std::uint32_t, NiPacket> packets_;
  std::uint32_t last_ = 0;
  PortCounters counters_;
};

// The NI of node 0 of 4.
class ViaProgramTest : public testing::Test {
 protected:
  ViaProgramTest() {
    for (int i = 0; i < 4; ++i) ni_.doorbells().add(0);
  }
  // The host writes a send of `bytes` for that node into the doorbell at the present time.
  std::uint32_t ring(std::uint32_t doorbell, Peer peer, std::uint16_t bytes) {
    const std::uint32_t id = ni_.make(PacketKind::data, peer);
    ni_.packet(id).holds = Holds::send_buffer;
    ni_.packet(id).operand = doorbell;
    ni_.packet(id).fetch_bytes = bytes;
    if (ni_.doorbells().has(doorbell)) ni_.doorbells().fill(doorbell);
    program_.rung(id, ni_.time);
    return id;
  }
  std::uint32_t arrive(Peer from, std::uint32_t sequence) {
    const std::uint32_t id = ni_.make(PacketKind::data, from);
    ni_.packet(id).header.sequence = sequence;
    program_.on_received(id);
    return id;
  }
  void expect(std::vector<std::string> done) {
    EXPECT_EQ(ni_.did, done);
    ni_.did.clear();
  }

  FakeNi ni_;
  std::string violated_;
  ViaProgram<FakeNi, proto::CreditWindow> program_{
      ni_,
      proto::CreditWindow(4, 8),
      {4, 4, 24, true, false, proto::TreeShape::binary,
       [](void* self, Peer, Peer, const char* what) {
         static_cast<ViaProgramTest*>(self)->violated_ = what;
       },
       this},
      {2, 2, 2, 1}};
};

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
