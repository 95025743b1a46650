#include "apps/barnes/options.h"

#include <string>

#include "apps/common/command_line.h"

namespace barnes {
namespace {

std::string help_of(const Program& program) {
  return std::string(program.purpose) + "\nusage: " + program.name +
         " [options]\n"
         "  --bodies N       bodies of the galaxy (1024)\n"
         "  --steps N        steps of time (2)\n"
         "  --theta X        a cell smaller than X times its distance counts as one body; 0: none "
         "(0.8)\n"
         "  --step X         length of a step (0.025)\n"
         "  --paper          " +
         program.of_paper +
         "\n"
         "  --verify         compare the forces after the last step with those of all pairs\n"
         "  --json           print one JSON object\n"
         "\n"
         "examples:\n" +
         program.examples;
}

}  // namespace

std::optional<int> read(const Program& program, int argc, char** argv, Options& options) {
  const std::string help = help_of(program);
  return apps::CommandLine()
      .count("--bodies", 1, 10'000'000, options.bodies)
      .count("--steps", 0, 1'000'000, options.steps)
      .real("--theta", 1.5, options.theta)
      .real("--step", 1e6, options.step)
      .preset("--paper",
              [&options, &program] {
                options.bodies = program.paper.bodies;
                options.steps = program.paper.steps;
                options.theta = program.paper.theta;
              })
      .flag("--verify", options.verify)
      .flag("--json", options.json)
      .read(program.name, help.c_str(), argc, argv);
}

}  // namespace barnes
