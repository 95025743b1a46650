// What bounds a modelled run: its critical path by resource, beside runs on a machine with each of
// the largest ones twice as fast. The path says what the run's end waited for as things went; how
// they go on a faster machine, where another chain may take over or the order of events change,
// only a run there says.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "fairlead/run/launch/world.h"
#include "tools/fairlead/json.h"

namespace fairlead::tools {

struct Faster {
  std::string resource;
  Ps time{};           // of the run with the resource twice as fast
  std::string reason;  // why there is none; else empty
};

struct Explanation {
  Ps time{};
  std::vector<run::PathShare> path;  // the longest first
  std::vector<Faster> twice;         // in the order of `path`
};

// Without the re-runs.
Explanation explanation_of(const run::RunReport& report);
// Those of `path` worth a re-run: none below 5 % of what is not waiting for timers.
std::vector<std::string> candidates(const Explanation& explanation);
// What --faster takes for one of them, on top of what was asked for already.
std::string twice_as_fast(const std::string& faster, const std::string& resource);

std::string explanation_text(const Explanation& explanation);
// {"time_us","path_us":{"host":..},"titles":{"host":"host processor"},
// "twice_as_fast_us":{"ni":..|null}}
Json explanation_json(const Explanation& explanation);

}  // namespace fairlead::tools
