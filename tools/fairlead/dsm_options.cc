#include "tools/fairlead/dsm_options.h"

#include <cstdlib>

#include "fairlead/systems/dsm/protocol.h"

namespace fairlead::tools {

void add_dsm_options(CLI::App& app, DsmChoice& choice) {
  app.add_option("--dsm-protocol", choice.protocol,
                 "How pages of shared memory move: newgen-full (default), newgen, async, or a way "
                 "to fetch and one to write changes: ardmar+async, async+draw, async+draw-full")
      ->type_name("NAME");
  app.add_flag("--dsm-faithful", choice.faithful,
               "The protocol as its paper has it, where Fairlead's default does better");
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
