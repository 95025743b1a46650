#include "tools/fairlead/splitc_options.h"

#include <cstdlib>

#include "fairlead/systems/splitc/implementation.h"

namespace fairlead::tools {

void add_splitc_option(CLI::App& app, std::string& choice) {
  app.add_option(
         "--splitc", choice,
         "What carries Split-C programs: direct, loads and stores where memory is mapped "
         "and the Port elsewhere, amvia, Active Messages over virtual interfaces, amvia-shm, "
         "the same between nodes and loads and stores within one, via, virtual "
         "interfaces, via-unreliable, unreliable ones, or am, Active Messages in packets "
         "(default: direct). Behind the name: direct+aggregate, small stores together; via+gather, "
         "via-unreliable+gather, via+rdma, blocks without copies; via-unreliable+selective, "
         "what is lost sent again alone")
      ->type_name("NAME");
}

Result<std::vector<std::string>> set_splitc_option(const std::string& choice) {
  const char* const before = std::getenv(splitc::kImplementationVariable);
  const auto checked = splitc::choice_of(choice.empty() && before != nullptr ? before : choice);
  if (!checked.ok()) return checked.error();
  if (choice.empty()) return std::vector<std::string>{};
  setenv(splitc::kImplementationVariable, choice.c_str(), 1);
  return std::vector<std::string>{std::string(splitc::kImplementationVariable) + "=" + choice};
}

}  // namespace fairlead::tools
