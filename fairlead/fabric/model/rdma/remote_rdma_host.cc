#include "fairlead/fabric/model/rdma/remote_rdma_host.h"

namespace fairlead::fabric::model {

RemoteRdmaHost::RemoteRdmaHost(GateClient& gate, const GateMemory& memory)
    : gate_(gate),
      packets_(memory.packets().data()),
      terms_(rdma_terms(memory)),
      stride_(RdmaPackets::stride(terms_.packet_bytes)),
      several_(memory.ranks().several()) {
  gate_.on_answer([](void* self) { static_cast<RemoteRdmaHost*>(self)->take_visible(); }, this);
}

void RemoteRdmaHost::take_visible() {
  const RdmaVisible& seen = rdma_visible(gate_.slot());
  received_.insert(received_.end(), seen.received, seen.received + seen.received_count);
  completed_.insert(completed_.end(), seen.completed, seen.completed + seen.completed_count);
  // Arrays that are full may have left something behind.
  stale_ = seen.received_count == RdmaVisible::kEach || seen.completed_count == RdmaVisible::kEach;
}

}  // namespace fairlead::fabric::model
