// fairlead: runs parallel programs for real and on modelled clusters, and measures both.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/run/hosts/node_agent.h"
#include "tools/fairlead/build_facts.h"
#include "tools/fairlead/command_line.h"
#include "tools/fairlead/commands.h"
#include "tools/fairlead/help_format.h"
#include "tools/fairlead/mpirun_words.h"
#include "tools/fairlead/programs.h"
#include "tools/fairlead/world_options.h"

namespace fairlead::tools {

void complain(const std::string& text) { fmt::print(stderr, "fairlead: {}\n", text); }

namespace {

const char kExamples[] =
    "Examples:\n"
    "  fairlead run -n 4 ./prog                      run on this machine\n"
    "  fairlead run -n 64 --on myrinet-p3 ./prog     run the same binary on a modelled cluster\n"
    "  fairlead compare -n 64 --on myrinet-ppro,myrinet-p3 --lci all ./prog\n"
    "  fairlead bench logp --on myrinet-p3 --lci pio\n"
    "  fairlead COMMAND --help                       options and examples of a command";

// The innermost subcommand that the command line got to.
const CLI::App& deepest(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : deepest(*parsed.back());
}

// What was wrong, and what would have been right.
std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& at = deepest(app);
  const std::vector<std::string> commands = command_names(at);
  const std::vector<std::string> extras = app.remaining(true);
  std::string text;
  if (!extras.empty() && extras[0][0] == '-') {
    text = fmt::format("{} has no option {}; it has {}", path_of(at), extras[0], option_names(at));
  } else if (!commands.empty()) {
    text = extras.empty() ? fmt::format("{} needs a command", path_of(at))
                          : fmt::format("{} has no command {}", path_of(at), extras[0]);
    text += fmt::format("; there are {}", fmt::join(commands, ", "));
  } else {
    text = error.what();
  }
  return text + fmt::format("\nTry: {} --help", path_of(at));
}

// All of them, or the one that is named: setting up everybody's options takes as long as starting a
// rank.
void add_commands(CLI::App& app, std::string_view named, int& exit_code) {
  struct Command {
    std::string_view name;
    void (*add)(CLI::App&, int&);
  };
  constexpr Command kCommands[] = {
      {"run", add_run},
      {"compare", add_compare},
      {"sweep", add_sweep},
      {"bench", add_bench},
      {"reproduce", add_reproduce},
      {"platforms", add_platforms},
      {"info", add_info},
      {"trace", add_trace},
      {"ps", add_ps},
      {"report", add_report},
      {run::kAgentCommand, add_node_agent},
      {kRankCommand, add_rank_program},
  };
  const bool known = std::any_of(std::begin(kCommands), std::end(kCommands),
                                 [&](const Command& command) { return command.name == named; });
  for (const Command& command : kCommands) {
    if (!known || command.name == named) command.add(app, exit_code);
  }
}

// The command line of `fairlead run` that one of an mpirun comes to, `given` with "run" in its
// place; what is left out is said. Prepares `run` for what only an mpirun is asked.
Result<std::vector<std::string>> translated_words(CLI::App& run,
                                                  const std::vector<std::string>& given) {
  run.set_version_flag("--version", fmt::format("mpirun of Fairlead {} ({})", kVersion, kCommit));
  run.footer(mpirun_help());
  Result<MpirunWords> made = mpirun_words(run, {given.begin() + 2, given.end()});
  if (!made.ok()) return made.error();
  for (const std::string& note : made.value().notes) complain(note);
  std::vector<std::string> words{given[0], given[1]};
  words.insert(words.end(), made.value().words.begin(), made.value().words.end());
  return words;
}

int run_command(int argc, char** argv) {
  int exit_code = 0;
  CLI::App app("Runs parallel programs over a network, real or modelled.", "fairlead");
  app.set_version_flag("--version", fmt::format("fairlead {} ({})", kVersion, kCommit));
  app.footer(kExamples);
  app.require_subcommand(1);
  app.formatter(std::make_shared<HelpFormat>());
  std::vector<std::string> given(argv, argv + argc);
  const bool as_mpirun = given.size() > 1 && given[1] == kMpirunCommand;
  if (as_mpirun) given[1] = "run";
  add_commands(app, given.size() > 1 ? given[1] : "", exit_code);
  if (as_mpirun) {
    const Result<std::vector<std::string>> translated =
        translated_words(*app.get_subcommand("run"), given);
    if (!translated.ok()) {
      complain(translated.error().text);
      return kUsageExitCode;
    }
    given = translated.value();
  }
  group_options(app);
  const Result<std::vector<std::string>> words = prepare_words(app, std::move(given));
  if (!words.ok()) {
    complain(words.error().text);
    return kUsageExitCode;
  }
  std::vector<const char*> arguments;
  for (const std::string& word : words.value()) arguments.push_back(word.c_str());
  try {
    app.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::Success& help) {
    exit_code = app.exit(help);
  } catch (const CLI::ParseError& error) {
    complain(explain(app, error));
    return kUsageExitCode;
  } catch (const std::exception& failure) {
    // Printing throws where it fails at once; and memory may be short.
    complain(failure.what());
    return 1;
  }
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
  complain(fmt::format("the standard output cannot be written: {}", std::strerror(errno)));
  return exit_code != 0 ? exit_code : 1;
}

}  // namespace
}  // namespace fairlead::tools

int main(int argc, char** argv) { return fairlead::tools::run_command(argc, argv); }
