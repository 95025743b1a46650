#include "tools/fairlead/programs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <system_error>

#include "fairlead/base/numbers.h"
#include "fairlead/run/job/program_path.h"
#include "fairlead/run/wire/bootstrap.h"
#include "tools/fairlead/commands.h"

namespace fairlead::tools {
namespace {

constexpr std::uint32_t kRanksMax = 1u << 20;  // as for --ranks

// Reads what command_of() wrote: numbers, and lists of words behind their lengths.
class Words {
 public:
  explicit Words(const std::vector<std::string>& words) : words_(words) {}

  std::string text() { return at_ < words_.size() ? words_[at_++] : ""; }
  std::uint32_t number() { return whole_number<std::uint32_t>(text()).value_or(0); }
  std::vector<std::string> list() {
    const std::size_t count = std::min<std::size_t>(number(), words_.size() - at_);
    const auto first = words_.begin() + static_cast<std::ptrdiff_t>(at_);
    at_ += count;
    return {first, first + static_cast<std::ptrdiff_t>(count)};
  }

 private:
  const std::vector<std::string>& words_;
  std::size_t at_ = 0;
};

void append(std::vector<std::string>& words, const std::vector<std::string>& list) {
  words.push_back(fmt::format("{}", list.size()));
  words.insert(words.end(), list.begin(), list.end());
}

std::string absolute(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::absolute(path, ignored).string();
}

// The options of a further program. Returns where its command begins.
Result<std::size_t> read_options(const std::vector<std::string>& words, Program& program) {
  std::size_t at = 0;
  for (; at < words.size() && words[at].starts_with('-'); at += 2) {
    const std::string& name = words[at];
    const bool known =
        name == "-n" || name == "-np" || name == "--ranks" || name == "-x" || name == "--wdir";
    if (!known) {
      return Error{
          fmt::format("behind \":\" there are -n, -x and --wdir, and not {}: what is the "
                      "job's stands before the first program",
                      name)};
    }
    if (at + 1 == words.size()) return Error{fmt::format("{}: its value is missing", name)};
    const std::string& value = words[at + 1];
    if (name == "-x") {
      program.variables.push_back(value);
    } else if (name == "--wdir") {
      program.directory = value;
    } else {
      program.ranks = whole_number<std::uint32_t>(value, {1, kRanksMax}).value_or(0);
      if (program.ranks == 0) {
        return Error{fmt::format("{} {}: must be a whole number from 1 to 2^20", name, value)};
      }
    }
  }
  return at;
}

Result<void> settle(Program& program, const std::string& directory) {
  if (program.command.empty()) return Error{"a program is missing behind \":\""};
  if (program.ranks == 0) {
    return Error{fmt::format("{}: of several programs each needs its -n", program.command[0])};
  }
  std::string from = directory;
  if (!program.directory.empty()) {
    std::error_code error;
    if (!std::filesystem::is_directory(program.directory, error)) {
      return Error{fmt::format("--wdir {}: {}", program.directory,
                               error ? error.message() : "not a directory")};
    }
    program.directory = from = absolute(program.directory);
  }
  // Checks the variables, too: those without a value must be set here.
  auto checked = run::rank_environment(program.variables);
  if (!checked.ok()) return checked.error();
  std::erase_if(program.variables, [](const std::string& variable) {
    return variable.find('=') == std::string::npos;
  });
  Result<std::string> found = run::find_program(program.command[0], from);
  if (!found.ok()) return found.error();
  program.path = absolute(found.value());
  return {};
}

// Only comes back where it failed.
int become(const std::vector<std::string>& given) {
  const char* const text = std::getenv(run::kRankVariable);
  const auto rank = whole_number<std::uint32_t>(text != nullptr ? text : "");
  Words words(given);
  std::uint32_t first = 0;
  const std::uint32_t programs = words.number();
  for (std::uint32_t number = 0; rank && number < programs; ++number) {
    const std::uint32_t ranks = words.number();
    const std::vector<std::string> variables = words.list();
    const std::string directory = words.text();
    const std::string path = words.text();
    const std::vector<std::string> command = words.list();
    first += ranks;
    if (*rank >= first || command.empty()) continue;
    for (const std::string& variable : variables) {
      const std::size_t equals = variable.find('=');
      ::setenv(variable.substr(0, equals).c_str(), variable.c_str() + equals + 1, 1);
    }
    ::setenv(run::kProgramVariable, fmt::format("{}", number).c_str(), 1);
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    if (directory.empty() || ::chdir(directory.c_str()) == 0) {
      ::execv(path.c_str(), arguments.data());
    }
    complain(fmt::format("rank {} could not run {}: {}", *rank, path, std::strerror(errno)));
    return 127;  // as shells have it
  }
  complain(fmt::format("{} is what `fairlead run` starts for each rank of several programs",
                       kRankCommand));
  return kUsageExitCode;
}

}  // namespace

Result<std::vector<Program>> programs_of(const std::vector<std::string>& words,
                                         std::uint32_t first_ranks, const std::string& directory) {
  std::vector<Program> programs;
  for (std::size_t begin = 0; begin <= words.size();) {
    const auto end =
        std::find(words.begin() + static_cast<std::ptrdiff_t>(begin), words.end(), ":");
    Program program;
    program.command.assign(words.begin() + static_cast<std::ptrdiff_t>(begin), end);
    if (begin == 0) {
      program.ranks = first_ranks;
    } else {
      const Result<std::size_t> options = read_options(program.command, program);
      if (!options.ok()) return options.error();
      program.command.erase(program.command.begin(),
                            program.command.begin() + static_cast<std::ptrdiff_t>(options.value()));
    }
    begin = static_cast<std::size_t>(end - words.begin()) + 1;
    programs.push_back(std::move(program));
  }
  if (programs.size() == 1) return programs;
  std::uint64_t ranks = 0;
  for (Program& program : programs) {
    if (Result<void> settled = settle(program, directory); !settled.ok()) return settled.error();
    ranks += program.ranks;
  }
  if (ranks > kRanksMax) {
    return Error{fmt::format("the programs have {} ranks, and a job at most {}", ranks, kRanksMax)};
  }
  return programs;
}

Result<std::vector<std::string>> command_of(const std::vector<Program>& programs) {
  if (programs.size() == 1) return programs[0].command;
  std::error_code error;
  std::vector<std::string> words{std::filesystem::read_symlink("/proc/self/exe", error).string(),
                                 kRankCommand, fmt::format("{}", programs.size())};
  if (error) return Error{fmt::format("where this program is: {}", error.message())};
  for (const Program& program : programs) {
    words.push_back(fmt::format("{}", program.ranks));
    append(words, program.variables);
    words.push_back(program.directory);
    words.push_back(program.path);
    append(words, program.command);
  }
  return words;
}

void add_rank_program(CLI::App& app, int& exit_code) {
  auto* become_it = app.add_subcommand(kRankCommand, "");
  become_it->group("");  // hidden
  become_it->prefix_command();
  become_it->callback([become_it, &exit_code] { exit_code = become(become_it->remaining()); });
}

}  // namespace fairlead::tools
