#include "fairlead/fabric/model/machine.h"

#include <fmt/format.h>

#include <utility>

#include "fairlead/hw/resource.h"
#include "fairlead/hw/speed_up.h"
#include "fairlead/hw/trace_lines.h"

namespace fairlead::fabric::model {

Machine::Machine(hw::Platform platform, const EvenNodes& ranks, std::uint32_t nodes)
    : platform_(std::move(platform)),
      ranks_(ranks),
      engine_(nodes),
      network_(engine_, platform_.network, nodes) {}

void Machine::explain() {
  path_ = std::make_unique<sim::CriticalPath>(&hw::resource_of);
  engine_.explain(*path_);
}

std::vector<PathShare> Machine::critical_path() const {
  std::vector<PathShare> shares;
  if (path_ == nullptr) return shares;
  for (const hw::Resource each : hw::resources_of(platform_)) {
    shares.push_back({hw::kResourceNames[each].data(), hw::kResourceTitles[each].data(),
                      path_->event().spent[each]});
  }
  return shares;
}

TraceLane Machine::host_lane(Rank rank) const {
  if (trace_ == nullptr) return TraceLane();
  return TraceLane(*trace_, {ranks_.node_of(rank), hw::host_line(ranks_.place_of(rank))});
}

void Machine::trace(TraceWriter& writer) {
  trace_ = &writer;
  network_.trace(writer);
  for (Peer node = 0; node < nodes(); ++node) {
    writer.name_node(node, fmt::format("node {}", node));
    for (std::uint32_t line = 0; line < hw::kTraceLines; ++line) {
      writer.name_lane({node, line}, hw::kTraceLineNames[line]);
    }
    for (std::uint32_t place = 1; place < ranks_.ranks_on(node); ++place) {
      writer.name_lane({node, hw::host_line(place)}, fmt::format("host, rank {}", place + 1));
    }
  }
  trace_nodes(writer);
}

}  // namespace fairlead::fabric::model
