// The command line of an mpirun or mpiexec as scripts write it for other launchers (Open MPI's,
// MPICH's Hydra, the MPI standard's), turned into one of `fairlead run`.
#pragma once
#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "fairlead/base/result.h"

namespace fairlead::tools {

// The command that the scripts fairlead-mpirun and fairlead-mpiexec start.
inline constexpr const char kMpirunCommand[] = "mpirun";

struct MpirunWords {
  std::vector<std::string> words;  // behind `fairlead run`
  std::vector<std::string> notes;  // an option that was left out though it asked for something
};

// `words` follow the launcher's name. Options of `run` stay as they are, those of others become
// run's, or are left out where run does so anyway; what is unknown is left to run's own complaint.
// A lone ":" begins the options of another program. Error: an option without its value.
Result<MpirunWords> mpirun_words(const CLI::App& run, const std::vector<std::string>& words);

// What the table knows, for the help.
std::string mpirun_help();

}  // namespace fairlead::tools
