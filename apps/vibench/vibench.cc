// What the Split-C paper measures of virtual interfaces and of Active Messages on them (section
// 6.1): the one-way time of a short message, the LogP parameters, and the LogP signature, which is
// the time of each of a burst of requests with some computing between them. Rank 0 sends to rank 1;
// the other ranks only have endpoints mapped to all, and serve.
#include "apps/vibench/vibench.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <sstream>

#include "apps/common/command_line.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/systems/am/am.h"

FAIRLEAD_FIBER_PROGRAM;

namespace {

const char kHelp[] =
    "One-way time, stream and LogP of virtual interfaces and Active Messages.\n"
    "\n"
    "usage: vibench [options]\n"
    "  --api NAME       via, or am (am)\n"
    "  --what NAME      one-way, logp, stream, or of am signature (one-way)\n"
    "  --sizes N,...    bytes of messages, up to 4016 (4)\n"
    "  --from N --to N  the same, doubled from one to the other\n"
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

constexpr std::int64_t kMost = 4016;

bool read_sizes(const char* text, std::vector<std::int64_t>& to) {
  to.clear();
  std::istringstream parts{std::string(text) + ","};
  std::int64_t bytes = 0;
  for (std::string part; std::getline(parts, part, ',');) {
    if (!apps::parse_count(part.c_str(), 1, kMost, bytes)) return false;
    to.push_back(bytes);
  }
  return !to.empty();
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

void print_logp(const Options& options, const LogP& found) {
  const double latency = found.one_way_us - found.send_us - found.receive_us;
  if (options.json) {
    std::printf(
        "{\"app\":\"vibench\",\"api\":\"%s\",\"bytes\":4,\"os_us\":%.6g,\"or_us\":%.6g,"
        "\"l_us\":%.6g,\"g_us\":%.6g,\"one_way_us\":%.6g}\n",
        options.api.c_str(), found.send_us, found.receive_us, latency, found.gap_us,
        found.one_way_us);
  } else {
    std::printf("o_s %.2f us, o_r %.2f us, L %.2f us, g %.2f us, one way %.2f us\n", found.send_us,
                found.receive_us, latency, found.gap_us, found.one_way_us);
  }
}

Computing::Computing() {
  constexpr std::uint64_t kOps = 1'000'000;
  const double begin = AM_Time();
  fairlead_work(kOps, 0, 0);
  const double seconds = AM_Time() - begin;
  ops_per_us_ = seconds > 0 ? static_cast<double>(kOps) / (seconds * 1e6) : 0;
}

void Computing::us(double duration) const {
  if (duration <= 0) return;
  const double begin = AM_Time();
  // What is declared takes no time where time is real, and interrupts may have been among what a
  // microsecond seemed to be.
  for (double left = duration; left > 0.01 * duration;
       left = duration - (AM_Time() - begin) * 1e6) {
    fairlead_work(static_cast<std::uint64_t>(left * ops_per_us_), 0, 0);
  }
}

}  // namespace vibench

int main(int argc, char** argv) {
  vibench::Options options;
  std::int64_t from = 0;  // 0: not given
  std::int64_t to = 0;
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
          .valued("--sizes", [&](const char* text) { return read_sizes(text, options.sizes); })
          .count("--from", 1, kMost, from)
          .count("--to", 1, kMost, to)
          .count("--delta", 0, 1'000'000, options.delta_us)
          .count("--rounds", 1, 1'000'000, options.rounds)
          .flag("--json", options.json)
          .read("vibench", kHelp, argc, argv);
  if (over) return *over;
  if (from > 0 || to > 0) {
    options.sizes.clear();
    if (from == 0) from = std::min<std::int64_t>(4, to);
    to = std::max(from, to);
    for (; from <= to; from *= 2) options.sizes.push_back(from);
  }
  if (options.api == "via" && options.what == "signature") {
    std::fprintf(stderr, "vibench: a signature is of --api am\n");
    return 2;
  }
  return options.api == "via" ? vibench::run_via(options) : vibench::run_am(options);
}
