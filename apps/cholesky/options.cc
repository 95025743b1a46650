#include "apps/cholesky/options.h"

#include "apps/common/command_line.h"

namespace cholesky {
namespace {

const char kHelp[] =
    "Cholesky factorisation of a dense matrix in Split-C, by columns of blocks.\n"
    "\n"
    "usage: cholesky [options]\n"
    "  --size N         rows of the matrix (384)\n"
    "  --block N        columns that go together (16)\n"
    "  --paper          the problem of the Split-C paper: 1536 rows\n"
    "  --verify         check that the factor times itself is the matrix\n"
    "  --json           print one JSON object\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 2 cholesky --verify\n"
    "  fairlead run -n 16 --on myrinet-p3 cholesky --paper\n";

}  // namespace

std::optional<int> read(int argc, char** argv, Options& options) {
  return apps::CommandLine()
      .count("--size", 1, 20'000, options.size)
      .count("--block", 1, 1000, options.block)
      .preset("--paper", [&options] { options.size = kPaperSize; })
      .flag("--verify", options.verify)
      .flag("--json", options.json)
      .read("cholesky", kHelp, argc, argv);
}

}  // namespace cholesky
