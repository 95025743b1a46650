#include "fairlead/fabric/model/rdma/rdma_host.h"

#include "fairlead/hw/resource.h"
#include "fairlead/hw/trace_lines.h"

namespace fairlead::fabric::model {

RdmaHost::RdmaHost(const RdmaShared& parts, RdmaEngine& ni, Rank rank)
    : parts_(parts),
      ni_(ni),
      rank_(rank),
      noise_(parts.noise == nullptr ? hw::HostNoise() : hw::HostNoise(*parts.noise, rank)) {
  RdmaHostSink sink;
  sink.context = this;
  sink.received = [](void* self, std::uint32_t id) {
    auto* host = static_cast<RdmaHost*>(self);
    host->received_.push_back(id);
    host->wake();
  };
  sink.completed = [](void* self, const RdmaCompletion& completion) {
    auto* host = static_cast<RdmaHost*>(self);
    host->completed_.push_back(completion);
    host->wake();
  };
  sink.changed = [](void* self) { static_cast<RdmaHost*>(self)->wake(); };
  ni_.attach_host(rank, sink);
}

void RdmaHost::sync() {
  if (local_ <= parts_.engine.now()) return;
  if (sim::CriticalPath* path = parts_.engine.path(); path != nullptr) [[unlikely]]
    path->reach(local_, hw::kHostResource);
  task_->sleep_until(local_);
}

void RdmaHost::wake() {
  news_ = true;
  if (waiting_) task_->wake(parts_.engine.now());
}

void RdmaHost::sleep(Ps deadline, bool news, const char* what) {
  sync();
  const Ps from = parts_.engine.now();
  waiting_ = true;
  if (!news_ && !news && deadline == kNever) {
    task_->block(what);
  } else if (!news_ && !news) {
    (void)task_->block_until(deadline, what);
  }
  waiting_ = false;
  news_ = false;
  // What came while the processor was not the rank's is seen when it is again.
  if (noise_.on()) advance(Ps{0});
  if (trace_.on()) trace_.interval(from, parts_.engine.now(), hw::kAsleep);
}

}  // namespace fairlead::fabric::model
