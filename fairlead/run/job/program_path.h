// Finds a program and prepares its environment before any process is started, so that a typing
// error is one message and not one per rank.
#pragma once
#include <string>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/run/job/job_plan.h"

namespace fairlead::run {

// `name` with a slash: from `working_directory` (as after cd), else from here; without: along PATH.
Result<std::string> find_program(const std::string& name, const std::string& working_directory);

// This process's environment with `changes` ("VAR=value", or "VAR", which must be set here)
// applied and without what another launcher left.
Result<std::vector<std::string>> rank_environment(const std::vector<std::string>& changes);

// The two together. Error also when the working directory is not one.
Result<ExecPlan> plan_exec(const std::vector<std::string>& command,
                           const std::vector<std::string>& environment,
                           const std::string& working_directory);

}  // namespace fairlead::run
