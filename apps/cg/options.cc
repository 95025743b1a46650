#include "apps/cg/options.h"

#include "apps/common/command_line.h"

namespace cg {
namespace {

const char kHelp[] =
    "Conjugate gradients for Poisson's equation on a square grid, in Split-C, by stores.\n"
    "\n"
    "usage: cg [options]\n"
    "  --grid N         side of the grid, which has N * N unknowns (64)\n"
    "  --tolerance X    ends when the residual is so small a part of the first one (1e-10)\n"
    "  --iterations N   at most (1000)\n"
    "  --verify         check the residual of the result\n"
    "  --json           print one JSON object\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 2 cg --verify\n"
    "  fairlead run -n 16 --on myrinet-p3 cg\n";

}  // namespace

std::optional<int> read(int argc, char** argv, Options& options) {
  return apps::CommandLine()
      .count("--grid", 1, 20'000, options.grid)
      .count("--iterations", 0, 10'000'000, options.iterations)
      .real("--tolerance", 1, options.tolerance)
      .flag("--verify", options.verify)
      .flag("--json", options.json)
      .read("cg", kHelp, argc, argv);
}

}  // namespace cg
