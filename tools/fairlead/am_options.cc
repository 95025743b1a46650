#include "tools/fairlead/am_options.h"

#include <cstdlib>

#include "fairlead/systems/am/implementation.h"

namespace fairlead::tools {

void add_am_option(CLI::App& app, std::string& choice) {
  app.add_option("--am", choice,
                 "What carries Active Messages: direct, packets of the Port, or amvia, virtual "
                 "interfaces (default: direct)")
      ->type_name("NAME");
}

Result<std::vector<std::string>> set_am_option(const std::string& choice) {
  const char* const before = std::getenv(am::kImplementationVariable);
  const auto checked = am::implementation_of(choice.empty() && before != nullptr ? before : choice);
  if (!checked.ok()) return checked.error();
  if (choice.empty()) return std::vector<std::string>{};
  setenv(am::kImplementationVariable, choice.c_str(), 1);
  return std::vector<std::string>{std::string(am::kImplementationVariable) + "=" + choice};
}

}  // namespace fairlead::tools
