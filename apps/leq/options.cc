#include "apps/leq/options.h"

#include <cstring>

#include "apps/common/command_line.h"

namespace leq {

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

const char* parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const char* name = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (std::strcmp(name, "--paper") == 0) {
      options.equations = kPaperEquations;
      options.dominance = kPaperDominance;
    } else if (std::strcmp(name, "--verify") == 0) {
      options.verify = true;
    } else if (std::strcmp(name, "--json") == 0) {
      options.json = true;
    } else if (std::strcmp(name, "--help") == 0) {
      options.help = true;
    } else if ((std::strcmp(name, "--equations") == 0 &&
                apps::parse_count(value, 1, 100'000, options.equations)) ||
               (std::strcmp(name, "--dominance") == 0 &&
                apps::parse_real(value, 1e6, options.dominance) && options.dominance > 1.0) ||
               (std::strcmp(name, "--tolerance") == 0 &&
                apps::parse_real(value, 1e6, options.tolerance)) ||
               (std::strcmp(name, "--iterations") == 0 &&
                apps::parse_count(value, 1, 1'000'000'000, options.iterations_max))) {
      ++i;
    } else {
      return name;
    }
  }
  return nullptr;
}

}  // namespace leq
