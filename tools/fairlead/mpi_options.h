// The options that say how MPI messages travel, for every subcommand that runs a program.
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

}  // namespace fairlead::tools
