#include "tools/fairlead/handler_option.h"

#include <fmt/format.h>

#include <CLI/Option.hpp>
#include <CLI/Validators.hpp>

#include "fairlead/hw/host_params.h"
#include "fairlead/run/option_table.h"

namespace fairlead::tools {
namespace {
constexpr const char* kName = "--handler";
constexpr const char* kOther = "other";
}  // namespace

void add_handler_option(CLI::App& app, WorldChoice& choice) {
  app.add_option(kName, choice.handler,
                 "Processor of a modelled node that serves what interrupts a rank: same, the "
                 "rank's, or other, one beside it; without it the other where the platform has one")
      ->type_name("WHICH")
      ->check(CLI::IsMember({"same", kOther}));
}

Result<void> check_handler(const WorldChoice& choice, const std::vector<std::string>& places) {
  if (choice.handler.empty()) return {};
  for (const std::string& place : places) {
    if (run::is_modelled(place)) continue;
    return run::not_modelled(kName, place, "infiniband-pcix");
  }
  return {};
}

std::string handler_number(const std::string& handler) {
  const auto number = handler == kOther ? hw::HostParams::kOther : hw::HostParams::kSame;
  return fmt::format("host.handler={}", static_cast<unsigned>(number));
}

}  // namespace fairlead::tools
