#include "fairlead/fabric/model/rdma/remote_rdma_host.h"

#include <algorithm>

namespace fairlead::fabric::model {
namespace {
constexpr std::uint64_t kNoWatchdog = UINT64_C(1) << 60;  // ps
}

RemoteRdmaHost::RemoteRdmaHost(GateClient& gate, const GateMemory& memory)
    : RemoteHost(gate, memory, rdma_terms(memory),
                 RdmaPackets::stride(rdma_terms(memory).packet_bytes)),
      ranks_(memory.ranks()),
      regions_(memory.regions()) {
  gate_.on_answer([](void* self) { static_cast<RemoteRdmaHost*>(self)->take_visible(); }, this);
}

// What is visible here the simulator does not count any more. Time is looked at when the machine
// has caught up, as RdmaHost does.
Ps RemoteRdmaHost::compute(Ps time, Ps watchdog, bool completions) {
  if (!received_.empty() || !completed_.empty()) sync();
  if (gate_.dismissed()) return time;
  if (completions && !completed_.empty()) return Ps{0};
  std::uint64_t patience = static_cast<std::uint64_t>(watchdog.count);
  if (!received_.empty()) {
    time = std::clamp(interrupts_at(*this, received_, watchdog) - now(), Ps{0}, time);
    patience = kNoWatchdog;
    if (time == Ps{0}) return time;
  }
  return answered(RdmaOp::compute, completions ? 1 : 0, time, patience);
}

void RemoteRdmaHost::take_visible() {
  const RdmaVisible& seen = rdma_visible(gate_.slot());
  received_.insert(received_.end(), seen.received, seen.received + seen.received_count);
  completed_.insert(completed_.end(), seen.completed, seen.completed + seen.completed_count);
  // Arrays that are full may have left something behind.
  stale_ = seen.received_count == RdmaVisible::kEach || seen.completed_count == RdmaVisible::kEach;
}

}  // namespace fairlead::fabric::model
