// What the wire loses of messages of virtual interfaces, where the control program sends packets
// again: reliable ones see nothing of it, unreliable ones lose what the wire lost and no more.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "fairlead/lci/ni/fake_via_ni.h"
#include "fairlead/proto/go_back_n.h"

namespace fairlead::lci {
namespace {

constexpr std::uint32_t kNobody = 0xffff;

// Notes for which virtual interface each packet is that it sends.
class SendingNi : public FakeViaNi {
 public:
  std::uint32_t image(std::uint32_t id) {
    const std::uint32_t made = make(fabric::PacketKind::data, 0);
    std::memcpy(static_cast<void*>(&packet(made)), &packet(id), sizeof(fabric::NiPacket));
    packet(made).id = made;
    packet(made).origin = fabric::kNoPacket;
    return made;
  }
  void transmit(Peer, std::uint32_t id) {
    sent.push_back(fabric::ViMessageHead::read(packet(id).header.client.words).queue);
  }
  std::vector<std::uint32_t> sent;
};

// Three messages (or RDMA writes) of queue 2 to queue 7 of rank 3, of which nothing is acknowledged
// until they are sent again.
std::vector<std::uint32_t> sent_again(bool breaks, std::uint16_t control) {
  SendingNi ni;
  for (int i = 0; i < 4; ++i) ni.doorbells().add(0);
  ni.vi_table().allow(0, {5, 9, 4096, 10'000, true, true});
  fabric::ViEnd end{2, 3, 1, 9, true, true, breaks};
  end.peer_connection = 4;
  end.peer_queue = 7;
  end.transfer_max = 5000;
  ni.vi_table().connect(0, end);
  ViaProgram<SendingNi, proto::GoBackN> program(
      ni, proto::GoBackN({8, microseconds(100), microseconds(50), 5}),
      {4, 4, 24, true, false, proto::TreeShape::binary, [](void*, Peer, Peer, const char*) {},
       nullptr},
      {2, 2, 2, 1});
  for (std::uint16_t number = 0; number < 3; ++number) {
    const std::uint32_t id = post_send(ni, program, number);
    fabric::ViControl its{};
    its.segments = 2;
    its.control = control;
    // The first one is the other side's memory where it is a write.
    const fabric::ViSegment segments[] = {{5000, 5, 0}, {5000, 5, 100}};
    std::memcpy(ni.packet(id).payload(), &its, sizeof its);
    std::memcpy(ni.packet(id).payload() + sizeof its, segments, sizeof segments);
    program.on_fetched(id);
    program.on_fetched(ni.last());
  }
  EXPECT_EQ(ni.sent, (std::vector<std::uint32_t>{7, 7, 7}));
  ni.sent.clear();
  ni.time += microseconds(150);
  program.on_timer();
  return ni.sent;
}

constexpr std::uint16_t kAll[] = {0, fabric::kViOpWrite, fabric::kViOpWrite | fabric::kViImmediate};

TEST(ViaLossTest, ReliableOnesAreSentAgain) {
  for (const std::uint16_t control : kAll) {
    EXPECT_EQ(sent_again(true, control), (std::vector<std::uint32_t>{7, 7, 7})) << control;
  }
}

TEST(ViaLossTest, TheFirstUnreliableOneThatIsSentAgainIsForNobody) {
  for (const std::uint16_t control : kAll) {
    EXPECT_EQ(sent_again(false, control), (std::vector<std::uint32_t>{kNobody, 7, 7})) << control;
  }
}

}  // namespace
}  // namespace fairlead::lci
