#include "fairlead/fabric/engine/queues.h"

#include "fairlead/fabric/shm/doorbell.h"
#include "fairlead/fabric/shm/view.h"

namespace fairlead::fabric::engine {

QueueArea queue_area(const ShmJob& job, Rank rank) {
  return QueueArea({ShmView(job.base(), job.layout()).region(rank),
                    static_cast<std::size_t>(job.layout().region_bytes)});
}

void mark_engine_gone(ShmJob& job, const NodeMap& nodes, Peer node) {
  queue_area(job, nodes.leader_of(node))
      .status()
      .state.store(static_cast<std::uint32_t>(EngineState::gone));
  for (const Rank rank : nodes.ranks_of(node)) {
    shm_ring(ShmView(job.base(), job.layout()).control(rank).doorbell);
  }
}

}  // namespace fairlead::fabric::engine
