#include "apps/qr/options.h"

#include "apps/common/command_line.h"

namespace qr {

namespace {

const char kHelp[] =
    "QR factorization by Householder reflections with column pivoting, columns dealt out in turn.\n"
    "\n"
    "usage: qr [options]\n"
    "  --size N         rows and columns of the matrix (256)\n"
    "  --paper          the problem of the LCI paper: 1024 x 1024\n"
    "  --distinct N     columns repeat after N, so that the matrix has rank N\n"
    "  --verify         residual and orthogonality at most 1e-12, diagonal of R falling\n"
    "  --json           print one JSON object\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 2 qr --verify\n"
    "  fairlead run -n 64 --on myrinet-p3 --lci sdma qr --paper\n";

constexpr std::int64_t kSizeMax = 30'000;

}  // namespace

std::optional<int> read(int argc, char** argv, Options& options) {
  return apps::CommandLine()
      .count("--size", 1, kSizeMax, options.n)
      .count("--distinct", 1, kSizeMax, options.distinct)
      .preset("--paper", [&options] { options.n = kPaperSize; })
      .flag("--verify", options.verify)
      .flag("--json", options.json)
      .read("qr", kHelp, argc, argv);
}

}  // namespace qr
