#include "fairlead/run/job/program_path.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "fairlead/run/wire/bootstrap.h"

namespace fairlead::run {
namespace {

bool runnable(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

Error cannot_run(const std::string& name, const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    return Error{
        fmt::format("cannot run {}: {}; give the path of a program", name, std::strerror(errno))};
  }
  if (S_ISDIR(info.st_mode)) return Error{fmt::format("cannot run {}: it is a directory", name)};
  return Error{fmt::format("cannot run {}: not executable; try chmod +x {}", name, path)};
}

bool sets(const std::string& entry, const std::string& name) {
  return entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name);
}

}  // namespace

Result<std::string> find_program(const std::string& name, const std::string& working_directory) {
  if (name.empty()) return Error{"no program was given; try: fairlead run -n 2 ./prog"};
  if (name.find('/') != std::string::npos) {
    if (name.front() != '/' && !working_directory.empty()) {
      // Absolute, because the rank changes its directory first.
      std::error_code ignored;
      const std::string there = std::filesystem::absolute(working_directory, ignored) / name;
      if (runnable(there)) return there;
      const std::string here = std::filesystem::absolute(name, ignored);
      if (runnable(here)) return here;
      return cannot_run(name, there);
    }
    if (runnable(name)) return name;
    return cannot_run(name, name);
  }
  const char* path = std::getenv("PATH");
  std::string directories = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  for (std::size_t at = 0; at <= directories.size();) {
    const std::size_t end = std::min(directories.find(':', at), directories.size());
    const std::string candidate = directories.substr(at, end - at) + "/" + name;
    if (end > at && runnable(candidate)) return candidate;
    at = end + 1;
  }
  const char* advice = runnable("./" + name) ? "; it is in this directory: write ./" : "";
  return Error{fmt::format("cannot run {}: no such program along PATH{}{}", name, advice,
                           *advice != '\0' ? name : "")};
}

Result<std::vector<std::string>> rank_environment(const std::vector<std::string>& changes) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  for (const char* ours : {kBootstrapVariable, kRankVariable, kRanksVariable, kProgramVariable}) {
    std::erase_if(environment, [&](const std::string& entry) { return sets(entry, ours); });
  }
  for (const std::string& change : changes) {
    const std::size_t equals = change.find('=');
    const std::string name = change.substr(0, equals);
    if (name.empty()) return Error{fmt::format("-x {}: write -x VAR or -x VAR=value", change)};
    if (equals == std::string::npos) {
      if (std::getenv(name.c_str()) == nullptr) {
        return Error{fmt::format("-x {}: not set here; write -x {}=value", name, name)};
      }
      continue;  // ranks have this process's environment
    }
    std::erase_if(environment, [&](const std::string& entry) { return sets(entry, name); });
    environment.push_back(change);
  }
  return environment;
}

Result<ExecPlan> plan_exec(const std::vector<std::string>& command,
                           const std::vector<std::string>& environment,
                           const std::string& working_directory) {
  if (command.empty()) return Error{"no program was given; try: fairlead run -n 2 ./prog"};
  if (!working_directory.empty()) {
    std::error_code error;
    if (!std::filesystem::is_directory(working_directory, error)) {
      return Error{fmt::format("--wdir {}: {}", working_directory,
                               error ? error.message() : "not a directory")};
    }
  }
  Result<std::string> program = find_program(command.front(), working_directory);
  if (!program.ok()) return program.error();
  Result<std::vector<std::string>> variables = rank_environment(environment);
  if (!variables.ok()) return variables.error();
  return ExecPlan{std::move(program.value()), command, std::move(variables.value()),
                  working_directory};
}

}  // namespace fairlead::run
