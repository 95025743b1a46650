// The option that says which implementation of Active Messages a job has, for every subcommand that
// runs a program.
#pragma once
#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "fairlead/base/result.h"

namespace fairlead::tools {

// --am. `choice` empty: as the environment says.
void add_am_option(CLI::App& app, std::string& choice);
// As set_mpi_options (mpi_options.h).
Result<std::vector<std::string>> set_am_option(const std::string& choice);

}  // namespace fairlead::tools
