// A network for tests of what is above one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "fairlead/fabric/nic.h"

namespace fairlead::lci {

// A fabric that keeps what is sent, and delivers what the test says.
class FakeNic final : public fabric::Nic {
 public:
  struct Sent {
    Peer dest;
    fabric::PacketHeader header;
    std::vector<std::byte> payload;
  };

  Peer self() const override { return 0; }
  Peer peers() const override { return 3; }
  const fabric::NicCaps& caps(Peer) const override { return caps_; }
  void attach(fabric::Sink sink) override { sink_ = sink; }
  Post post(Peer dest, const fabric::PacketHeader& header,
            std::span<const Piece> payload) override {
    Sent one{dest, header, {}};
    for (const Piece& piece : payload) {
      const auto* from = static_cast<const std::byte*>(piece.data);
      one.payload.insert(one.payload.end(), from, from + piece.size);
    }
    sent.push_back(std::move(one));
    return Post::done;
  }
  std::byte* buffer(Peer, std::size_t) override { return nullptr; }
  Post post_buffer(Peer, const fabric::PacketHeader&, std::byte*) override { return Post::invalid; }
  void cancel_buffer(Peer, std::byte*) override {}
  int reap(int, fabric::LaneMask) override { return 0; }
  void release(std::uint64_t token) override { released.push_back(token); }
  void sleep(Ps) override {}
  Post read_peer(Peer, std::uint64_t, void*, std::size_t) override { return Post::invalid; }
  Post write_peer(Peer, std::uint64_t, const void*, std::size_t) override { return Post::invalid; }
  std::span<std::byte> region(Peer) override { return {}; }
  PortCounters& counters() override { return counters_; }

  void lose(Peer peer) { sink_.peer_lost(sink_.context, peer); }
  Keep deliver(const fabric::PacketHeader& header, std::span<const std::byte> payload,
               std::uint64_t token = 0) {
    return sink_.arrived(sink_.context, {1, &header, payload, token, true});
  }

  std::vector<Sent> sent;
  std::vector<std::uint64_t> released;

 private:
  fabric::NicCaps caps_{2048, 96, 0};
  fabric::Sink sink_;
  PortCounters counters_;
};

}  // namespace fairlead::lci
