#include "apps/sor/options.h"

#include "apps/common/command_line.h"

namespace sor {

namespace {

const char kHelp[] =
    "Red-black successive over-relaxation on a matrix shared out by rows.\n"
    "\n"
    "usage: sor [options]\n"
    "  --rows N         rows of the matrix (1536)\n"
    "  --columns N      columns of the matrix (1536)\n"
    "  --omega X        relaxation factor, 0 < X < 2 (1.5)\n"
    "  --tolerance X    stop when no cell changes by more than X (0.00245)\n"
    "  --iterations N   stop after N iterations at the latest (10000)\n"
    "  --overlap        send border rows before the rest of the rows is computed\n"
    "  --looks N        with --overlap: look N times meanwhile for what has come (0)\n"
    "  --verify         compare with the sequential run: same iterations, same bits\n"
    "  --json           print one JSON object\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 2 sor --verify\n"
    "  fairlead run -n 64 --on myrinet-p3 --lci pio sor\n";

constexpr std::int64_t kCountMax = 1'000'000;

}  // namespace

std::optional<int> read(int argc, char** argv, Options& options) {
  return apps::CommandLine()
      .count("--rows", 3, kCountMax, options.rows)
      .count("--columns", 3, kCountMax, options.columns)
      .real("--omega", 2.0, options.omega)
      .real("--tolerance", 1e300, options.tolerance)
      .count("--iterations", 1, kCountMax, options.iterations_max)
      .flag("--overlap", options.overlap)
      .count("--looks", 0, kCountMax, options.looks)
      .flag("--verify", options.verify)
      .flag("--json", options.json)
      .read("sor", kHelp, argc, argv);
}

}  // namespace sor
