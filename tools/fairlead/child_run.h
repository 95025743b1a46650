// `fairlead run` of this same binary as a child: for commands that run a program several times.
#pragma once
#include <string>
#include <vector>

#include "fairlead/base/result.h"
#include "tools/fairlead/world_options.h"

namespace fairlead::tools {

struct ChildRun {
  const WorldChoice& choice;
  std::string on;
  std::string lci;      // empty: the place's default
  std::string faster;   // empty: the platform as it is
  std::string explain;  // a value of --explain; empty: without
  std::string body;
  std::vector<std::string> environment;  // -x
  std::string working_directory;         // empty: this process's
  const std::vector<std::string>& program;
};

// Its command line; counters go to the file `stats`.
std::vector<std::string> child_command(const ChildRun& run, const std::string& stats);

}  // namespace fairlead::tools
