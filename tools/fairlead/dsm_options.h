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
};

// --dsm-protocol, --dsm-faithful.
void add_dsm_options(CLI::App& app, DsmChoice& choice);
// As set_mpi_options (mpi_options.h).
Result<std::vector<std::string>> set_dsm_options(const DsmChoice& choice);

}  // namespace fairlead::tools
