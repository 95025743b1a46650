// --background: traffic of another job on the nodes of a modelled platform, for every subcommand
// that runs a job.
#pragma once
#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "fairlead/base/result.h"
#include "tools/fairlead/world_options.h"

namespace fairlead::tools {

// --background PATTERN[,size=BYTES][,memory=ni|host][,load=SHARE]: what it stands for goes before
// the numbers that --set gives, as numbers of the platform's section [background].
void add_background_option(CLI::App& app, WorldChoice& choice);

// Error: --background, and one of `places` is not modelled. Whether there is such traffic on the
// job's number of nodes, the platform says when the job starts.
Result<void> check_background(const WorldChoice& choice, const std::vector<std::string>& places);

// "background.pattern=1", ..: what `text` stands for. Error: a word that it does not know, or a
// number out of range.
Result<std::vector<std::string>> read_background(const std::string& text);

}  // namespace fairlead::tools
