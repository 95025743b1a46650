#include "apps/qr/options.h"

#include <cstring>

#include "apps/common/command_line.h"

namespace qr {

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

namespace {

constexpr std::int64_t kSizeMax = 30'000;

}  // namespace

const char* parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const char* name = argv[i];
    if (std::strcmp(name, "--paper") == 0) {
      options.n = kPaperSize;
    } else if (std::strcmp(name, "--verify") == 0) {
      options.verify = true;
    } else if (std::strcmp(name, "--json") == 0) {
      options.json = true;
    } else if (std::strcmp(name, "--help") == 0) {
      options.help = true;
    } else if (i + 1 < argc && std::strcmp(name, "--size") == 0 &&
               apps::parse_count(argv[i + 1], 1, kSizeMax, options.n)) {
      ++i;
    } else if (i + 1 < argc && std::strcmp(name, "--distinct") == 0 &&
               apps::parse_count(argv[i + 1], 1, kSizeMax, options.distinct)) {
      ++i;
    } else {
      return name;
    }
  }
  return nullptr;
}

}  // namespace qr
