#include "fairlead/fabric/model/firelink/firelink_machine.h"

#include <utility>

namespace fairlead::fabric::model {

FirelinkMachine::FirelinkMachine(hw::Platform platform, const EvenNodes& ranks, std::uint32_t nodes,
                                 const SharedMemory& shared)
    : NicMachine(std::move(platform), ranks, nodes),
      terms_(platform_, nodes),
      runs_(kRunBytesMax, shared.packets),
      regions_(ranks, shared),
      parts_{engine_,
             platform_.ni.as<hw::FirelinkParams>(),
             platform_.bus.as<hw::FireplaneParams>(),
             platform_.network,
             runs_,
             ranks_,
             platform_.host.memory,
             platform_.host.interrupt,
             regions_.all()},
      lines_(parts_, nodes),
      hosts_(ranks_.ranks) {
  for (Rank rank = 0; rank < ranks_.ranks; ++rank) {
    hosts_.emplace_back(parts_, terms_, lines_, rank);
  }
  for (Rank rank = 0; rank < ranks_.ranks; ++rank) nic(rank).set_ranks(ranks_.ranks);
  lines_.begin_background();
}

NodeBusy FirelinkMachine::busy(Rank rank) const {
  const Peer node = ranks_.node_of(rank);
  return {hosts_[rank].host.library_busy(), lines_.links_busy(node), lines_.interfaces_busy(node)};
}

std::shared_ptr<Figures> FirelinkMachine::count() {
  const auto figures = std::make_shared<Figures>(ranks_, nodes());
  parts_.figures = figures.get();
  return counted_ = figures;
}

void FirelinkMachine::trace_nodes(TraceWriter&) {
  for (Rank rank = 0; rank < ranks_.ranks; ++rank) host(rank).trace(host_lane(rank));
}

}  // namespace fairlead::fabric::model
