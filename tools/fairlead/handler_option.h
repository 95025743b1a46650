// --handler: which processor of a modelled node serves what interrupts a rank, for every subcommand
// that runs a job.
#pragma once
#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "fairlead/base/result.h"
#include "tools/fairlead/world_options.h"

namespace fairlead::tools {

// --handler same|other: goes before the numbers that --set gives, as host.handler.
void add_handler_option(CLI::App& app, WorldChoice& choice);

// Error: --handler, and one of `places` is real. Whether a platform has interrupts, and a processor
// for the handler, it says when the job starts.
Result<void> check_handler(const WorldChoice& choice, const std::vector<std::string>& places);

// "host.handler=1": what `handler`, "same" or "other", stands for.
std::string handler_number(const std::string& handler);

}  // namespace fairlead::tools
