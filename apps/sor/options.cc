#include "apps/sor/options.h"

#include <cstring>

#include "apps/common/command_line.h"

namespace sor {

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
    "  --verify         compare with the sequential run: same iterations, same bits\n"
    "  --json           print one JSON object\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 2 sor --verify\n"
    "  fairlead run -n 64 --on myrinet-p3 --lci pio sor\n";

namespace {

constexpr std::int64_t kCountMax = 1'000'000;

// Options that take a value. false: no such option, or not such a value.
bool parse_valued(const char* name, const char* text, Options& options) {
  if (std::strcmp(name, "--rows") == 0) return apps::parse_count(text, 3, kCountMax, options.rows);
  if (std::strcmp(name, "--columns") == 0)
    return apps::parse_count(text, 3, kCountMax, options.columns);
  if (std::strcmp(name, "--omega") == 0) return apps::parse_real(text, 2.0, options.omega);
  if (std::strcmp(name, "--tolerance") == 0)
    return apps::parse_real(text, 1e300, options.tolerance);
  if (std::strcmp(name, "--iterations") == 0)
    return apps::parse_count(text, 1, kCountMax, options.iterations_max);
  return false;
}

}  // namespace

const char* parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const char* name = argv[i];
    if (std::strcmp(name, "--overlap") == 0) {
      options.overlap = true;
    } else if (std::strcmp(name, "--verify") == 0) {
      options.verify = true;
    } else if (std::strcmp(name, "--json") == 0) {
      options.json = true;
    } else if (std::strcmp(name, "--help") == 0) {
      options.help = true;
    } else if (i + 1 < argc && parse_valued(name, argv[i + 1], options)) {
      ++i;
    } else {
      return name;
    }
  }
  return nullptr;
}

}  // namespace sor
