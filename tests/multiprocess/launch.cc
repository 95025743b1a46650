// The smallest command on run/launch/launcher.h, for tests of start-up and failure without the
// parsing of a command line: launch [-n RANKS] [-x VAR[=value]] [--wdir DIR] [--timeout-ms N]
// [--label]
// [--bind WHAT] [--on WHERE] [--provider NAME] [--faults PLAN] [--body fiber|process] PROGRAM
// [ARGUMENT...]
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "fairlead/run/launch/launcher.h"

int main(int argc, char** argv) {
  using namespace fairlead;
  run::LaunchOptions options;
  int at = 1;
  for (; at + 1 < argc; at += 2) {
    const std::string_view name = argv[at];
    const std::string value = argv[at + 1];
    if (name == "-n") {
      options.world.ranks = static_cast<std::uint32_t>(std::stoul(value));
    } else if (name == "-x") {
      options.environment.push_back(value);
    } else if (name == "--wdir") {
      options.working_directory = value;
    } else if (name == "--timeout-ms") {
      options.world.timeout = milliseconds(std::stol(value));
    } else if (name == "--bind") {
      options.world.bind = value;
    } else if (name == "--on") {
      options.world.on = value;
    } else if (name == "--provider") {
      options.world.provider = value;
    } else if (name == "--faults") {
      options.world.faults = value;
    } else if (name == "--body") {
      options.body = value == "fiber" ? run::BodyKind::fiber : run::BodyKind::process;
    } else if (name == "--label") {
      options.label = true;
      --at;
    } else {
      break;
    }
  }
  for (; at < argc; ++at) options.command.push_back(argv[at]);
  const Result<run::RunReport> report = run::launch(options);
  if (!report.ok()) {
    fmt::print(stderr, "fairlead: {}\n", report.error().text);
    return 2;
  }
  if (!report.value().failure.empty()) {
    fmt::print(stderr, "fairlead: {}\n", report.value().failure);
  }
  return report.value().exit_code;
}
