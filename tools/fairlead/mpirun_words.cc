#include "tools/fairlead/mpirun_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>

#include "tools/fairlead/command_line.h"

namespace fairlead::tools {
namespace {

enum class Act {
  rename,    // `text` is run's name of it
  variable,  // its two values are a variable and what it is set to
  bind,      // "none" is run's word too; any other is what run's own choice comes to
  drop,      // run does so anyway, or has nothing that it could mean
  note,      // the same, but somebody may miss it: `text` says what there is instead
};

struct Alias {
  std::string_view names;  // without their hyphens, of which there may be one or two
  int values;
  Act act;
  const char* text;
};

constexpr Alias kAliases[] = {
    {"n np c", 1, Act::rename, "-n"},
    {"H host hosts", 1, Act::rename, "--hosts"},
    {"f hostfile machinefile", 1, Act::rename, "--hostfile"},
    {"wdir wd", 1, Act::rename, "--wdir"},
    {"l prepend-rank tag-output", 0, Act::rename, "--label"},
    {"timeout", 1, Act::rename, "--timeout"},
    {"launcher-exec bootstrap-exec", 1, Act::rename, "--rsh"},
    {"V version", 0, Act::rename, "--version"},
    {"env genv", 2, Act::variable, "-x"},
    {"bind-to binding", 1, Act::bind, "--bind"},
    {"oversubscribe allow-run-as-root use-hwthread-cpus q quiet v verbose genvall envall "
     "print-rank-map",
     0, Act::drop, ""},
    {"genvlist envlist prefix", 1, Act::drop, ""},
    {"map-by rank-by", 1, Act::note, "ranks fill one host after the other"},
    {"bynode bycore byslot bind-to-core nooversubscribe report-bindings", 0, Act::note,
     "--bind and --hosts say where ranks go"},
    {"ppn perhost N npernode", 1, Act::note,
     "how many ranks a host takes is said by --hosts a:2,b:2, and of a modelled platform by "
     "--ranks-per-node"},
    {"mca gmca pmca prtemca pmixmca", 2, Act::note, "a parameter of Open MPI's own"},
};

bool has_name(const Alias& alias, std::string_view word) {
  const std::string_view name = word.substr(word.starts_with("--") ? 2 : 1);
  for (std::string_view left = alias.names; !left.empty();) {
    const std::size_t end = std::min(left.find(' '), left.size());
    if (left.substr(0, end) == name) return true;
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return false;
}

class Translation {
 public:
  Translation(const CLI::App& run, const std::vector<std::string>& words)
      : run_(run), words_(words) {}

  Result<MpirunWords> made() {
    while (at_ < words_.size()) {
      const std::string& word = words_[at_++];
      if (in_program_ || !word.starts_with('-') || word == "-") {
        in_program_ = word != ":";
        made_.words.push_back(word);
      } else if (Result<void> done = option(word); !done.ok()) {
        return done.error();
      }
    }
    return std::move(made_);
  }

 private:
  Result<void> option(const std::string& word) {
    const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    if (const CLI::Option* const own = run_.get_option_no_throw(name); own != nullptr) {
      made_.words.push_back(word);
      if (takes_value(own) && equals == std::string::npos) keep(1);
      return {};
    }
    const Alias* const alias = std::find_if(std::begin(kAliases), std::end(kAliases),
                                            [&](const Alias& one) { return has_name(one, name); });
    if (alias == std::end(kAliases)) {
      made_.words.push_back(word);
      return {};
    }
    std::vector<std::string> values;
    if (equals != std::string::npos) values.push_back(word.substr(equals + 1));
    while (values.size() < static_cast<std::size_t>(alias->values)) {
      if (at_ == words_.size()) return Error{fmt::format("{}: its value is missing", name)};
      values.push_back(words_[at_++]);
    }
    act(*alias, name, values);
    return {};
  }

  void act(const Alias& alias, const std::string& name, const std::vector<std::string>& values) {
    switch (alias.act) {
      case Act::rename:
        made_.words.emplace_back(alias.text);
        made_.words.insert(made_.words.end(), values.begin(), values.end());
        break;
      case Act::variable:
        made_.words.insert(made_.words.end(),
                           {alias.text, fmt::format("{}={}", values[0], values[1])});
        break;
      case Act::bind:
        if (values[0] == "none") made_.words.insert(made_.words.end(), {alias.text, values[0]});
        break;
      case Act::drop:
        break;
      case Act::note:
        made_.notes.push_back(fmt::format("{}{}{} is left out: {}", name, values.empty() ? "" : " ",
                                          fmt::join(values, " "), alias.text));
        break;
    }
  }

  void keep(std::size_t count) {
    for (; count > 0 && at_ < words_.size(); --count) made_.words.push_back(words_[at_++]);
  }

  const CLI::App& run_;
  const std::vector<std::string>& words_;
  std::size_t at_ = 0;
  bool in_program_ = false;
  MpirunWords made_;
};

}  // namespace

Result<MpirunWords> mpirun_words(const CLI::App& run, const std::vector<std::string>& words) {
  return Translation(run, words).made();
}

std::string mpirun_help() {
  std::string text = "Options of other launchers, with one hyphen or two:\n";
  for (const Alias& alias : kAliases) {
    std::string names;
    for (const char c : alias.names) names += c == ' ' ? ", -" : std::string(1, c);
    const std::string what = alias.act == Act::drop   ? "is so anyway, or means nothing here"
                             : alias.act == Act::note ? "is left out, and that is said"
                                                      : fmt::format("as {}", alias.text);
    text += fmt::format("  -{}\n      {}\n", names, what);
  }
  return text;
}

}  // namespace fairlead::tools
