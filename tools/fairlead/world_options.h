// The options that say where a job runs, the same for every subcommand that runs one.
#pragma once
#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/run/launch/world.h"

namespace fairlead::tools {

// Values of --explain: with runs on faster machines, or the critical path alone, or, at every
// place, the algorithms of MPI's collectives alone.
inline constexpr const char* kExplainAll = "all";
inline constexpr const char* kExplainPath = "path";
inline constexpr const char* kExplainCollectives = "collectives";
// How often a modelled run tells how far it is, on a terminal.
inline constexpr double kProgressSeconds = 5;

struct WorldChoice {
  run::WorldOptions world;
  double progress_s = -1;  // 0: never; negative: where somebody watches, kProgressSeconds
  std::string background;  // as background_option.h reads it; empty: none
  std::string handler;     // "same" or "other"; empty: the platform's
  std::string explain;     // one of those; empty: nothing is to be explained

  // `world` with what needed translation filled in.
  run::WorldOptions options() const;
};

// All of fairlead/run/option_table.h but those of the next two.
void add_job_options(CLI::App& app, WorldChoice& choice);
// --on and --lci, which `compare` has as lists.
void add_place_options(CLI::App& app, WorldChoice& choice);

// --faster, --explain and --progress.
void add_model_options(CLI::App& app, WorldChoice& choice);
// Error: --explain where there is no model.
Result<void> check_model_options(const run::WorldOptions& world);

// Everything after the options: the program and its arguments. `app` must have prefix_command().
// Error: no program, or an option that `app` does not know in its place.
Result<std::vector<std::string>> program_of(const CLI::App& app);

// "--label, --on, --timeout, -n": what a wrong option is answered with.
std::string option_names(const CLI::App& app);

}  // namespace fairlead::tools
