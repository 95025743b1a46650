// The subcommands of `fairlead`, a file each. Every function declares its options, help and
// examples on `app`, and sets `exit_code` when its subcommand runs.
#pragma once
#include <CLI/App.hpp>
#include <string>

#include "tools/fairlead/json.h"

namespace fairlead::tools {

// Exit code of a command line, platform, implementation or file that cannot be used as asked.
constexpr int kUsageExitCode = 2;
// Exit code of a command that SIGINT or SIGTERM ended before its runs were through.
constexpr int kInterruptedExitCode = 130;

void add_run(CLI::App& app, int& exit_code);
void add_compare(CLI::App& app, int& exit_code);
void add_sweep(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app, int& exit_code);
void add_reproduce(CLI::App& app, int& exit_code);
void add_platforms(CLI::App& app, int& exit_code);
void add_info(CLI::App& app, int& exit_code);
void add_trace(CLI::App& app, int& exit_code);
void add_ps(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
// Not for users, and not in the help: what `run --hosts` starts on each host.
void add_node_agent(CLI::App& app, int& exit_code);
// Likewise: what ranks start as in a job of several programs (programs.h).
void add_rank_program(CLI::App& app, int& exit_code);

// The results document of `fairlead reproduce all` (`quick`: --quick), which measures what is not
// kept. Returns an exit code; another than 0 once it has said why there is no document.
int make_results(bool quick, Json& made);

// Prints "fairlead: text" on the standard error stream.
void complain(const std::string& text);

}  // namespace fairlead::tools
