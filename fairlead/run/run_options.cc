#include "fairlead/run/run_options.h"

#include <algorithm>

namespace fairlead::run {

bool is_network(const std::string& on) { return on == "udp" || on == "ofi"; }

bool is_modelled(const std::string& on) { return on != "shm" && on != "loop" && !is_network(on); }

bool has_engines(const WorldOptions& options) {
  return options.on == "udp" && options.lci == "nirx" &&
         (!options.several_nodes || !options.node_of.empty());
}

NodeMap nodes_of(const WorldOptions& options) {
  if (!options.node_of.empty()) return NodeMap(options.node_of);
  return NodeMap::even(options.ranks, std::max(options.ranks_per_node, 1U));
}

}  // namespace fairlead::run
