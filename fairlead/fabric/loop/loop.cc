#include "fairlead/fabric/loop/loop.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

namespace fairlead::fabric {
namespace {

constexpr std::uint32_t kMtu =
    8192 + 128;  // a packet of 8 KiB and what stands before it, faulty and hrx included
constexpr std::uint32_t kInline = 32;
constexpr std::uint32_t kRanksMax = 65536;
// Per sender and lane: packets not yet received. Bounds the memory of a run-away sender.
constexpr std::uint32_t kOutstandingMax = 256;
// Per receiver: packets kept in place; more are copied out by who keeps them.
constexpr std::uint32_t kKeptMax = 1024;

// A packet, small (kInline bytes of payload) or large (kMtu), on a queue or on a free list.
struct Node {
  Node* next;
  PacketHeader header;
  Peer source;
  bool large;
  std::byte* payload() { return reinterpret_cast<std::byte*>(this + 1); }
};

class NodeList {
 public:
  NodeList() = default;
  NodeList(const NodeList&) = delete;
  NodeList& operator=(const NodeList&) = delete;
  ~NodeList() {
    while (Node* node = pop()) ::operator delete(node);
  }
  bool empty() const { return first_ == nullptr; }
  void push_front(Node* node) {
    node->next = first_;
    first_ = node;
    if (last_ == nullptr) last_ = node;
  }
  void push(Node* node) {
    node->next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = node;
    last_ = node;
  }
  Node* pop() {
    Node* node = first_;
    if (node == nullptr) return nullptr;
    first_ = node->next;
    if (first_ == nullptr) last_ = nullptr;
    return node;
  }

 private:
  Node* first_ = nullptr;
  Node* last_ = nullptr;
};

struct Endpoint {
  std::array<NodeList, kLanes> arrived;
  std::array<std::uint32_t, kLanes> outstanding{};  // sent by this endpoint, not yet received
  std::uint32_t kept = 0;
  std::uint32_t deaths_seen = 0;
  bool dead = false;
  PortCounters counters;
};

class Memory {
 public:
  Memory(std::byte* base, std::uint64_t bytes) : base_(base), bytes_(bytes) {}
  Memory(Memory&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), bytes_(other.bytes_) {}
  Memory& operator=(Memory&&) = delete;
  ~Memory() {
    if (base_ != nullptr) munmap(base_, bytes_);
  }
  std::byte* at(std::uint64_t offset) const { return base_ + offset; }

 private:
  std::byte* base_;
  std::uint64_t bytes_;
};

struct Network final : public LoopNetwork {
  Network(const LoopOptions& network_options, Memory regions)
      : options(network_options), memory(std::move(regions)), endpoints(network_options.ranks) {}

  std::uint32_t ranks() const override { return options.ranks; }
  std::unique_ptr<Nic> endpoint(Peer self) override;
  void mark_dead(Peer peer) override {
    if (endpoints.at(peer).dead) return;
    Endpoint& gone = endpoints[peer];
    gone.dead = true;
    deaths.push_back(peer);
    for (std::uint32_t lane = 0; lane < kLanes; ++lane)
      while (Node* node = gone.arrived[lane].pop()) {
        --endpoints[node->source].outstanding[lane];
        give(node);
      }
  }
  const PortCounters& counters(Peer peer) const override { return endpoints.at(peer).counters; }

  Node* take(bool large) {
    NodeList& list = large ? free_large : free_small;
    if (Node* node = list.pop()) return node;
    Node* node = static_cast<Node*>(::operator new(sizeof(Node) + (large ? kMtu : kInline)));
    node->large = large;
    return node;
  }
  void give(Node* node) { (node->large ? free_large : free_small).push_front(node); }

  LoopOptions options;
  Memory memory;
  NodeList free_small;
  NodeList free_large;
  std::vector<Endpoint> endpoints;
  std::vector<Peer> deaths;
};

class LoopNic final : public Nic {
 public:
  LoopNic(Network& network, Peer self)
      : network_(network),
        me_(network.endpoints[self]),
        self_(self),
        caps_{kMtu, kInline, kReliable | kSingleCopy | kMappable | kSameSpace} {}

  Peer self() const override { return self_; }
  Peer peers() const override { return network_.ranks(); }
  const NicCaps& caps(Peer) const override { return caps_; }
  void attach(Sink sink) override { sink_ = sink; }

  Post post(Peer dest, const PacketHeader& header, std::span<const Piece> payload) override {
    if (header.client.size > kMtu) return Post::invalid;
    if (const Post answer = admit(dest, header); answer != Post::done) return answer;
    Node* node = network_.take(header.client.size > kInline);
    std::byte* at = node->payload();
    for (const Piece& piece : payload) {
      if (piece.size > 0) std::memcpy(at, piece.data, piece.size);
      at += piece.size;
    }
    enqueue(dest, header, node);
    return Post::done;
  }

  std::byte* buffer(Peer, std::size_t) override { return network_.take(true)->payload(); }

  Post post_buffer(Peer dest, const PacketHeader& header, std::byte* buffer) override {
    if (header.client.size > kMtu) return Post::invalid;
    if (const Post answer = admit(dest, header); answer != Post::done) return answer;
    enqueue(dest, header, node_of(buffer));
    return Post::done;
  }
  void cancel_buffer(Peer, std::byte* buffer) override { network_.give(node_of(buffer)); }

  int reap(int budget, LaneMask lanes) override {
    int done = 0;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      if (((lanes >> lane) & 1u) == 0) continue;
      while (done < budget && !me_.arrived[lane].empty()) {
        deliver(me_.arrived[lane].pop(), lane);
        ++done;
      }
    }
    while (me_.deaths_seen < network_.deaths.size()) {
      const Peer lost = network_.deaths[me_.deaths_seen++];
      if (sink_.peer_lost != nullptr) sink_.peer_lost(sink_.context, lost);
    }
    // A rank that polls in a loop of its own must not keep the thread for ever.
    if (done == 0) yield();
    return done;
  }

  void release(std::uint64_t token) override {
    --me_.kept;
    network_.give(reinterpret_cast<Node*>(token));
  }

  void sleep(Ps) override {
    ++me_.counters.sleeps;
    yield();
  }

  Post read_peer(Peer peer, std::uint64_t address, void* to, std::size_t size) override {
    if (peer >= peers()) return Post::invalid;
    if (network_.endpoints[peer].dead) return Post::peer_down;
    std::memcpy(to, reinterpret_cast<const void*>(address), size);
    return Post::done;
  }
  Post write_peer(Peer peer, std::uint64_t address, const void* from, std::size_t size) override {
    if (peer >= peers()) return Post::invalid;
    if (network_.endpoints[peer].dead) return Post::peer_down;
    std::memcpy(reinterpret_cast<void*>(address), from, size);
    return Post::done;
  }
  std::span<std::byte> region(Peer peer) override {
    const std::uint64_t bytes = network_.options.region_bytes;
    return {network_.memory.at(peer * bytes), bytes};
  }
  PortCounters& counters() override { return me_.counters; }

 private:
  static Node* node_of(std::byte* buffer) { return reinterpret_cast<Node*>(buffer) - 1; }

  Post admit(Peer dest, const PacketHeader& header) const {
    if (dest >= peers() || header.client.lane >= kLanes) return Post::invalid;
    if (network_.endpoints[dest].dead) return Post::peer_down;
    if (me_.outstanding[header.client.lane] >= kOutstandingMax) return Post::again_credit;
    return Post::done;
  }
  void enqueue(Peer dest, const PacketHeader& header, Node* node) {
    node->header = header;
    node->source = self_;
    ++me_.outstanding[header.client.lane];
    network_.endpoints[dest].arrived[header.client.lane].push(node);
  }
  void deliver(Node* node, std::uint32_t lane) {
    --network_.endpoints[node->source].outstanding[lane];
    const bool keepable = me_.kept < kKeptMax;
    const Incoming packet{node->source,
                          &node->header,
                          {node->payload(), node->header.client.size},
                          reinterpret_cast<std::uint64_t>(node),
                          keepable};
    if (sink_.arrived(sink_.context, packet) == Keep::yes) {
      FAIRLEAD_CHECK(keepable, "kept a packet that may not be kept");
      ++me_.kept;
    } else {
      network_.give(node);
    }
  }

  void yield() {
    if (network_.options.yield != nullptr) network_.options.yield(network_.options.yield_context);
  }

  Network& network_;
  Endpoint& me_;
  Peer self_;
  NicCaps caps_;
  Sink sink_;
};

std::unique_ptr<Nic> Network::endpoint(Peer self) {
  FAIRLEAD_CHECK(self < ranks(), "rank {} of {}", self, ranks());
  return std::make_unique<LoopNic>(*this, self);
}

}  // namespace

Result<std::unique_ptr<LoopNetwork>> LoopNetwork::create(const LoopOptions& options) {
  if (options.ranks < 1 || options.ranks > kRanksMax)
    return Error{fmt::format("loop has 1 to {} ranks, not {}", kRanksMax, options.ranks)};
  const std::uint64_t bytes = options.region_bytes * options.ranks;
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    return Error{fmt::format("loop: {} MiB of address space for {} ranks: {}", bytes >> 20,
                             options.ranks, std::strerror(errno))};
  return std::unique_ptr<LoopNetwork>(
      std::make_unique<Network>(options, Memory(static_cast<std::byte*>(base), bytes)));
}

}  // namespace fairlead::fabric
