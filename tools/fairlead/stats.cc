#include "tools/fairlead/stats.h"

#include <fmt/format.h>

#include "tools/fairlead/build_facts.h"
#include "tools/fairlead/computing_note.h"
#include "tools/fairlead/implementations.h"
#include "tools/fairlead/inside.h"
#include "tools/fairlead/table.h"

namespace fairlead::tools {

namespace {

Json counters_json(const PortCounters& counters) {
  Json json = Json::object();
  for_each_counter(counters, [&](const char* name, std::uint64_t value) { json[name] = value; });
  return json;
}

}  // namespace

Json stats_json(const JobFacts& facts) {
  const run::RunReport& report = facts.report;
  Json json = {{"commit", kCommit},
               {"on", facts.options.on},
               {"lci", implementation_used(facts.options.on, facts.options.lci)},
               {"ranks", facts.options.ranks},
               {"seed", facts.options.seed},
               {"exit_code", report.exit_code},
               {"wall_s", facts.wall_s}};
  if (!facts.hosts.list.empty()) json["hosts"] = facts.hosts.list.size();
  if (!report.failure.empty()) json["failure"] = report.failure;
  if (report.modelled) {
    json["virtual_time_us"] = to_us(report.virtual_time);
    json["events"] = report.events;
    if (report.figures != nullptr) json["inside"] = inside_json(report, *report.figures);
    if (!report.platform_changes.empty()) json["platform_changes"] = report.platform_changes;
    json["computing"] = computing_json(computing_of(facts.options, report));
    json["digest"] = fmt::format("{:016x}", report.digest);
  }
  if (!facts.options.faster.empty()) json["faster"] = facts.options.faster;
  if (facts.explanation != nullptr) json["explanation"] = explanation_json(*facts.explanation);
  json["counters"] = counters_json(report.counters);
  json["per_rank"] = Json::array();
  for (const run::RankEnd& rank : report.ranks) {
    Json one = counters_json(rank.counters);
    one["exit_code"] = rank.exit_code;
    json["per_rank"].push_back(std::move(one));
  }
  return json;
}

std::string stats_text(const JobFacts& facts) {
  const run::RunReport& report = facts.report;
  std::string where = facts.options.on;
  if (const std::size_t hosts = facts.hosts.list.size(); hosts > 0) {
    // As the launcher plans it: an engine carries all of its node's messages.
    if (where == "shm") where = facts.options.lci == "nirx" ? "udp" : "shm within, udp between";
    where = fmt::format("{} {}{} ({})", hosts, facts.hosts.noun, hosts == 1 ? "" : "s", where);
  }
  std::string text =
      fmt::format("{} ranks on {}, {:.3f} s\n", facts.options.ranks, where, facts.wall_s);
  if (report.modelled) {
    text += fmt::format("virtual time {} us, {} events, digest {:016x}\n",
                        show_number(to_us(report.virtual_time)), report.events, report.digest);
    if (report.program.computing > Ps{0}) {
      const double mean_us = to_us(report.program.computing) / facts.options.ranks;
      text += fmt::format("computing declared: {} us a rank, {:.0f} % of the run\n",
                          show_number(mean_us), mean_us / to_us(report.virtual_time) * 100);
    }
    if (!report.platform_changes.empty()) {
      text += fmt::format("platform changed: {}\n", report.platform_changes);
    }
  }
  Table table({"counter", "all ranks"});
  for_each_counter(report.counters, [&](const char* name, std::uint64_t value) {
    if (value != 0) table.add({name, fmt::format("{}", value)});
  });
  text += table.text();
  return report.figures == nullptr ? text : text + inside_text(report, *report.figures);
}

}  // namespace fairlead::tools
