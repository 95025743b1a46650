// The options that say which protocol of page-based shared memory a job has, for every subcommand
// that runs a program.
#pragma once
#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "fairlead/base/result.h"

namespace fairlead::tools {

struct DsmChoice {
  std::string protocol;  // empty: as the environment says
  bool faithful = false;
  bool migrate = false;
};

// --dsm-protocol, --dsm-faithful, --dsm-migrate.
void add_dsm_options(CLI::App& app, DsmChoice& choice);
// As set_mpi_options (mpi_options.h).
Result<std::vector<std::string>> set_dsm_options(const DsmChoice& choice);

// What is told at the end of a job.
struct DsmWatchChoice {
  std::string profile;  // empty: none; "-": as text; else a file
  bool races = false;
};
// --dsm-profile, --dsm-races.
void add_dsm_watch_options(CLI::App& app, DsmWatchChoice& choice);
// As set_mpi_watch_options and end_mpi_watch (mpi_options.h).
std::vector<std::string> set_dsm_watch_options(const DsmWatchChoice& choice);
void end_dsm_watch();

// A command that compares protocols takes a list of them.
struct DsmChoices {
  std::vector<std::string> protocols;  // "all" alone: every one; empty: as the environment says
  bool faithful = false;
  bool migrate = false;
};
void add_dsm_options(CLI::App& app, DsmChoices& choices);
// The protocols to run, one of them empty where none was named. Error: there is no such protocol.
Result<std::vector<std::string>> dsm_protocols(const DsmChoices& choices);
// "VARIABLE=NAME", as a job with that protocol finds it.
std::string dsm_variable(const std::string& protocol);

}  // namespace fairlead::tools
