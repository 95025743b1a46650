// What the Split-C paper measures of virtual interfaces and of Active Messages on them (section
// 6.1): the one-way time of a short message, the LogP parameters, and the LogP signature, which is
// the time of each of a burst of requests with some computing between them. Rank 0 sends to rank 1;
// the other ranks only have endpoints mapped to all, and serve.
#include "apps/vibench/vibench.h"

#include <cstdio>
#include <cstring>
#include <optional>

#include "apps/common/command_line.h"
#include "fairlead/run/fairlead.h"

FAIRLEAD_FIBER_PROGRAM;

namespace {

const char kHelp[] =
    "One-way time of virtual interfaces and Active Messages, and LogP of Active Messages.\n"
    "\n"
    "usage: vibench [options]\n"
    "  --api NAME       via, or am (am)\n"
    "  --what NAME      one-way; of am also logp, stream or signature (one-way)\n"
    "  --from N --to N  bytes of a message, doubled, up to 4016 (4 to 4)\n"
    "  --delta N        of a signature: microseconds of computing after each request (0)\n"
    "  --rounds N       round trips, or messages of a stream (200)\n"
    "  --json           print one JSON object a line\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 2 --on millennium --lci via vibench --api via\n"
    "  fairlead run -n 16 --on millennium --lci via --am amvia vibench --what signature\n";

bool one_of(const char* text, std::initializer_list<const char*> names, std::string& to) {
  for (const char* const name : names) {
    if (std::strcmp(text, name) != 0) continue;
    to = name;
    return true;
  }
  return false;
}

}  // namespace

namespace vibench {

void print(const Options& options, std::int64_t bytes, const char* key, double value,
           const char* text) {
  if (options.json) {
    std::printf("{\"app\":\"vibench\",\"api\":\"%s\",\"bytes\":%lld,\"%s\":%.6g}\n",
                options.api.c_str(), static_cast<long long>(bytes), key, value);
  } else {
    std::printf("%s, %lld: %.2f\n", text, static_cast<long long>(bytes), value);
  }
}

}  // namespace vibench

int main(int argc, char** argv) {
  vibench::Options options;
  const std::optional<int> over =
      apps::CommandLine()
          .valued("--api",
                  [&](const char* text) {
                    return one_of(text, {"via", "am"}, options.api);
                  })
          .valued("--what",
                  [&](const char* text) {
                    return one_of(text, {"one-way", "logp", "stream", "signature"}, options.what);
                  })
          .count("--from", 1, 4016, options.from)
          .count("--to", 1, 4016, options.to)
          .count("--delta", 0, 1'000'000, options.delta_us)
          .count("--rounds", 1, 1'000'000, options.rounds)
          .flag("--json", options.json)
          .read("vibench", kHelp, argc, argv);
  if (over) return *over;
  if (options.api == "via" && options.what != "one-way") {
    std::fprintf(stderr, "vibench: --api via has a one-way time only\n");
    return 2;
  }
  return options.api == "via" ? vibench::run_via(options) : vibench::run_am(options);
}
