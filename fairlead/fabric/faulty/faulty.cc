#include "fairlead/fabric/faulty/faulty.h"

#include <csignal>
#include <cstring>
#include <deque>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/base/wait_ladder.h"

namespace fairlead::fabric {
namespace {

// Goes before the payload: the part of the header that a reliable fabric does not carry.
struct Prefix {
  std::uint32_t dest_rank;
  std::uint32_t sequence;
  std::uint32_t ack;
  std::uint32_t job;
  std::uint64_t checksum;  // of client header, prefix and payload, itself zero
};
static_assert(sizeof(Prefix) == 24);

// Packets held back at a time; more go at once.
constexpr std::size_t kHeldMax = 256;
// A packet held back for the next one is let go after this many polls without one.
constexpr std::uint64_t kReorderPolls = 256;
constexpr Ps kNap = microseconds(50);
// Raw puts are counted apart, so that packets meet the same fate with and without them.
constexpr std::uint64_t kFirstPut = std::uint64_t{1} << 48;

// Every step is invertible in each input word: one flipped bit always changes the sum.
std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t sum) {
  std::size_t i = 0;
  for (; i < bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min<std::size_t>(8, bytes.size() - i));
    sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
    sum ^= sum >> 29;
  }
  return sum;
}

std::uint64_t checksum(const ClientHeader& client, Prefix prefix, std::span<const std::byte> data) {
  ClientHeader plain = client;
  plain.stamp = 0;
  plain.size = static_cast<std::uint32_t>(data.size());
  prefix.checksum = 0;
  std::uint64_t sum = checksum(std::as_bytes(std::span(&plain, 1)), data.size() + 1);
  sum = checksum(std::as_bytes(std::span(&prefix, 1)), sum);
  return checksum(data, sum);
}

class FaultyNic final : public Nic {
 public:
  FaultyNic(Nic& inner, const FaultPlan& plan, const FaultyOptions& options)
      : inner_(inner),
        plan_(plan),
        options_(options),
        counts_(inner.peers()),
        puts_(inner.peers()) {
    for (Peer peer = 0; peer < inner.peers(); ++peer) {
      NicCaps caps = inner.caps(peer);
      caps.mtu_bytes -= static_cast<std::uint32_t>(sizeof(Prefix));
      caps.flags &= ~std::uint64_t{kReliable | kRemoteMemory | kRemoteAtomics};
      caps.run_packets = 1;
      caps_.push_back(caps);
      clauses_.push_back(clauses_of(plan, inner.self(), peer));
    }
    for (const FaultPlan::Kill& kill : plan.kills)
      if (kill.rank == inner.self()) dies_at_ = std::min(dies_at_, kill.at);
  }

  Peer self() const override { return inner_.self(); }
  Peer peers() const override { return inner_.peers(); }
  const NicCaps& caps(Peer peer) const override { return caps_[peer]; }
  void attach(Sink sink) override {
    sink_ = sink;
    Sink own{&FaultyNic::on_arrived, &FaultyNic::on_peer_lost, this};
    own.path_changed = &FaultyNic::on_path_changed;
    inner_.attach(own);
  }

  Post post(Peer dest, const PacketHeader& header, std::span<const Piece> payload) override {
    if (dest >= peers() || header.client.size > caps_[dest].mtu_bytes) return Post::invalid;
    die_in_time();
    std::vector<std::byte> packet(sizeof(Prefix) + header.client.size);
    std::byte* at = packet.data() + sizeof(Prefix);
    for (const Piece& piece : payload) {
      if (piece.size > 0) std::memcpy(at, piece.data, piece.size);
      at += piece.size;
    }
    return post_whole(dest, header, std::move(packet));
  }

  std::byte* buffer(Peer dest, std::size_t size) override {
    std::byte* at = inner_.buffer(dest, size + sizeof(Prefix));
    return at == nullptr ? nullptr : at + sizeof(Prefix);
  }
  Post post_buffer(Peer dest, const PacketHeader& header, std::byte* buffer) override {
    const Piece piece{buffer, header.client.size};
    const Post answer = post(dest, header, {&piece, 1});
    if (answer == Post::done) cancel_buffer(dest, buffer);
    return answer;
  }
  void cancel_buffer(Peer dest, std::byte* buffer) override {
    inner_.cancel_buffer(dest, buffer - sizeof(Prefix));
  }

  int reap(int budget, LaneMask lanes) override {
    die_in_time();
    ++polls_;
    if (!held_.empty()) let_go();
    return inner_.reap(budget, lanes);
  }
  void release(std::uint64_t token) override { inner_.release(token); }
  void sleep(Ps timeout) override {
    inner_.sleep(held_.empty() && dies_at_ == kNever ? timeout : std::min(timeout, kNap));
  }
  bool listen(Bell& bell) override {
    if (!held_.empty() || dies_at_ != kNever) bell.look_after(kNap);
    return inner_.listen(bell);
  }
  Post read_peer(Peer peer, std::uint64_t address, void* to, std::size_t size) override {
    return inner_.read_peer(peer, address, to, size);
  }
  Post write_peer(Peer peer, std::uint64_t address, const void* from, std::size_t size) override {
    return inner_.write_peer(peer, address, from, size);
  }
  bool settled() override { return inner_.settled(); }

  bool loses_put(Peer dest) {
    die_in_time();
    const std::uint64_t count = kFirstPut + puts_[dest]++;
    return fate_of(plan_, self(), dest, count, clauses_[dest], now()).drop;
  }
  std::span<std::byte> region(Peer peer) override { return inner_.region(peer); }
  std::uint32_t stripe_of(Peer peer, std::uint32_t rail) const override {
    return inner_.stripe_of(peer, rail);
  }
  PortCounters& counters() override { return inner_.counters(); }

 private:
  struct Held {
    Peer dest;
    PacketHeader header;
    std::vector<std::byte> packet;
    bool for_next;            // until the next packet to dest has gone
    Ps until;                 // otherwise
    std::uint64_t last_poll;  // for_next: at the latest
  };

  Ps now() const { return nanoseconds(monotonic_ns()) - options_.epoch; }

  void die_in_time() {
    if (dies_at_ == kNever || now() < dies_at_) return;
    dies_at_ = kNever;
    if (options_.kill != nullptr)
      options_.kill(options_.kill_context);
    else
      std::raise(SIGKILL);
  }

  // A refused packet is offered again by the caller and meets the same fate then.
  Post post_whole(Peer dest, const PacketHeader& header, std::vector<std::byte> packet) {
    const Fate fate = fate_of(plan_, self(), dest, counts_[dest], clauses_[dest], now());
    Prefix prefix{header.dest_rank, header.sequence, header.ack, header.job, 0};
    prefix.checksum = checksum(header.client, prefix, std::span(packet).subspan(sizeof prefix));
    std::memcpy(packet.data(), &prefix, sizeof prefix);
    if (fate.corrupt) {
      const std::uint64_t bit = fate.bit % (packet.size() * 8);
      packet[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    }
    const bool hold = (fate.reorder || fate.delay.count > 0) && held_.size() < kHeldMax;
    if (!fate.drop && hold) {
      const Ps until = fate.delay.count > 0 ? now() + fate.delay : Ps{0};
      held_.push_back(Held{dest, header, std::move(packet), fate.delay.count == 0, until,
                           polls_ + kReorderPolls});
    } else if (!fate.drop) {
      const Post answer = post_inner(dest, header, packet);
      if (answer != Post::done) return answer;
      if (fate.duplicate) (void)post_inner(dest, header, packet);
      for (Held& held : held_)
        if (held.for_next && held.dest == dest) held.last_poll = polls_;
      if (!held_.empty()) let_go();
    }
    ++counts_[dest];
    return Post::done;
  }

  Post post_inner(Peer dest, const PacketHeader& header, const std::vector<std::byte>& packet) {
    PacketHeader longer = header;
    longer.client.size = static_cast<std::uint32_t>(packet.size());
    const Piece piece{packet.data(), packet.size()};
    return inner_.post(dest, longer, {&piece, 1});
  }

  void let_go() {
    for (std::size_t i = 0; i < held_.size();) {
      const Held& held = held_[i];
      const bool due = held.for_next ? polls_ >= held.last_poll : now() >= held.until;
      const Post answer =
          due ? post_inner(held.dest, held.header, held.packet) : Post::again_credit;
      if (!due || answer == Post::again_credit || answer == Post::again_buffer)
        ++i;
      else
        held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  static void on_path_changed(void* self, Peer peer, bool lost) {
    const Sink& sink = static_cast<const FaultyNic*>(self)->sink_;
    if (sink.path_changed != nullptr) sink.path_changed(sink.context, peer, lost);
  }
  static void on_peer_lost(void* self, Peer peer) {
    auto& me = *static_cast<FaultyNic*>(self);
    if (me.sink_.peer_lost != nullptr) me.sink_.peer_lost(me.sink_.context, peer);
  }

  static Keep on_arrived(void* self, const Incoming& in) {
    auto& me = *static_cast<FaultyNic*>(self);
    Prefix prefix;
    bool intact = in.payload.size() >= sizeof prefix;
    if (intact) {
      std::memcpy(&prefix, in.payload.data(), sizeof prefix);
      intact =
          checksum(in.header->client, prefix, in.payload.subspan(sizeof prefix)) == prefix.checksum;
    }
    if (!intact) {
      ++me.counters().corrupt_dropped;
      return Keep::no;
    }
    PacketHeader header = *in.header;
    header.client.size -= static_cast<std::uint32_t>(sizeof prefix);
    header.dest_rank = prefix.dest_rank;
    header.sequence = prefix.sequence;
    header.ack = prefix.ack;
    header.job = prefix.job;
    const Incoming whole{in.source, &header, in.payload.subspan(sizeof prefix), in.token,
                         in.keepable};
    return me.sink_.arrived(me.sink_.context, whole);
  }

  Nic& inner_;
  FaultPlan plan_;
  FaultyOptions options_;
  Sink sink_;
  std::vector<NicCaps> caps_;
  std::vector<std::uint64_t> counts_;  // packets so far, per destination
  std::vector<std::uint64_t> puts_;    // raw ones, likewise
  std::vector<ClauseMask> clauses_;    // of the plan, per destination
  std::deque<Held> held_;
  std::uint64_t polls_ = 0;
  Ps dies_at_ = kNever;
};

}  // namespace

std::unique_ptr<Nic> make_faulty(Nic& inner, const FaultPlan& plan, const FaultyOptions& options) {
  return std::make_unique<FaultyNic>(inner, plan, options);
}

bool loses_put(Nic& faulty, Peer dest) { return static_cast<FaultyNic&>(faulty).loses_put(dest); }

}  // namespace fairlead::fabric
