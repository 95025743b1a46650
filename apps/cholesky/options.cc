#include "apps/cholesky/options.h"

#include <cstdio>
#include <string>

#include "apps/common/command_line.h"

namespace cholesky {
namespace {

const char kHelp[] =
    "  --size N         rows of the matrix (384)\n"
    "  --block N        columns that go together (16)\n"
    "  --paper          the problem of the Split-C paper: 1536 rows\n"
    "  --no-verify      do not check that the factor times itself is the matrix\n"
    "  --json           print one JSON object\n"
    "\n"
    "examples:\n";

}  // namespace

std::optional<int> read(const Front& front, int argc, char** argv, Options& options) {
  const std::string program = front.program;
  const std::string help = "Cholesky factorisation of a dense matrix " + std::string(front.how) +
                           ", by columns of blocks.\n\nusage: " + program + " [options]\n" + kHelp +
                           "  fairlead run -n 2 " + program +
                           "\n  fairlead run -n 16 --on myrinet-p3 " + program + " --paper\n";
  return apps::CommandLine()
      .count("--size", 1, 20'000, options.size)
      .count("--block", 1, 1000, options.block)
      .preset("--paper", [&options] { options.size = kPaperSize; })
      .verification(options.verify)
      .flag("--json", options.json)
      .read(front.program, help.c_str(), argc, argv);
}

int report(const Options& options, const Front& front, const Outcome& outcome, bool first) {
  const bool good = outcome.residual < 1e-12;
  if (!first) return good ? 0 : 1;
  const auto size = static_cast<long long>(options.size);
  const auto check = static_cast<unsigned long long>(outcome.checksum);
  if (options.json) {
    std::printf(
        "{\"app\":\"%s\",\"size\":%lld,\"block\":%lld,\"ranks\":%u,\"seconds\":%.9g,"
        "\"checksum\":%llu",
        front.program, size, static_cast<long long>(options.block), outcome.ranks, outcome.seconds,
        check);
    if (options.verify) {
      std::printf(",\"residual\":%.3g,\"verified\":%s", outcome.residual, good ? "true" : "false");
    }
    std::printf("}\n");
  } else {
    std::printf("%s: %lld rows on %u ranks: checksum %llu, %.6f s\n", front.program, size,
                outcome.ranks, check, outcome.seconds);
    if (options.verify) {
      std::printf("%s: residual %.3g\n", good ? "verified" : "WRONG", outcome.residual);
    }
  }
  std::fflush(stdout);
  return good ? 0 : 1;
}

}  // namespace cholesky
