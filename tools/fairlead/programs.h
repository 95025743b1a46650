// Several programs in one job, as every mpirun has them: `-n 2 ./a : -n 1 ./b`. All ranks start as
// this command, which becomes the program of its rank, as a script that starts one would; so that
// it works wherever a rank is a process.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "fairlead/base/result.h"

namespace fairlead::tools {

// The command that ranks start as; it is not in the help.
inline constexpr const char kRankCommand[] = "rank-program";

struct Program {
  std::uint32_t ranks = 0;
  std::vector<std::string> variables;  // "VAR=value", besides the job's
  std::string directory;               // empty: the job's
  std::vector<std::string> command;    // as it was given
  std::string path;                    // of its program, where there are several
};

// `words` are the first program with its arguments, then behind each lone ":" the options -n, -x
// and --wdir of another one, and that. `first_ranks`: the ranks of the first, 0 where none were
// given; `directory`: the job's. One program comes back as it is. Error: several of which one
// cannot be found or has no number of ranks; another option than those three.
Result<std::vector<Program>> programs_of(const std::vector<std::string>& words,
                                         std::uint32_t first_ranks, const std::string& directory);

// What a job runs whose ranks become these programs.
Result<std::vector<std::string>> command_of(const std::vector<Program>& programs);

}  // namespace fairlead::tools
