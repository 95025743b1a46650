// Another job's process on the node: it sends one message after the other as fast as the interface
// takes them. Who receives looks at an event now and then, on a processor of its own.
#include "fairlead/fabric/model/elan/elan_ni.h"
#include "fairlead/hw/event_kinds.h"

namespace fairlead::fabric::model {

void ElanNi::begin_background() {
  if (!background_.sends(parts_.engine.nodes())) return;
  for (std::uint32_t i = 0; i < ni_.background.ahead; ++i) {
    const std::uint32_t message = parts_.packets.take();
    packet(message).kind = RdmaKind::write;
    packet(message).background = true;
    packet(message).size = ni_.background.bytes;
    at<&ElanNi::on_background>(background_.first(), hw::kDoorbellEvent, message);
  }
}

void ElanNi::on_background(std::uint32_t message) {
  if (background_.ended()) return let_go(message);
  if (now() < background_.due()) {
    return at<&ElanNi::on_background>(background_.due(), hw::kDoorbellEvent, message);
  }
  RdmaPacket& sent = packet(message);
  sent.source = parts_.ranks.rank_at(self_, 0);
  sent.dest = parts_.ranks.rank_at(background_.leaves(now(), parts_.engine.nodes()), 0);
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
