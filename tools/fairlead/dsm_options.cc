#include "tools/fairlead/dsm_options.h"

#include <cstdlib>
#include <filesystem>

#include "fairlead/systems/dsm/protocol.h"

namespace fairlead::tools {

namespace {

constexpr const char kProtocolHelp[] =
    "How pages of shared memory move: newgen-full (default), newgen, async, or a way to fetch and "
    "one to write changes: ardmar+async, async+draw, async+draw-full";

template <class Choice>
void add_others(CLI::App& app, Choice& choice) {
  app.add_flag("--dsm-faithful", choice.faithful,
               "The protocol as its paper has it, where Fairlead's default does better");
  app.add_flag("--dsm-migrate", choice.migrate,
               "A page of shared memory that one rank alone writes again and again has its home "
               "there from then on");
}

}  // namespace

void add_dsm_options(CLI::App& app, DsmChoice& choice) {
  app.add_option("--dsm-protocol", choice.protocol, kProtocolHelp)->type_name("NAME");
  add_others(app, choice);
}

void add_dsm_options(CLI::App& app, DsmChoices& choices) {
  app.add_option("--dsm-protocol", choices.protocols,
                 std::string(kProtocolHelp) + "; comma separated, all: every one")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
  add_others(app, choices);
}

Result<std::vector<std::string>> dsm_protocols(const DsmChoices& choices) {
  if (choices.protocols == std::vector<std::string>{"all"}) {
    std::vector<std::string> all;
    for (const dsm::ProtocolName& each : dsm::kProtocolNames) all.emplace_back(each.name);
    return all;
  }
  for (const std::string& name : choices.protocols) {
    if (const auto checked = dsm::protocol_of(name); !checked.ok()) return checked.error();
  }
  return choices.protocols.empty() ? std::vector<std::string>{""} : choices.protocols;
}

std::string dsm_variable(const std::string& protocol) {
  return std::string(dsm::kProtocolVariable) + "=" + protocol;
}

Result<std::vector<std::string>> set_dsm_options(const DsmChoice& choice) {
  const char* const before = std::getenv(dsm::kProtocolVariable);
  const auto checked =
      dsm::protocol_of(choice.protocol.empty() && before != nullptr ? before : choice.protocol);
  if (!checked.ok()) return checked.error();
  std::vector<std::string> variables;
  const auto set = [&variables](const char* name, const std::string& value) {
    setenv(name, value.c_str(), 1);
    variables.push_back(std::string(name) + "=" + value);
  };
  if (!choice.protocol.empty()) set(dsm::kProtocolVariable, choice.protocol);
  if (choice.faithful) set(dsm::kFaithfulVariable, "1");
  if (choice.migrate) set(dsm::kMigrateVariable, "1");
  return variables;
}

void add_dsm_watch_options(CLI::App& app, DsmWatchChoice& choice) {
  app.add_flag(
      "--dsm-profile{-}", choice.profile,
      "Print a profile of page-based shared memory at the end: faults, fetches and changes "
      "by page and source line, false sharing; --dsm-profile=FILE writes it as JSON");
  app.add_flag(
      "--dsm-races", choice.races,
      "Tell at the end which bytes of page-based shared memory several ranks wrote with no "
      "lock or barrier between them, and where");
}

std::vector<std::string> set_dsm_watch_options(const DsmWatchChoice& choice) {
  std::string profile = choice.profile;
  if (!profile.empty() && profile != "-") {
    std::error_code ignored;
    if (const auto whole = std::filesystem::absolute(profile, ignored); !whole.empty()) {
      profile = whole.string();
    }
  }
  std::vector<std::string> variables;
  for (const auto& [name, value] :
       {std::pair(dsm::kProfileVariable, profile),
        std::pair(dsm::kRacesVariable, std::string(choice.races ? "1" : ""))}) {
    if (value.empty()) continue;
    setenv(name, value.c_str(), 1);
    variables.push_back(std::string(name) + "=" + value);
  }
  return variables;
}

void end_dsm_watch() {
  unsetenv(dsm::kProfileVariable);
  unsetenv(dsm::kRacesVariable);
}

}  // namespace fairlead::tools
