// Where the time of a trace's messages went, and how busy each resource was.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/model/journeys.h"
#include "fairlead/fabric/model/lanai/stages.h"
#include "tools/fairlead/json.h"

namespace fairlead::tools {

struct TracedMessage {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint64_t bytes = 0;
  Ps began{};
  Ps total{};
  std::array<Ps, fabric::model::kStages> stages{};  // their sum is total; zero in real traces
};

struct TracedResource {
  std::string name;
  double mean = 0;     // busy, of the whole time, over the nodes; 0 .. 1
  double busiest = 0;  // of the busiest node
  std::uint32_t busiest_node = 0;
};

struct TraceSummary {
  std::uint32_t nodes = 0;
  std::uint64_t messages = 0;
  bool staged = false;  // a modelled trace: stages and resources are known
  Ps time{};            // of the last event
  TracedMessage slowest;
  TracedMessage median;
  std::vector<TracedResource> resources;
};

// Memory: 16 bytes a message, 32 a line of a node. Error: see TraceReader; more messages than
// 2^24; no message.
Result<TraceSummary> summarize_trace(const std::string& path);

std::string summary_text(const TraceSummary& summary);
// {"nodes","messages","time_us","slowest":MESSAGE,"median":MESSAGE,"resources":[{"name",
// "mean_percent","busiest_percent","busiest_node"}]}, MESSAGE: {"from","to","bytes","began_us",
// "total_us","stages":{"host_send_us",..}}
Json summary_json(const TraceSummary& summary);

}  // namespace fairlead::tools
