// Networks for tests of what is above one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "fairlead/fabric/nic.h"

namespace fairlead::lci {

// What those of packets only have in common: the rest of a Nic is not there.
class PacketsOnlyNic : public fabric::Nic {
 public:
  PacketsOnlyNic(Peer self, Peer peers, std::uint32_t mtu_bytes)
      : self_(self), peers_(peers), caps_{mtu_bytes, 96, 0} {}

  Peer self() const override { return self_; }
  Peer peers() const override { return peers_; }
  const fabric::NicCaps& caps(Peer) const override { return caps_; }
  void attach(fabric::Sink sink) override { sink_ = sink; }
  std::byte* buffer(Peer, std::size_t) override { return nullptr; }
  Post post_buffer(Peer, const fabric::PacketHeader&, std::byte*) override { return Post::invalid; }
  void cancel_buffer(Peer, std::byte*) override {}
  int reap(int, fabric::LaneMask) override { return 0; }
  void release(std::uint64_t token) override { released.push_back(token); }
  void sleep(Ps timeout) override { slept = timeout; }
  Post read_peer(Peer, std::uint64_t, void*, std::size_t) override { return Post::invalid; }
  Post write_peer(Peer, std::uint64_t, const void*, std::size_t) override { return Post::invalid; }
  std::span<std::byte> region(Peer) override { return {}; }
  PortCounters& counters() override { return counters_; }

  void lose(Peer peer) { sink_.peer_lost(sink_.context, peer); }
  void change_path(Peer peer, bool lost) { sink_.path_changed(sink_.context, peer, lost); }

  std::vector<std::uint64_t> released;
  Ps slept{};  // as it was asked for last

 protected:
  static std::vector<std::byte> joined(std::span<const Piece> pieces) {
    std::vector<std::byte> bytes;
    for (const Piece& piece : pieces) {
      const auto* from = static_cast<const std::byte*>(piece.data);
      bytes.insert(bytes.end(), from, from + piece.size);
    }
    return bytes;
  }

  const Peer self_, peers_;
  const fabric::NicCaps caps_;
  fabric::Sink sink_;
  PortCounters counters_;
};

// Keeps what is sent, and delivers what the test says: rank 0 of three.
class FakeNic final : public PacketsOnlyNic {
 public:
  // What each of the next looks brings: it delivers.
  std::vector<std::function<void()>> arriving;
  int reap(int, fabric::LaneMask) override {
    if (arriving.empty()) return 0;
    const std::function<void()> one = arriving.front();
    arriving.erase(arriving.begin());
    one();
    return 1;
  }

  struct Sent {
    Peer dest;
    fabric::PacketHeader header;
    std::vector<std::byte> payload;
  };

  FakeNic() : PacketsOnlyNic(0, 3, 2048) {}

  Post post(Peer dest, const fabric::PacketHeader& header,
            std::span<const Piece> payload) override {
    sent.push_back({dest, header, joined(payload)});
    return Post::done;
  }
  // From rank 1.
  Keep deliver(const fabric::PacketHeader& header, std::span<const std::byte> payload,
               std::uint64_t token = 0) {
    return sink_.arrived(sink_.context, {1, &header, payload, token, true});
  }

  std::vector<Sent> sent;
};

}  // namespace fairlead::lci
