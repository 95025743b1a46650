#include "tools/fairlead/help_format.h"

#include <CLI/Option.hpp>
#include <algorithm>
#include <sstream>
#include <string_view>
#include <vector>

#include "fairlead/run/option_table.h"

namespace fairlead::tools {

namespace {

constexpr std::size_t kColumn = 26;
constexpr std::size_t kWidth = 100;

std::string wrapped(const std::string& text) {
  std::istringstream words(text);
  std::string lines;
  std::size_t column = kColumn;
  for (std::string word; words >> word;) {
    if (column != kColumn && column + 1 + word.size() > kWidth) {
      lines += '\n';  // the library indents
      column = kColumn;
    } else if (column != kColumn) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
  }
  return lines;
}

const char* name_of(run::OptionGroup group) {
  switch (group) {
    case run::OptionGroup::job:
      return "Job";
    case run::OptionGroup::real:
      return "Real runs";
    case run::OptionGroup::faults:
      return "Faults";
    case run::OptionGroup::modelled:
      break;
  }
  return "Modelled runs";
}

// Where a help text shows the option of that name; nullptr: on top, with what is the command's own.
const char* group_of(std::string_view name) {
  struct Group {
    const char* name;
    std::vector<std::string_view> options;
  };
  // Those that the table of a job's options does not have.
  static const Group kGroups[] = {
      {"Job", {"x", "wdir"}},
      {"Real runs", {"hosts", "hostfile", "nodes", "rsh", "show-paths", "patience", "single-copy"}},
      {"Modelled runs", {"background", "handler", "explain", "progress", "body", "no-what-if"}},
      {"Programming systems",
       {"mpi-device", "mpi-bcast", "mpi-unexpected", "splitc", "dsm-protocol", "dsm-faithful",
        "dsm-migrate", "dsm-profile", "dsm-races", "am"}},
      {"Output", {"label", "trace", "stats", "packets", "accounts", "json", "html", "output"}}};
  for (const run::JobOption& option : run::job_options()) {
    if (option.name() == name) return name_of(option.group);
  }
  for (const Group& group : kGroups) {
    if (std::find(group.options.begin(), group.options.end(), name) != group.options.end()) {
      return group.name;
    }
  }
  return nullptr;
}

}  // namespace

std::string path_of(const CLI::App& app) {
  const std::string name = app.get_name();
  return app.get_parent() == nullptr ? name : path_of(*app.get_parent()) + " " + name;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands({})) {
    if (!sub->get_group().empty()) names.push_back(sub->get_name());  // else hidden
  }
  return names;
}

void group_options(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    for (const std::string& name :
         option->get_lnames().empty() ? option->get_snames() : option->get_lnames()) {
      if (const char* group = group_of(name); group != nullptr) option->group(group);
    }
  }
  for (CLI::App* sub : app.get_subcommands({})) group_options(*sub);
}

HelpFormat::HelpFormat() { column_width(kColumn); }

std::string HelpFormat::make_usage(const CLI::App* app, std::string) const {
  std::string usage = "\nUsage: " + path_of(*app);
  if (!command_names(*app).empty()) usage += " COMMAND";
  usage += " [OPTIONS]";
  if (app->get_prefix_command()) usage += " PROGRAM [ARGUMENTS]";
  return usage + "\n";
}

std::string HelpFormat::make_option_name(const CLI::Option* option, bool is_positional) const {
  const std::string name = CLI::Formatter::make_option_name(option, is_positional);
  const std::size_t brace = name.find('{');
  return brace == std::string::npos ? name : name.substr(0, brace) + "[=FILE]";
}

std::string HelpFormat::make_option_opts(const CLI::Option* option) const {
  if (option->get_type_size() == 0) return "";
  const std::string type = option->get_type_name();
  return " " + type.substr(0, type.find(":{"));
}

std::string HelpFormat::make_option_desc(const CLI::Option* option) const {
  std::string text = option->get_description();
  if (option->get_required()) text += " (required)";
  if (!option->get_default_str().empty()) text += " [" + option->get_default_str() + "]";
  return wrapped(text);
}

}  // namespace fairlead::tools
