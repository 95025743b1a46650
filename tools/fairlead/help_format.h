// How help reads: usage with what a command takes beside its options, types without their checks,
// defaults behind the description, lines that fit a page.
#pragma once
#include <CLI/App.hpp>
#include <CLI/Formatter.hpp>
#include <string>
#include <vector>

namespace fairlead::tools {

// "fairlead bench logp"
std::string path_of(const CLI::App& app);
std::vector<std::string> command_names(const CLI::App& app);

// Puts the options of a command, and of those below it, into groups: what is the command's own
// comes first, then the job, what only real runs have, faults, what only modelled ones have,
// output.
void group_options(CLI::App& app);

class HelpFormat : public CLI::Formatter {
 public:
  HelpFormat();
  std::string make_usage(const CLI::App* app, std::string name) const override;
  // A flag that may carry a file, declared as --name{default}, reads --name[=FILE].
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
};

}  // namespace fairlead::tools
