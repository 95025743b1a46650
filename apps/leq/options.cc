#include "apps/leq/options.h"

#include "apps/common/command_line.h"

namespace leq {

namespace {

const char kHelp[] =
    "leq: linear equations by Jacobi's method, on Orca objects.\n"
    "\n"
    "usage: fairlead run -n RANKS [--on WHERE] leq [options]\n"
    "\n"
    "options:\n"
    "  --equations N    size of the system (200)\n"
    "  --dominance D    diagonal in units of the sum of its row's others, above 1 (1.2)\n"
    "  --tolerance T    ends when no unknown changed by more (1e-10)\n"
    "  --iterations N   ends after N iterations at the latest (100000)\n"
    "  --paper          the problem of the LCI paper: 1000 equations\n"
    "  --verify         look at the residual\n"
    "  --json           print one JSON object\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 2 leq --verify\n"
    "  fairlead run -n 64 --on myrinet-ppro --lci sdma leq --paper --iterations 100\n";

}  // namespace

std::optional<int> read(int argc, char** argv, Options& options) {
  return apps::CommandLine()
      .count("--equations", 1, 100'000, options.equations)
      .valued("--dominance",
              [&options](const char* text) {
                double value = 0;
                const bool good = apps::parse_real(text, 1e6, value) && value > 1.0;
                if (good) options.dominance = value;
                return good;
              })
      .real("--tolerance", 1e6, options.tolerance)
      .count("--iterations", 1, 1'000'000'000, options.iterations_max)
      .preset("--paper",
              [&options] {
                options.equations = kPaperEquations;
                options.dominance = kPaperDominance;
              })
      .flag("--verify", options.verify)
      .flag("--json", options.json)
      .read("leq", kHelp, argc, argv);
}

}  // namespace leq
