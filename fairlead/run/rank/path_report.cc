#include "fairlead/run/rank/path_report.h"

#include <fmt/format.h>

#include "fairlead/run/node/node_meeting.h"

namespace fairlead::run {

namespace {

std::string engine_lines(const PathReport& report, const std::vector<std::uint32_t>& near,
                         const std::vector<std::uint32_t>& far) {
  std::string text = fmt::format("rank {} to {}: the NI engine of their node: --lci nirx",
                                 report.rank, rank_list(near));
  if (far.empty()) return text;
  return text + fmt::format(
                    "\nrank {} to {}: that engine, {}, sent again where lost (nirx), and the "
                    "engine of their node: --lci nirx",
                    report.rank, rank_list(far), report.network);
}

}  // namespace

std::string path_lines(const PathReport& report) {
  std::vector<std::uint32_t> near;
  std::vector<std::uint32_t> far;
  for (std::uint32_t rank = 0; rank < report.near.size(); ++rank) {
    (report.near[rank] ? near : far).push_back(rank);
  }
  if (report.engine) return engine_lines(report, near, far);
  std::string text;
  if (!near.empty()) {
    text += fmt::format("rank {} to {}: shared memory{}: {}", report.rank, rank_list(near),
                        report.node_hrx ? ", sent again where lost (hrx)" : "",
                        report.memory     ? "--memory"
                        : report.node_hrx ? "the same node, with faults or --lci hrx"
                                          : "the same node");
  }
  if (!far.empty()) {
    text += fmt::format("{}rank {} to {}: {}{}: {}", text.empty() ? "" : "\n", report.rank,
                        rank_list(far), report.network,
                        report.network_hrx ? ", sent again where lost (hrx)" : "",
                        report.on.empty() ? "other nodes" : "--on " + report.on);
  }
  return text;
}

}  // namespace fairlead::run
