#include "fairlead/lci/paths/rails_nic.h"

#include <algorithm>
#include <utility>

#include "fairlead/base/check.h"

namespace fairlead::lci {
namespace {

using fabric::Incoming;
using fabric::LaneMask;
using fabric::Outgoing;
using fabric::PacketHeader;
using fabric::PacketKind;

// Bits of what a kept packet is released by.
constexpr unsigned kRailShift = 60;
constexpr std::size_t kRailsMax = 4;
// A rail by which nothing came in so many turns, while something came by another, is looked at once
// in so many.
constexpr std::uint32_t kColdLooks = 16;
// Only one rail can be slept on.
constexpr Ps kNap = microseconds(100);
constexpr Ps kNeverHeard{-kNever.count / 2};

class Rails final : public fabric::Nic {
 public:
  Rails(std::vector<std::unique_ptr<fabric::Nic>> rails, std::int64_t (*clock)())
      : clock_(clock), ways_(rails.front()->peers()) {
    FAIRLEAD_CHECK(rails.size() >= 2 && rails.size() <= kRailsMax, "{} rails", rails.size());
    caps_ = rails.front()->caps(rails.front()->self());
    const Peer own = rails.front()->self();
    for (std::unique_ptr<fabric::Nic>& nic : rails) {
      FAIRLEAD_CHECK(nic->self() == own && nic->peers() == ways_.size(), "rails of different jobs");
      const fabric::NicCaps& caps = nic->caps(nic->self());
      caps_.mtu_bytes = std::min(caps_.mtu_bytes, caps.mtu_bytes);
      caps_.inline_bytes_max = std::min(caps_.inline_bytes_max, caps.inline_bytes_max);
      caps_.run_packets = std::min(caps_.run_packets, caps.run_packets);
      rails_.push_back({std::move(nic), this, static_cast<std::uint32_t>(rails_.size()), true});
    }
    caps_.rails = static_cast<std::uint32_t>(rails_.size());
    for (Peer peer = 0; peer < ways_.size(); ++peer) ways_[peer].active = own_rail(peer);
  }

  Peer self() const override { return rails_[0].nic->self(); }
  Peer peers() const override { return static_cast<Peer>(ways_.size()); }
  const fabric::NicCaps& caps(Peer) const override { return caps_; }
  void attach(fabric::Sink sink) override {
    sink_ = sink;
    for (Rail& rail : rails_) {
      fabric::Sink own{&Rails::on_arrived, &Rails::on_peer_lost, &rail};
      if (sink.place != nullptr) own.place = &Rails::on_place;
      rail.nic->attach(own);
    }
  }

  Post post(Peer dest, const PacketHeader& header, std::span<const Piece> payload) override {
    if (dest >= peers()) return Post::invalid;
    if (header.client.lane >= fabric::kLanes) {
      return stripe(dest, header.client.lane).post(dest, header, payload);
    }
    fabric::Nic& nic = choose(dest, header.client.kind);
    if (probe_due(dest)) (void)rails_[own_rail(dest)].nic->post(dest, header, payload);
    return nic.post(dest, header, payload);
  }
  std::size_t post_many(Peer dest, std::span<const Outgoing> packets) override {
    if (dest >= peers() || packets.empty()) return 0;
    const fabric::ClientHeader& first = packets.front().header.client;
    if (first.lane >= fabric::kLanes) return stripe(dest, first.lane).post_many(dest, packets);
    fabric::Nic& nic = choose(dest, first.kind);
    if (probe_due(dest)) {
      // Once more by its own rail; the peer drops what it has already.
      (void)rails_[own_rail(dest)].nic->post_many(dest, packets.first(1));
    }
    return nic.post_many(dest, packets);
  }
  std::uint32_t stripe_of(Peer peer, std::uint32_t rail) const override {
    const auto rails = static_cast<std::uint32_t>(rails_.size());
    return (rail % rails + rails - own_rail(peer)) % rails;
  }
  std::byte* buffer(Peer, std::size_t) override { return nullptr; }
  Post post_buffer(Peer, const PacketHeader&, std::byte*) override { return Post::invalid; }
  void cancel_buffer(Peer, std::byte*) override {}

  int reap(int budget, LaneMask lanes) override {
    const bool all = ++looks_ % kColdLooks == 0;
    now_ = Ps{};  // read when it is needed
    int came = 0;
    for (Rail& rail : rails_) {
      if (!rail.warm && !all) continue;
      const int here = rail.nic->reap(budget, lanes);
      if (here > 0) {
        rail.came = rail.warm = true;
        latest_ = rail.index;
      }
      came += here;
    }
    if (all) cool();
    return came;
  }
  void release(std::uint64_t token) override {
    constexpr std::uint64_t kBelow = (std::uint64_t{1} << kRailShift) - 1;
    rails_[token >> kRailShift].nic->release(token & kBelow);
  }
  void sleep(Ps timeout) override {
    const auto warm =
        std::find_if(rails_.begin(), rails_.end(), [](const Rail& r) { return r.warm; });
    (warm != rails_.end() ? *warm : rails_.front()).nic->sleep(std::min(timeout, kNap));
    for (Rail& rail : rails_) rail.warm = true;
  }
  bool listen(fabric::Bell& bell) override {
    bool silent = true;
    for (Rail& rail : rails_) {
      rail.warm = true;
      silent = rail.nic->listen(bell) && silent;
    }
    return silent;
  }
  Post read_peer(Peer, std::uint64_t, void*, std::size_t) override { return Post::not_delivered; }
  Post write_peer(Peer, std::uint64_t, const void*, std::size_t) override {
    return Post::not_delivered;
  }
  std::span<std::byte> region(Peer) override { return {}; }
  PortCounters& counters() override { return rails_[0].nic->counters(); }

 private:
  struct Rail {
    std::unique_ptr<fabric::Nic> nic;
    Rails* all;
    std::uint32_t index;
    bool warm;          // looked at every turn
    bool came = false;  // something, since cool()
  };
  // To one peer.
  struct Way {
    std::uint32_t active = 0;
    bool lost = false;
    Ps unanswered = kNever;      // since then frames went by the active rail and nothing came by it
    Ps last_sent = kNeverHeard;  // a frame
    Ps heard = kNeverHeard;      // by the active rail
    Ps own_heard = kNeverHeard;  // by the pair\'s own rail
    Ps failed = kNeverHeard;     // when the pair left its own rail
    Ps probed = kNeverHeard;
    Ps hold = kRailHold;
    Ps without_own = kNever;  // since then something came, and nothing by the own rail
    bool own_lost = false;    // and the client knows
  };

  // The one by which something came last stays warm however long ago that is.
  void cool() {
    for (Rail& rail : rails_) {
      rail.warm = std::exchange(rail.came, false) || rail.index == latest_;
    }
  }

  std::uint32_t own_rail(Peer peer) const {
    // Both ends choose alike; spreads the pairs of one rank, and those of a ring over two nodes.
    const Peer low = std::min(self(), peer), high = std::max(self(), peer);
    return (low + high / 2) % static_cast<std::uint32_t>(rails_.size());
  }
  // The clock, once a turn.
  Ps now() {
    if (now_ == Ps{}) now_ = nanoseconds(clock_());
    return now_;
  }

  // Pieces of copies by lanes beyond the client's: each such lane has its rail, the pair's own one
  // excepted, and stays with it.
  fabric::Nic& stripe(Peer peer, std::uint32_t lane) {
    const auto rails = static_cast<std::uint32_t>(rails_.size());
    return *rails_[(own_rail(peer) + 1 + (lane - fabric::kLanes) % (rails - 1)) % rails].nic;
  }

  // By which rail a packet leaves. Acknowledgments are not answered, and follow the frames.
  fabric::Nic& choose(Peer peer, PacketKind kind) {
    Way& way = ways_[peer];
    now_ = Ps{};
    if (kind != PacketKind::ack && kind != PacketKind::resend) {
      // After a pause nobody has been waiting.
      if (way.unanswered == kNever || now() - way.last_sent > kRailPause) way.unanswered = now();
      way.last_sent = now();
      const bool alone = way.active != own_rail(peer) && now() - way.own_heard > kRailDead;
      if (now() - way.unanswered > (alone ? kRailSilentAlone : kRailSilent)) {
        turn_to(peer, (way.active + 1) % static_cast<std::uint32_t>(rails_.size()));
      }
    }
    return *rails_[way.active].nic;
  }
  void turn_to(Peer peer, std::uint32_t rail) {
    Way& way = ways_[peer];
    if (way.active == own_rail(peer)) {
      const bool again = now() - way.failed < kRailTrusted;
      way.hold = again ? std::min(way.hold * 2, kRailHoldMax) : kRailHold;
      way.failed = now();
    }
    way.active = rail;
    way.unanswered = now();
    way.heard = now();  // it has the same time to prove itself
  }
  bool probe_due(Peer peer) {
    Way& way = ways_[peer];
    if (way.active == own_rail(peer) || now() - way.probed < kRailProbe) return false;
    way.probed = now();
    return true;
  }

  static Keep on_arrived(void* context, const Incoming& in) {
    const auto& rail = *static_cast<const Rail*>(context);
    return rail.all->arrived(rail.index, in);
  }
  static std::byte* on_place(void* context, const PacketHeader& header,
                             std::span<const std::byte> begin) {
    const Rails& all = *static_cast<const Rail*>(context)->all;
    return all.sink_.place(all.sink_.context, header, begin);
  }
  Keep arrived(std::uint32_t rail, const Incoming& in) {
    // What is bound to its rail says nothing of the others.
    if (in.source < peers() && in.header->client.lane < fabric::kLanes) heard_by(rail, in.source);
    Incoming marked = in;
    marked.token |= std::uint64_t{rail} << kRailShift;
    return sink_.arrived(sink_.context, marked);
  }
  void heard_by(std::uint32_t rail, Peer peer) {
    Way& way = ways_[peer];
    look_at_own(way, rail, peer);
    if (rail == way.active) {
      way.heard = now();
      way.unanswered = kNever;
    } else if (rail == own_rail(peer)) {
      const bool silent = now() - way.heard > kRailSilent;
      if (silent || now() - way.failed > way.hold) go_back(way, rail);
    } else if (now() - way.heard > kRailSilent) {
      turn_to(peer, rail);
      way.unanswered = kNever;
    }
  }
  // Silence alone says nothing: the peer may compute. It lives where another rail brings packets,
  // and those are sent by the own one too, every kRailProbe.
  void look_at_own(Way& way, std::uint32_t rail, Peer peer) {
    if (rail == own_rail(peer)) {
      way.own_heard = now();
      way.without_own = kNever;
      if (std::exchange(way.own_lost, false)) tell(peer, false);
    } else if (way.without_own == kNever) {
      way.without_own = now();
    } else if (!way.own_lost && now() - way.without_own > kRailDead) {
      way.own_lost = true;
      tell(peer, true);
    }
  }
  void tell(Peer peer, bool lost) const {
    if (ways_[peer].lost || sink_.path_changed == nullptr) return;
    sink_.path_changed(sink_.context, peer, lost);
  }
  void go_back(Way& way, std::uint32_t rail) {
    way.active = rail;
    way.heard = now();
    way.unanswered = kNever;
  }

  static void on_peer_lost(void* context, Peer peer) {
    Rails& all = *static_cast<const Rail*>(context)->all;
    if (peer >= all.peers() || std::exchange(all.ways_[peer].lost, true)) return;
    if (all.sink_.peer_lost != nullptr) all.sink_.peer_lost(all.sink_.context, peer);
  }

  // Between two retransmissions there is no more.
  static constexpr Ps kRailPause = milliseconds(250);

  std::int64_t (*clock_)();
  std::vector<Rail> rails_;
  std::vector<Way> ways_;
  fabric::NicCaps caps_{};
  fabric::Sink sink_;
  Ps now_{};
  std::uint32_t looks_ = 0;
  std::uint32_t latest_ = 0;  // rail by which something came last
};

}  // namespace

std::unique_ptr<fabric::Nic> make_rails_nic(std::vector<std::unique_ptr<fabric::Nic>> rails,
                                            std::int64_t (*clock)()) {
  return std::make_unique<Rails>(std::move(rails), clock);
}

}  // namespace fairlead::lci
