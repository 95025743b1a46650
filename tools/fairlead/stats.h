// What a job reported, as JSON (stable keys) and for people.
#pragma once
#include <string>

#include "fairlead/run/launch/launcher.h"
#include "tools/fairlead/explanation.h"
#include "tools/fairlead/json.h"

namespace fairlead::tools {

struct JobFacts {
  const run::WorldOptions& options;
  const run::HostOptions& hosts;
  const run::RunReport& report;
  double wall_s;                             // start-up and end included
  const Explanation* explanation = nullptr;  // of --explain
};

// {"commit","on","lci","ranks","seed","exit_code","wall_s", several hosts: "hosts" (how many),
// modelled: "virtual_time_us","events",
// "digest" (16 hex digits), "computing" (computing_json), "inside" (inside_json), "faster",
// "explanation" (explanation_json), "counters":{..} summed, "per_rank":[{"exit_code",..counters}]}
Json stats_json(const JobFacts& facts);

std::string stats_text(const JobFacts& facts);

}  // namespace fairlead::tools
