// The option that says which implementation of Split-C a job has, for every subcommand that runs a
// program.
#pragma once
#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "fairlead/base/result.h"

namespace fairlead::tools {

// --splitc. `choice` empty: as the environment says.
void add_splitc_option(CLI::App& app, std::string& choice);
// As set_mpi_options (mpi_options.h).
Result<std::vector<std::string>> set_splitc_option(const std::string& choice);

}  // namespace fairlead::tools
