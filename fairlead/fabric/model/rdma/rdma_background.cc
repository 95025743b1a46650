// Another job's process on the node, which sends from and to main memory by a queue pair of its
// own: one message after the other, as fast as it sees the end of one and posts the next. Its
// contexts and pages are always known to the interface.
#include "fairlead/fabric/model/rdma/rdma_ni.h"
#include "fairlead/hw/event_kinds.h"

namespace fairlead::fabric::model {

void RdmaNi::begin_background() {
  if (!background_.sends(parts_.engine.nodes())) return;
  for (std::uint32_t i = 0; i < ni_.background.ahead; ++i) {
    at<&RdmaNi::on_background>(background_.first(), hw::kDoorbellEvent, parts_.packets.take());
  }
}

// Its doorbell is here.
void RdmaNi::on_background(std::uint32_t id) {
  if (background_.ended()) return parts_.packets.give(id);
  if (now() < background_.due()) {
    return at<&RdmaNi::on_background>(background_.due(), hw::kDoorbellEvent, id);
  }
  RdmaPacket& message = packet(id);
  message = {};
  message.kind = RdmaKind::write;
  message.background = true;
  message.queue = kBackgroundQueue;
  message.size = ni_.background.bytes;
  message.source = parts_.ranks.rank_at(self_, 0);
  message.dest = parts_.ranks.rank_at(background_.leaves(now(), parts_.engine.nodes()), 0);
  Way& to = way(message.source, message.dest);
  if (to.background == nullptr) to.background = std::make_unique<Queue>();
  to.background->waiting.push_back(id);
  const Ps began = sender_.acquire(now(), ni_.work_entry);
  at<&RdmaNi::on_context>(began + ni_.work_entry, hw::kNiTurnEvent, id);
}

// The completion is in memory: its process sees it and posts the next one.
void RdmaNi::on_background_told(std::uint32_t id) {
  const Ps posts = parts_.terms.poll + parts_.terms.completion + parts_.terms.post;
  at<&RdmaNi::on_background_posted>(now() + posts, hw::kVisibleEvent, id);
}

void RdmaNi::on_background_posted(std::uint32_t id) {
  at<&RdmaNi::on_background>(path_->to_ni(now(), kRdmaDoorbellBytes), hw::kDoorbellEvent, id);
}

}  // namespace fairlead::fabric::model
