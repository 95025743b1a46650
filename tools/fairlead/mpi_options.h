// The options that say how MPI messages travel, for every subcommand that runs a program, and those
// that have the calls of MPI watched, for run.
#pragma once
#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "fairlead/base/result.h"

namespace fairlead::tools {

struct MpiChoice {
  std::string device;  // empty: as the environment says
  std::string bcast;   // likewise
  std::string unexpected;
};

// --mpi-device, --mpi-bcast and --mpi-unexpected.
void add_mpi_options(CLI::App& app, MpiChoice& choice);
// Checks them and puts them into this process's environment, where modelled ranks, also those that
// are fibers, and child runs find them. Answers them as "NAME=value" for ranks that are started on
// other hosts. Error: a name there is not.
Result<std::vector<std::string>> set_mpi_options(const MpiChoice& choice);

struct MpiWatchChoice {
  std::string profile;   // empty: as the environment says; "-": on the standard error stream
  bool check = false;    // false: as the environment says
  bool explain = false;  // likewise; of --explain: the algorithms of collectives are to be printed
};

// --profile and --check.
void add_mpi_watch_options(CLI::App& app, MpiWatchChoice& choice);
// As set_mpi_options(): a file's name becomes one from the root on.
std::vector<std::string> set_mpi_watch_options(const MpiWatchChoice& choice);
// The job that they were set for is over: what runs after it is not watched.
void end_mpi_watch();

}  // namespace fairlead::tools
