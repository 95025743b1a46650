#include "fairlead/fabric/model/firelink/remote_firelink_host.h"

namespace fairlead::fabric::model {

RemoteFirelinkHost::RemoteFirelinkHost(GateClient& gate, const GateMemory& memory)
    : RemoteHost(gate, memory, firelink_terms(memory), LineRuns::stride(kRunBytesMax)),
      ranks_(memory.ranks()),
      regions_(memory.regions()) {
  gate_.on_answer([](void* self) { static_cast<RemoteFirelinkHost*>(self)->take_visible(); }, this);
}

void RemoteFirelinkHost::take_visible() {
  const FirelinkVisible& seen = firelink_visible(gate_.slot());
  received_.insert(received_.end(), seen.received, seen.received + seen.received_count);
  news_.insert(news_.end(), seen.news, seen.news + seen.news_count);
  // Arrays that are full may have left something behind.
  stale_ =
      seen.received_count == FirelinkVisible::kEach || seen.news_count == FirelinkVisible::kEach;
}

}  // namespace fairlead::fabric::model
