#include "fairlead/fabric/model/rdma/rdma_host.h"

namespace fairlead::fabric::model {

RdmaHost::RdmaHost(const RdmaShared& parts, RdmaEngine& ni, Rank rank)
    : parts_(parts),
      ni_(ni),
      rank_(rank),
      noise_(parts.noise == nullptr ? hw::HostNoise() : hw::HostNoise(*parts.noise, rank)),
      clock_(parts.engine) {
  RdmaHostSink sink;
  sink.context = this;
  sink.received = [](void* self, std::uint32_t id) {
    auto* host = static_cast<RdmaHost*>(self);
    host->received_.push_back(id);
    host->front(id).seen = host->parts_.engine.now();
    host->count_received();
    host->count_bus();
    host->clock_.wake();
  };
  sink.completed = [](void* self, const RdmaCompletion& completion) {
    auto* host = static_cast<RdmaHost*>(self);
    host->completed_.push_back(completion);
    host->clock_.wake();
  };
  sink.changed = [](void* self) { static_cast<RdmaHost*>(self)->clock_.wake(); };
  ni_.attach_host(rank, sink);
}

Ps RdmaHost::compute(Ps time, Ps watchdog, bool completions) {
  sync();
  const Ps from = parts_.engine.now();
  const Ps end = from + time;
  sim::CriticalPath* const path = parts_.engine.path();
  const sim::CriticalPath::Path before = path != nullptr ? path->here() : sim::CriticalPath::Path{};
  clock_.waits(true);
  for (Ps at = from; at < end; at = parts_.engine.now()) {
    if (completions && !completed_.empty()) break;
    Ps until = end;
    if (!received_.empty()) until = std::min(end, interrupts_at(*this, received_, watchdog));
    if (until <= at) break;
    if (path != nullptr) [[unlikely]]
      path->was_busy(before, until, hw::kHostResource);
    clock_.block_until(until, "computing");
  }
  clock_.waits(false);
  if (path != nullptr) [[unlikely]]
    path->was_busy(before, parts_.engine.now(), hw::kHostResource);
  count(HostPart::compute, parts_.engine.now() - from);
  return parts_.engine.now() - from;
}

bool RdmaHost::serve(Ps asked, bool interrupted) {
  const bool called = interrupted && asked > served_until_;
  const Ps takes = called ? parts_.terms.host.interrupt : Ps{0};
  serving_ = parts_.terms.handler_beside;
  if (serving_) {
    handler_ = std::max(asked, served_until_) + takes;
  } else {
    advance(takes);
  }
  return called;
}

void RdmaHost::served(bool waits) {
  served_until_ = now();
  if (!serving_) return;
  serving_ = false;
  if (waits) take_turn();
}

void RdmaHost::sleep(Ps deadline, bool news, const char* what) {
  clock_.sync();
  const Ps from = parts_.engine.now();
  clock_.sleep(deadline, news, what);
  count(HostPart::wait, parts_.engine.now() - from);
  // What came while the processor was not the rank's is seen when it is again.
  if (noise_.on()) advance(Ps{0});
}

}  // namespace fairlead::fabric::model
