#include "tools/fairlead/dsm_options.h"

#include <cstdlib>

#include "fairlead/systems/dsm/protocol.h"

namespace fairlead::tools {

namespace {

constexpr const char kProtocolHelp[] =
    "How pages of shared memory move: newgen-full (default), newgen, async, or a way to fetch and "
    "one to write changes: ardmar+async, async+draw, async+draw-full";

void add_faithful(CLI::App& app, bool& faithful) {
  app.add_flag("--dsm-faithful", faithful,
               "The protocol as its paper has it, where Fairlead's default does better");
}

}  // namespace

void add_dsm_options(CLI::App& app, DsmChoice& choice) {
  app.add_option("--dsm-protocol", choice.protocol, kProtocolHelp)->type_name("NAME");
  add_faithful(app, choice.faithful);
}

void add_dsm_options(CLI::App& app, DsmChoices& choices) {
  app.add_option("--dsm-protocol", choices.protocols,
                 std::string(kProtocolHelp) + "; comma separated, all: every one")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
  add_faithful(app, choices.faithful);
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
  return variables;
}

}  // namespace fairlead::tools
