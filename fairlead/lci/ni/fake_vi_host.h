// The host and the other end of a connection, for tests of what the control program for virtual
// interfaces does with messages and RDMA (via_messages.h): descriptors as programs post them, and
// packets as the other NI sends them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/fabric/vi_message.h"
#include "fairlead/fabric/vi_rdma.h"
#include "fairlead/lci/ni/fake_via_ni.h"

namespace fairlead::lci {

using fabric::NiPacket;
using fabric::PacketKind;
using fabric::ViControl;
using fabric::ViEvent;
using fabric::ViMessageHead;
using fabric::ViOp;
using fabric::ViSegment;
using fabric::ViTold;

// Queue 2, whose doorbell has number 1, is connected with queue 7 of rank 3. Memory 5 has 10,000
// bytes from address 4096 on; descriptors are at 4096.
class ViaMessagesTest : public ViaProgramTest {
 protected:
  ViaMessagesTest() {
    ni_.vi_table().allow(0, {5, 9, 4096, 10'000, true, true});
    connect({});
  }
  struct Level {
    bool breaks = true;
    bool tells = false;
    bool writes = true;
    bool reads = true;
  };
  void connect(const Level& level) {
    fabric::ViEnd end{2, 3, 1, 9, true, true, level.breaks};
    end.tells = level.tells;
    end.peer_connection = 4;
    end.peer_queue = 7;
    end.chan = 77;
    end.transfer_max = 5000;
    end.writes = level.writes;
    end.reads = level.reads;
    ni_.vi_table().disconnect(0, 2);
    ni_.vi_table().connect(0, end);
  }
  // A descriptor has come from host memory into the packet.
  void describe(std::uint32_t id, const std::vector<ViSegment>& segments,
                std::uint16_t control = 0) {
    ViControl its{};
    its.segments = static_cast<std::uint16_t>(segments.size());
    its.control = control;
    its.immediate = 1234;
    std::byte* const to = ni_.packet(id).payload();
    std::memcpy(to, &its, sizeof its);
    if (segments.empty()) return;
    std::memcpy(to + sizeof its, segments.data(), segments.size() * sizeof(ViSegment));
  }
  std::uint32_t post(std::uint16_t number = 0) { return post_send(ni_, program_, number); }
  void post_receive(std::uint32_t handle = 5) {
    ni_.vi_table().post_receive(0, 2, {4096, handle, 0, 1});
  }
  // A packet has come from the other end.
  std::uint32_t message(std::uint32_t bytes, std::uint32_t offset, std::uint32_t data,
                        ViOp op = ViOp::message) {
    const std::uint32_t id = ni_.make(PacketKind::data, 3);
    NiPacket& packet = ni_.packet(id);
    packet.header.sequence = sequence_++;
    packet.header.client.source = 3;
    packet.header.client.size = data;
    packet.header.job = 7 | 4 << 16;
    packet.source = static_cast<std::uint8_t>(op);
    ViMessageHead head;
    head.queue = 2;
    head.connection = 1;
    head.offset = offset;
    head.bytes = bytes;
    head.write(packet.header.client.words);
    program_.on_received(id);
    return id;
  }
  // What was done since, acknowledgments apart.
  std::vector<std::string> done() {
    std::vector<std::string> did = std::exchange(ni_.did, {});
    std::erase_if(did, [](const std::string& each) { return each == "send to 3"; });
    return did;
  }
  bool is_broken() { return ni_.vi_table().end(2)->broken; }

  std::uint32_t sequence_ = 0;
};

}  // namespace fairlead::lci
