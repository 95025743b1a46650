#include "apps/radix/options.h"

#include "apps/common/command_line.h"

namespace radix {

namespace {

const char kHelp[] =
    "Parallel radix sort, 7 bits at a time, of an array shared in CRL regions of 1 KB.\n"
    "\n"
    "usage: radix [options]\n"
    "  --keys N         integers to be sorted (100000)\n"
    "  --key-bits N     bits of each, 1 to 32 (31)\n"
    "  --paper          the problem of the LCI paper: 3000000 integers\n"
    "  --verify         compare with a sequential sort\n"
    "  --json           print one JSON object\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 2 radix --verify\n"
    "  fairlead run -n 64 --on myrinet-p3 radix --paper\n";

}  // namespace

std::optional<int> read(int argc, char** argv, Options& options) {
  return apps::CommandLine()
      .count("--keys", 1, 1'000'000'000, options.keys)
      .count("--key-bits", 1, 32, options.key_bits)
      .preset("--paper", [&options] { options.keys = kPaperKeys; })
      .flag("--verify", options.verify)
      .flag("--json", options.json)
      .read("radix", kHelp, argc, argv);
}

}  // namespace radix
