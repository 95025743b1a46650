// A network interface with doorbells for tests of its control program (via_program.h): it notes
// what it is asked to do, and does nothing by itself. A look at a doorbell takes 10 ns, nothing
// else takes time.
#pragma once
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/base/counters.h"
#include "fairlead/base/step.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/model/lanai/doorbells.h"
#include "fairlead/fabric/model/lanai/vi_table.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/fabric/packet.h"
#include "fairlead/fabric/vi_message.h"
#include "fairlead/lci/ni/via_program.h"
#include "fairlead/proto/credit_window.h"

namespace fairlead::lci {

class FakeViaNi {
 public:
  Peer self() const { return 0; }
  Peer node_of(Rank rank) const { return rank; }
  std::uint32_t place_of(Rank) const { return 0; }
  Rank rank_at(std::uint32_t) const { return 0; }
  Ps now() const { return time; }
  void charge(Step step) { ++charged[step]; }
  fabric::NiPacket& packet(std::uint32_t id) { return packets_.at(id)->packet; }
  PortCounters& counters() { return counters_; }
  void fetch(std::uint32_t id) { did.push_back("fetch " + std::to_string(packet(id).fetch_bytes)); }
  void deliver(std::uint32_t id) { did.push_back("piece " + std::to_string(id)); }
  void deliver_described(std::uint32_t id) { did.push_back("deliver " + std::to_string(id)); }
  void land(std::uint32_t) {}
  void report(std::uint32_t, std::uint64_t) {}
  void answer(std::uint32_t) {}
  void transmit(Peer peer, std::uint32_t) { did.push_back("send to " + std::to_string(peer)); }
  void send_buffer_free(std::uint32_t) { did.push_back("buffer free"); }
  void complete(std::uint32_t, std::uint64_t cookie) {
    did.push_back(cookie == 0 ? "status" : "status of " + std::to_string(cookie));
  }
  std::uint32_t make_control(fabric::PacketKind kind, Peer peer) { return make(kind, peer); }
  std::uint32_t image(std::uint32_t) { return 0; }
  void submit_forward(std::uint32_t, Peer) {}
  void free_packet(std::uint32_t) { ++freed; }
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
  bool read_word_now(std::uint32_t, std::uint64_t, std::uint32_t* word) {
    ++index_reads;
    *word = consumed;
    return true;
  }
  fabric::model::ViTable& vi_table() { return vis_; }
  void land_rdma(std::uint32_t id) {
    const fabric::NiPacket& landing = packet(id);
    did.push_back("land " + std::to_string(landing.header.client.size - landing.page_bytes) +
                  " at " + std::to_string(landing.cookie));
  }
  std::uint32_t payload_max() const { return 1000; }
  std::uint32_t make_data(std::uint32_t) { return make(fabric::PacketKind::data, 0); }
  std::uint32_t make_scratch(std::uint32_t) { return make(fabric::PacketKind::data, 0); }
  void tell(std::uint32_t id, bool has_entry) {
    fabric::ViEvent event;
    ASSERT_TRUE(fabric::ViEvent::read(packet(id).header.client.words, event));
    did.push_back((has_entry ? "entry, tell " : "tell ") +
                  std::to_string(static_cast<int>(event.what)));
    told.push_back(event);
  }

  std::uint32_t make(fabric::PacketKind kind, Peer peer) {
    packets_[++last_] = std::make_unique<Slot>();
    fabric::NiPacket& made = packet(last_);
    made.id = last_;
    made.peer = peer;
    made.origin = fabric::kNoPacket;
    made.header.client.kind = kind;
    return last_;
  }
  std::uint32_t last() const { return last_; }

  Ps time{};
  Ps look = kNever;
  std::vector<std::string> did;
  std::map<Step, int> charged;
  std::vector<fabric::ViEvent> told;
  int table_reads = 0;
  int index_reads = 0;
  std::uint32_t consumed = 0;  // every consumer index
  int freed = 0;

 private:
  struct Slot {
    fabric::NiPacket packet{};
    std::byte payload[2100] = {};
  };

  fabric::model::Doorbells doorbells_;
  fabric::model::ViTable vis_;
  std::map<std::uint32_t, std::unique_ptr<Slot>> packets_;
  std::uint32_t last_ = 0;
  PortCounters counters_;
};

// The host posts a send of queue 2, whose descriptor is at 4096, and its doorbell, number 1, is
// found.
template <class Ni, class Program>
std::uint32_t post_send(Ni& ni, Program& program, std::uint16_t number) {
  const std::uint32_t id = ni.make(fabric::PacketKind::data, 0);
  fabric::NiPacket& token = ni.packet(id);
  token.source = static_cast<std::uint8_t>(fabric::ViOp::send_token);
  token.operand = 1;
  token.cookie = 4096;
  fabric::ViMessageHead head;
  head.queue = 2;
  head.connection = 1;
  head.sequence = number;
  head.immediate = 5;
  head.write(token.header.client.words);
  ni.doorbells().fill(1);
  program.rung(id, ni.time);
  ni.time = ni.look;
  program.on_look();
  return id;
}

// The NI of node 0 of 4.
class ViaProgramTest : public testing::Test {
 protected:
  ViaProgramTest() {
    for (int i = 0; i < 4; ++i) ni_.doorbells().add(0);
  }
  // The host writes a send of `bytes` for that node into the doorbell at the present time.
  std::uint32_t ring(std::uint32_t doorbell, Peer peer, std::uint16_t bytes) {
    const std::uint32_t id = ni_.make(fabric::PacketKind::data, peer);
    ni_.packet(id).holds = fabric::Holds::send_buffer;
    ni_.packet(id).operand = doorbell;
    ni_.packet(id).fetch_bytes = bytes;
    if (ni_.doorbells().has(doorbell)) ni_.doorbells().fill(doorbell);
    program_.rung(id, ni_.time);
    return id;
  }
  std::uint32_t arrive(Peer from, std::uint32_t sequence) {
    const std::uint32_t id = ni_.make(fabric::PacketKind::data, from);
    ni_.packet(id).header.sequence = sequence;
    program_.on_received(id);
    return id;
  }
  void expect(std::vector<std::string> done) {
    EXPECT_EQ(ni_.did, done);
    ni_.did.clear();
  }

  FakeViaNi ni_;
  std::string violated_;
  ViaProgram<FakeViaNi, proto::CreditWindow> program_{
      ni_,
      proto::CreditWindow(4, 8),
      {4, 4, 24, true, false, proto::TreeShape::binary,
       [](void* self, Peer, Peer, const char* what) {
         static_cast<ViaProgramTest*>(self)->violated_ = what;
       },
       this},
      {2, 2, 2, 1}};
};

}  // namespace fairlead::lci
