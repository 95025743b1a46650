// The control program sends in the host's order, whatever has to be fetched first.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "fairlead/base/counters.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/lci/ni/ni_program.h"
#include "fairlead/proto/credit_window.h"

namespace fairlead::lci {
namespace {

using fabric::NiPacket;

// Remembers what the program asked for.
struct FakeHardware {
  Ps now() const { return Ps{0}; }
  void charge(Step) {}
  Peer self() const { return 0; }
  Peer node_of(Rank rank) const { return rank; }
  NiPacket& packet(std::uint32_t id) { return packets[id]; }
  PortCounters& counters() { return count; }
  void fetch(std::uint32_t id) { fetched.push_back(id); }
  void deliver(std::uint32_t) {}
  void land(std::uint32_t) {}
  void report(std::uint32_t, std::uint64_t) {}
  void answer(std::uint32_t) {}
  void transmit(Peer, std::uint32_t id) { transmitted.push_back(id); }
  void send_buffer_free(std::uint32_t) {}
  std::uint32_t image(std::uint32_t id) { return id; }
  void submit_forward(std::uint32_t, Peer) {}
  std::uint32_t make_control(fabric::PacketKind, Peer) { return 999; }
  void free_packet(std::uint32_t) {}
  std::uint64_t* find_word(Rank, std::uint32_t, std::uint64_t) { return nullptr; }

  std::map<std::uint32_t, NiPacket> packets;
  std::vector<std::uint32_t> fetched;
  std::vector<std::uint32_t> transmitted;
  PortCounters count;
};

TEST(NiOrder, APacketWithoutDataDoesNotOvertakeOneThatIsBeingFetched) {
  FakeHardware ni;
  NiProgram<FakeHardware, proto::CreditWindow> program(
      ni, proto::CreditWindow(2, 8),
      {2, 2, 16, true, true, proto::TreeShape::binary, nullptr, nullptr});
  const auto add = [&](std::uint32_t id, std::uint16_t fetch_bytes) {
    NiPacket packet{};
    packet.origin = fabric::kNoPacket;
    packet.peer = 1;
    packet.fetch_bytes = fetch_bytes;
    ni.packets[id] = packet;
    program.on_descriptor(id);
  };
  add(1, 100);
  add(2, 0);
  add(3, 50);
  add(4, 0);
  // Expect: all wait for the first fetch.
  EXPECT_TRUE(ni.transmitted.empty());
  EXPECT_EQ(ni.fetched, (std::vector<std::uint32_t>{1, 3}));
  program.on_fetched(1);
  EXPECT_EQ(ni.transmitted, (std::vector<std::uint32_t>{1, 2}));
  program.on_fetched(3);
  EXPECT_EQ(ni.transmitted, (std::vector<std::uint32_t>{1, 2, 3, 4}));
  // Expect: with nothing under way it goes at once.
  add(5, 0);
  EXPECT_EQ(ni.transmitted.back(), 5u);
}

}  // namespace
}  // namespace fairlead::lci
