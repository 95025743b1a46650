#include "fairlead/lci/paths/path_nic.h"

#include <algorithm>
#include <utility>

#include "fairlead/base/check.h"

namespace fairlead::lci {
namespace {

using fabric::Incoming;
using fabric::LaneMask;
using fabric::PacketHeader;

// Looks at the node's memory, or packets that came there, between two looks at the network, each of
// which is a system call.
constexpr std::uint32_t kNodeLooks = 16;
constexpr int kNodePackets = 16;
// The node's fabric sleeps and is woken by its own peers only.
constexpr Ps kNap = microseconds(100);
// Marks a kept packet that came by the network, which must release it.
constexpr std::uint64_t kFromNetwork = std::uint64_t{1} << 63;

class PathNic final : public fabric::Nic {
 public:
  PathNic(fabric::Nic& node, fabric::Nic& network, std::vector<bool> near)
      : node_(node),
        network_(network),
        near_(std::move(near)),
        alone_(std::count(near_.begin(), near_.end(), true) <= 1) {
    FAIRLEAD_CHECK(node.self() == network.self() && node.peers() == near_.size() &&
                       network.peers() == near_.size(),
                   "ways to {} and {} ranks, of {}", node.peers(), network.peers(), near_.size());
    const fabric::NicCaps& here = node.caps(self());
    const fabric::NicCaps& there = network.caps(self());
    near_caps_ = {std::min(here.mtu_bytes, there.mtu_bytes),
                  std::min(here.inline_bytes_max, there.inline_bytes_max),
                  here.flags & there.flags & fabric::kReliable};
    far_caps_ = near_caps_;
    near_caps_.flags |= here.flags & (fabric::kMappable | fabric::kSingleCopy);
    far_caps_.flags |= there.flags & (fabric::kRemoteMemory | fabric::kRemoteAtomics);
    far_caps_.rails = there.rails;
  }
  ~PathNic() override {
    fabric::Sink nobody;
    nobody.arrived = [](void*, const Incoming&) { return Keep::no; };
    attach(nobody);
  }

  Peer self() const override { return node_.self(); }
  Peer peers() const override { return node_.peers(); }
  const fabric::NicCaps& caps(Peer peer) const override {
    return near_[peer] ? near_caps_ : far_caps_;
  }
  void attach(fabric::Sink sink) override {
    sink_ = sink;
    node_.attach(sink);
    fabric::Sink far{&PathNic::on_arrived, &PathNic::on_peer_lost, this};
    if (sink.copied != nullptr) far.copied = &PathNic::on_copied;
    far.path_changed = &PathNic::on_path_changed;
    network_.attach(far);
  }

  Post post(Peer dest, const PacketHeader& header, std::span<const Piece> payload) override {
    return dest < peers() ? to(dest).post(dest, header, payload) : Post::invalid;
  }
  Post post_small(Peer dest, std::uint64_t route, fabric::WordVector words, const void* data,
                  std::size_t size, PortCounters& tally) override {
    return dest < peers() ? to(dest).post_small(dest, route, words, data, size, tally)
                          : Post::invalid;
  }
  std::byte* buffer(Peer dest, std::size_t size) override {
    return dest < peers() ? to(dest).buffer(dest, size) : nullptr;
  }
  Post post_buffer(Peer dest, const PacketHeader& header, std::byte* buffer) override {
    return to(dest).post_buffer(dest, header, buffer);
  }
  void cancel_buffer(Peer dest, std::byte* buffer) override {
    to(dest).cancel_buffer(dest, buffer);
  }

  int reap(int budget, LaneMask lanes) override {
    fabric::Patience none;
    return reap(budget, lanes, none);
  }
  int reap(int budget, LaneMask lanes, fabric::Patience& patience) override {
    // What this rank sends to itself goes by the node's memory.
    if (alone_) return node_.reap(budget, lanes) + network_.reap(budget, lanes);
    fabric::Patience part{std::min(patience.looks, kNodeLooks), patience.word, patience.seen};
    const std::uint32_t looks = part.looks;
    const int came = node_.reap(budget, lanes, part);
    patience.looks -= looks - part.looks;
    since_network_ += came;
    if (came != 0 && since_network_ < kNodePackets) return came;
    since_network_ = 0;
    return came + network_.reap(budget, lanes);
  }
  void release(std::uint64_t token) override {
    if ((token & kFromNetwork) != 0) return network_.release(token & ~kFromNetwork);
    node_.release(token);
  }
  void sleep(Ps timeout) override {
    if (alone_) return network_.sleep(timeout);
    node_.sleep(std::min(timeout, kNap));
  }
  bool listen(fabric::Bell& bell) override {
    const bool node = node_.listen(bell);
    return network_.listen(bell) && node;
  }
  bool settled() override { return network_.settled() && node_.settled(); }
  Post read_peer(Peer peer, std::uint64_t address, void* to, std::size_t size) override {
    return is_near(peer) ? node_.read_peer(peer, address, to, size) : Post::not_delivered;
  }
  Post write_peer(Peer peer, std::uint64_t address, const void* from, std::size_t size) override {
    return is_near(peer) ? node_.write_peer(peer, address, from, size) : Post::not_delivered;
  }
  std::optional<fabric::RemoteKey> register_memory(std::span<std::byte> memory, bool read,
                                                   bool write) override {
    return network_.register_memory(memory, read, write);
  }
  void forget_memory(const fabric::RemoteKey& key) override { network_.forget_memory(key); }
  Post copy_remote(const fabric::RemoteCopy& copy) override {
    return is_far(copy.peer) ? network_.copy_remote(copy) : Post::not_delivered;
  }
  Post change_remote(const fabric::RemoteChange& change) override {
    return is_far(change.peer) ? network_.change_remote(change) : Post::not_delivered;
  }
  std::span<std::byte> region(Peer peer) override {
    return is_near(peer) ? node_.region(peer) : std::span<std::byte>{};
  }
  PortCounters& counters() override { return node_.counters(); }

 private:
  fabric::Nic& to(Peer dest) const { return near_[dest] ? node_ : network_; }
  bool is_near(Peer peer) const { return peer < near_.size() && near_[peer]; }
  bool is_far(Peer peer) const { return peer < near_.size() && !near_[peer]; }

  static Keep on_arrived(void* self, const Incoming& in) {
    const auto& me = *static_cast<const PathNic*>(self);
    Incoming marked = in;
    marked.token |= kFromNetwork;
    return me.sink_.arrived(me.sink_.context, marked);
  }
  static void on_copied(void* self, std::uint64_t token, Post result) {
    const auto& me = *static_cast<const PathNic*>(self);
    me.sink_.copied(me.sink_.context, token, result);
  }
  static void on_path_changed(void* self, Peer peer, bool lost) {
    const auto& me = *static_cast<const PathNic*>(self);
    // Ranks of this node are reached otherwise.
    if (!me.near_[peer] && me.sink_.path_changed != nullptr) {
      me.sink_.path_changed(me.sink_.context, peer, lost);
    }
  }
  static void on_peer_lost(void* self, Peer peer) {
    const auto& me = *static_cast<const PathNic*>(self);
    // A peer of this node is told of by the node's fabric.
    if (!me.near_[peer] && me.sink_.peer_lost != nullptr) {
      me.sink_.peer_lost(me.sink_.context, peer);
    }
  }

  fabric::Nic& node_;
  fabric::Nic& network_;
  std::vector<bool> near_;
  bool alone_;             // nobody else is near
  int since_network_ = 0;  // packets from the node since the last look at the network
  fabric::NicCaps near_caps_;
  fabric::NicCaps far_caps_;
  fabric::Sink sink_;
};

}  // namespace

std::unique_ptr<fabric::Nic> make_path_nic(fabric::Nic& node, fabric::Nic& network,
                                           std::vector<bool> near) {
  return std::make_unique<PathNic>(node, network, std::move(near));
}

}  // namespace fairlead::lci
