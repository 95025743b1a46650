#include "apps/radix/options.h"

#include <cstring>

#include "apps/common/command_line.h"

namespace radix {

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

const char* parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const char* name = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (std::strcmp(name, "--paper") == 0) {
      options.keys = kPaperKeys;
    } else if (std::strcmp(name, "--verify") == 0) {
      options.verify = true;
    } else if (std::strcmp(name, "--json") == 0) {
      options.json = true;
    } else if (std::strcmp(name, "--help") == 0) {
      options.help = true;
    } else if (std::strcmp(name, "--keys") == 0 &&
               apps::parse_count(value, 1, 1'000'000'000, options.keys)) {
      ++i;
    } else if (std::strcmp(name, "--key-bits") == 0 &&
               apps::parse_count(value, 1, 32, options.key_bits)) {
      ++i;
    } else {
      return name;
    }
  }
  return nullptr;
}

}  // namespace radix
