#include "fairlead/run/run_options.h"

#include <algorithm>

#include "fairlead/fabric/engine/queues.h"
#include "fairlead/lci/memory/own_memory.h"

namespace fairlead::run {

Places place_of(const std::string& on) {
  return on == "shm"    ? kOnShm
         : on == "udp"  ? kOnUdp
         : on == "ofi"  ? kOnOfi
         : on == "loop" ? kOnLoop
                        : kOnModel;
}

Places places_of(const WorldOptions& options) {
  const Places place = place_of(options.on);
  if (!options.several_nodes || place == kOnOfi) return place;
  return place | kOnUdp;
}

bool is_network(const std::string& on) { return (place_of(on) & (kOnUdp | kOnOfi)) != 0; }

bool is_modelled(const std::string& on) { return place_of(on) == kOnModel; }

bool has_engines(const WorldOptions& options) {
  return place_of(options.on) == kOnUdp && options.lci == "nirx" &&
         (!options.several_nodes || !options.node_of.empty());
}

std::uint64_t rank_memory(const WorldOptions& options) {
  return std::uint64_t{options.rank_memory_mib} << 20;
}

std::uint64_t region_bytes(const WorldOptions& options) {
  const std::uint64_t queues = has_engines(options) ? fabric::engine::QueueArea::kBytes : 0;
  return lci::OwnMemory::region_bytes(options.ranks, rank_memory(options)) + queues;
}

NodeMap nodes_of(const WorldOptions& options) {
  if (!options.node_of.empty()) return NodeMap(options.node_of);
  return NodeMap::even(options.ranks, std::max(options.ranks_per_node, 1U));
}

}  // namespace fairlead::run
