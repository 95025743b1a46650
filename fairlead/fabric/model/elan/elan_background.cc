// Another job's process on the node: it sends one message after the other as fast as the interface
// takes them. Who receives looks at an event now and then, on a processor of its own.
#include "fairlead/fabric/model/elan/elan_ni.h"
#include "fairlead/hw/event_kinds.h"
#include "fairlead/hw/keys.h"

namespace fairlead::fabric::model {
namespace {
// The first messages of the nodes do not leave together.
constexpr Ps kBegins = microseconds(10);

// From a message to the next of a sender that asks for a share of its link.
Ps pace_of(const hw::BackgroundParams& traffic, const hw::NetworkParams& network) {
  Ps pace = time_for(Bytes{traffic.bytes}, network.link);
  hw::shorter(pace, traffic.load);
  return pace;
}
}  // namespace

void ElanNi::begin_background() {
  using hw::BackgroundParams;
  const BackgroundParams& traffic = ni_.background;
  const std::uint32_t nodes = parts_.engine.nodes();
  if (traffic.pattern == BackgroundParams::kNone || nodes < 2) return;
  // Only where their number is odd: the one in the middle.
  if (traffic.pattern == BackgroundParams::kComplement && nodes - 1 - self_ == self_) return;
  for (std::uint32_t i = 0; i < traffic.ahead; ++i) {
    const std::uint32_t message = parts_.packets.take();
    packet(message).kind = RdmaKind::write;
    packet(message).background = true;
    packet(message).size = traffic.bytes;
    const std::uint64_t later = background_draw_.below(static_cast<std::uint64_t>(kBegins.count));
    at<&ElanNi::on_background>(Ps{static_cast<std::int64_t>(later)}, hw::kDoorbellEvent, message);
  }
}

void ElanNi::on_background(std::uint32_t message) {
  if (background_ends_) return let_go(message);
  if (ni_.background.load < 1) {
    if (now() < background_due_) {
      return at<&ElanNi::on_background>(background_due_, hw::kDoorbellEvent, message);
    }
    background_due_ = now() + pace_of(ni_.background, parts_.network_params);
  }
  const std::uint32_t nodes = parts_.engine.nodes();
  Peer to = nodes - 1 - self_;
  if (ni_.background.pattern == hw::BackgroundParams::kUniform) {
    to = static_cast<Peer>(background_draw_.below(nodes - 1));
    if (to >= self_) ++to;
  }
  RdmaPacket& sent = packet(message);
  sent.source = parts_.ranks.rank_at(self_, 0);
  sent.dest = parts_.ranks.rank_at(to, 0);
  sent.started = 0;
  sent.acknowledged = 0;
  run(message);
}

// Its process sees the event and posts the next one.
void ElanNi::background_done(std::uint32_t message) {
  const Ps seen = bus_.write(now(), ni_.event_bytes) + parts_.terms.poll + parts_.terms.post;
  at<&ElanNi::on_background_posted>(seen, hw::kVisibleEvent, message);
}

void ElanNi::on_background_posted(std::uint32_t message) {
  const Ps there = bus_.store(now(), parts_.terms.entry_bytes);
  at<&ElanNi::on_background>(there + time(ni_.command), hw::kDoorbellEvent, message);
}

}  // namespace fairlead::fabric::model
