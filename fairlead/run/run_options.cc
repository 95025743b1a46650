#include "fairlead/run/run_options.h"

#include <algorithm>
#include <string_view>
#include <utility>

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
  if (!options.several_nodes || place == kOnOfi || !options.memory.empty()) return place;
  return place | kOnUdp;
}

bool is_network(const std::string& on) { return (place_of(on) & (kOnUdp | kOnOfi)) != 0; }

bool is_modelled(const std::string& on) { return place_of(on) == kOnModel; }

bool has_engines(const WorldOptions& options) {
  return place_of(options.on) == kOnUdp && options.lci == "nirx" &&
         (!options.several_nodes || !options.node_of.empty());
}

MemoryFile memory_file(const WorldOptions& options) {
  constexpr std::string_view kSoftware = ",software";
  std::string path = options.memory;
  const bool software = path.ends_with(kSoftware);
  if (software) path.resize(path.size() - kSoftware.size());
  return {std::move(path), software};
}

bool has_memory_hosts(const WorldOptions& options) {
  return !options.memory.empty() && (options.several_nodes || options.ranks_per_node != 0);
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
