// The host's side of NIs that know virtual interfaces: what ViRdma is on a Port over a host-NI
// interface.
#pragma once
#include <cstring>
#include <span>

#include "fairlead/base/step.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/lci/insist.h"
#include "fairlead/lci/vi_rdma.h"

namespace fairlead::lci {

// Ni also has allow(), forbid() and so on (fabric/model/lanai/host_ni.h).
template <class Ni>
class NiViRdma final : public ViRdma {
 public:
  // Both outlive it.
  NiViRdma(Ni& ni, Port& port) : ni_(ni), port_(port) {}

  void allow(const ViMemory& memory) override { ni_.allow(memory); }
  void forbid(std::uint32_t handle) override { ni_.forbid(handle); }
  void connect(const ViEnd& end) override { ni_.connect_vi(end); }
  void disconnect(std::uint32_t queue) override { ni_.disconnect_vi(queue); }
  void count_entries(std::uint32_t queue, bool of_receives, const ViEntries& entries) override {
    ni_.count_entries(queue, of_receives, entries);
  }
  void forget() override { ni_.forget_vis(); }

  Post send(ViOp op, Rank to, std::uint32_t queue, const RdmaHead& head, Chan chan,
            const Words& words, std::span<const Piece> data) override {
    std::size_t bytes = sizeof head;
    for (const Piece& piece : data) bytes += piece.size;
    Packet* const packet = port_.alloc({to}, Lane::request, bytes, kNoBlock);
    if (packet == nullptr) return port_.path(to).down ? Post::peer_down : Post::again_buffer;
    std::memcpy(port_.body(packet).data(), &head, sizeof head);
    reinterpret_cast<fabric::NiPacket*>(packet)->source = static_cast<std::uint8_t>(op);
    const Post answer =
        port_.send(packet, chan, words, sizeof head, data, nullptr, kNoBlock | on_queue(queue));
    if (!accepted(answer)) port_.release(packet);
    return answer;
  }
  void post_send(std::uint32_t queue, const ViToken& token) override {
    ni_.charge(Step::send);
    ni_.post_vi_send(queue, token);
  }
  // Linking it is part of what took the one before out of its queue (Step::receive).
  void post_receive(std::uint32_t queue, const ViToken& token) override {
    ni_.post_vi_receive(queue, token);
  }

 private:
  Ni& ni_;
  Port& port_;
};

struct NoViRdma {
  template <class Ni>
  NoViRdma(Ni&, Port&) {}
};

}  // namespace fairlead::lci
