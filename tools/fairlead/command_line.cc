#include "tools/fairlead/command_line.h"

#include <fmt/format.h>

#include <CLI/Option.hpp>
#include <cstddef>
#include <string_view>

#include "tools/fairlead/help_format.h"
#include "tools/fairlead/world_options.h"

namespace fairlead::tools {
namespace {

const CLI::App* subcommand(const CLI::App& app, std::string_view name) {
  for (const CLI::App* sub : app.get_subcommands({})) {
    if (sub->get_name() == name) return sub;
  }
  return nullptr;
}

Error is_empty(std::string_view option) {
  return Error{fmt::format("{}: its value is empty; leave the option out, or give it one", option)};
}

}  // namespace

bool takes_value(const CLI::Option* option) {
  return option != nullptr && option->get_expected_min() > 0 && option->get_type_size() > 0;
}

Result<std::vector<std::string>> prepare_words(const CLI::App& app,
                                               std::vector<std::string> words) {
  const CLI::App* at = &app;
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::string& word = words[i];
    if (word == "-np" && at->get_option_no_throw("-n") != nullptr) word = "-n";
    if (word == "--") {
      // Before a program it says what the program's place says already. Elsewhere CLI11 takes it.
      if (!at->get_prefix_command()) break;
      if (i + 1 < words.size() && words[i + 1].starts_with('-')) {
        return Error{fmt::format("--: a program is to follow, and not {}", words[i + 1])};
      }
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
    if (!word.starts_with('-') || word == "-") {
      const CLI::App* const sub = subcommand(*at, word);
      if (sub != nullptr) at = sub;
      if (sub == nullptr && at->get_prefix_command()) break;  // the program, and what is its own
      continue;
    }
    const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    const CLI::Option* const option = at->get_option_no_throw(name);
    if (option == nullptr) {
      if (!word.starts_with("-h") || word == "-h") continue;
      return Error{
          fmt::format("{} has no option {}; it has {}", path_of(*at), word, option_names(*at))};
    }
    if (equals != std::string::npos) {
      if (equals + 1 == word.size()) return is_empty(name);
    } else if (takes_value(option)) {
      if (i + 1 < words.size() && words[i + 1].empty()) return is_empty(name);
      ++i;
    }
  }
  return words;
}

}  // namespace fairlead::tools
