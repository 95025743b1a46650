// Another job's process on a node, which stores one message after the other into a peer's memory
// as fast as its processor and the lines that it may have ahead allow. Who receives looks at its
// own memory, on a processor of its own.
#include <algorithm>

#include "fairlead/fabric/model/firelink/line_network.h"
#include "fairlead/hw/event_kinds.h"

namespace fairlead::fabric::model {

void LineNetwork::begin_background() {
  for (Peer node = 0; node < nodes_.size(); ++node) {
    auto other = std::make_unique<OtherJob>(parts_.ni.background, parts_.network, node);
    if (!other->traffic.sends(parts_.engine.nodes())) continue;
    other->busy = true;
    parts_.engine.at(other->traffic.first(), node, hw::kDoorbellEvent, &LineNetwork::on_background,
                     this, node);
    nodes_[node].other = std::move(other);
  }
}

void LineNetwork::end_background() {
  for (Node& node : nodes_) {
    if (node.other != nullptr) node.other->traffic.end();
  }
}

// Its processor has stored a run, or its time has come.
void LineNetwork::on_background(void* self, std::uint64_t node, std::uint64_t) {
  auto* network = static_cast<LineNetwork*>(self);
  network->nodes_[node].other->busy = false;
  network->store_next(static_cast<Peer>(node));
}

void LineNetwork::store_next(Peer node) {
  OtherJob& job = *nodes_[node].other;
  if (job.busy) return;
  const hw::BackgroundParams& params = parts_.ni.background;
  if (job.left == 0) {
    if (job.traffic.ended() || job.messages == params.ahead) return;
    if (now() < job.traffic.due()) {
      job.busy = true;
      return parts_.engine.at(job.traffic.due(), node, hw::kDoorbellEvent,
                              &LineNetwork::on_background, this, node);
    }
    job.to = job.traffic.leaves(now(), parts_.engine.nodes());
    job.left = params.bytes;
    ++job.messages;
  }
  const std::uint32_t bytes = std::min(job.left, kRunBytesMax);
  const std::uint32_t lines = lines_of(bytes);
  if (job.ahead > 0 && job.ahead + lines > parts_.plane.stores_ahead) return;
  job.left -= bytes;
  job.ahead += lines;
  const std::uint32_t id = parts_.runs.take();
  LineRun& going = run(id);
  going.order.kind = RunKind::other;
  going.order.dest = parts_.ranks.rank_at(job.to, 0);
  going.order.bytes = bytes;
  going.order.last = job.left == 0 ? 1 : 0;
  going.source = parts_.ranks.rank_at(node, 0);
  going.lines = lines;
  going.number = job.stored;
  job.stored += lines;
  const Ps line = parts_.plane.store_line;
  going.spread = line * static_cast<std::int64_t>(lines - 1);
  at<&LineNetwork::on_interface>(now() + line + parts_.plane.latency, node, hw::kDoorbellEvent, id);
  job.busy = true;
  parts_.engine.at(now() + line * static_cast<std::int64_t>(lines), node, hw::kDoorbellEvent,
                   &LineNetwork::on_background, this, node);
}

void LineNetwork::on_background_completed(std::uint32_t id) {
  const LineRun& over = run(id);
  const Peer node = node_of(over.source);
  OtherJob& job = *nodes_[node].other;
  job.ahead -= over.lines;
  if (over.order.last != 0) --job.messages;
  parts_.runs.give(id);
  store_next(node);
}

}  // namespace fairlead::fabric::model
