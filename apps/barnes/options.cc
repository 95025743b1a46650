#include "apps/barnes/options.h"

#include "apps/common/command_line.h"

namespace barnes {

namespace {

const char kHelp[] =
    "A galaxy by the Barnes-Hut algorithm, its bodies and tree in small CRL regions.\n"
    "\n"
    "usage: barnes [options]\n"
    "  --bodies N       bodies of the galaxy (1024)\n"
    "  --steps N        steps of time (2)\n"
    "  --theta X        a cell smaller than X times its distance counts as one body; 0: none "
    "(0.8)\n"
    "  --step X         length of a step (0.025)\n"
    "  --paper          the problem of the LCI paper: 16384 bodies; 4 steps, theta 0.6 (fitted)\n"
    "  --verify         compare the forces after the last step with those of all pairs\n"
    "  --json           print one JSON object\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 2 barnes --verify\n"
    "  fairlead run -n 64 --on myrinet-ppro --lci sdma barnes --paper\n";

}  // namespace

std::optional<int> read(int argc, char** argv, Options& options) {
  return apps::CommandLine()
      .count("--bodies", 1, 10'000'000, options.bodies)
      .count("--steps", 0, 1'000'000, options.steps)
      .real("--theta", 1.5, options.theta)
      .real("--step", 1e6, options.step)
      .preset("--paper",
              [&options] {
                options.bodies = kPaperBodies;
                options.steps = kPaperSteps;
                options.theta = kPaperTheta;
              })
      .flag("--verify", options.verify)
      .flag("--json", options.json)
      .read("barnes", kHelp, argc, argv);
}

}  // namespace barnes
