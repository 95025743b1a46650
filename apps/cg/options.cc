#include "apps/cg/options.h"

#include <cstdio>
#include <cstring>
#include <string>

#include "apps/common/command_line.h"

namespace cg {
namespace {

const char kHelp[] =
    "  --grid N         side of the grid, which has N * N unknowns (64)\n"
    "  --matrix NAME    grid, or random: as many unknowns, ten entries a row anywhere (grid)\n"
    "  --tolerance X    ends when the residual is so small a part of the first one (1e-10)\n"
    "  --iterations N   at most (1000)\n"
    "  --no-verify      do not check the residual of the result\n"
    "  --json           print one JSON object\n"
    "\n"
    "examples:\n";

}  // namespace

std::optional<int> read(const Front& front, int argc, char** argv, Options& options) {
  const std::string program = front.program;
  const std::string help =
      "Conjugate gradients for Poisson's equation on a square grid, or "
      "a random matrix, " +
      std::string(front.how) + ".\n\nusage: " + program + " [options]\n" + kHelp +
      "  fairlead run -n 2 " + program + "\n  fairlead run -n 16 --on myrinet-p3 " + program + "\n";
  return apps::CommandLine()
      .count("--grid", 1, 20'000, options.grid)
      .valued("--matrix",
              [&options](const char* text) {
                const bool random = std::strcmp(text, "random") == 0;
                options.matrix = random ? Matrix::random : Matrix::grid;
                return random || std::strcmp(text, "grid") == 0;
              })
      .count("--iterations", 0, 10'000'000, options.iterations)
      .real("--tolerance", 1, options.tolerance)
      .verification(options.verify)
      .flag("--json", options.json)
      .read(front.program, help.c_str(), argc, argv);
}

int report(const Options& options, const Front& front, const Outcome& outcome, bool first) {
  // Rounding leaves the residual that was carried along a little off the true one.
  const bool good = !options.verify || outcome.residual <= 2 * options.tolerance + 1e-12;
  if (!first) return good ? 0 : 1;
  const auto unknowns = static_cast<long long>(options.grid * options.grid);
  const auto took = static_cast<long long>(outcome.iterations);
  if (options.json) {
    std::printf(
        "{\"app\":\"%s\",\"unknowns\":%lld,\"ranks\":%u,\"iterations\":%lld,\"seconds\":%.9g,"
        "\"residual\":%.3g",
        front.program, unknowns, outcome.ranks, took, outcome.seconds, outcome.residual);
    if (options.verify) std::printf(",\"verified\":%s", good ? "true" : "false");
    std::printf("}\n");
  } else {
    std::printf("%s: %lld unknowns on %u ranks: %lld iterations, residual %.3g, %.6f s\n",
                front.program, unknowns, outcome.ranks, took, outcome.residual, outcome.seconds);
    if (options.verify) std::printf("%s\n", good ? "verified: the residual is small" : "WRONG");
  }
  std::fflush(stdout);
  return good ? 0 : 1;
}

}  // namespace cg
