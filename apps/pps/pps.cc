// What the exchanges of the programming systems cost, level by level: tables V and VI of the LCI
// paper. One JSON line a size.
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "apps/common/command_line.h"
#include "apps/pps/levels.h"
#include "fairlead/run/context.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/run/launch/attach.h"

FAIRLEAD_FIBER_PROGRAM;

namespace pps {
namespace {

const char kHelp[] =
    "Latency and throughput of the programming systems' exchanges.\n"
    "\n"
    "usage: pps --level LEVEL [options]\n"
    "  --level LEVEL       lci (the Port alone), panda-st, panda-mt, mpi, crl, orca\n"
    "  --what WHAT         latency (round trip of ranks 0 and 1), throughput, multicast (until "
    "the\n"
    "                      last rank has it), multicast-throughput (latency)\n"
    "  --bytes N           size of a message; again for more (16)\n"
    "  --count N           messages (20)\n"
    "  --json              print JSON lines (they are printed so in any case)\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 2 pps --level mpi\n"
    "  fairlead run -n 64 --on myrinet-ppro --lci pio pps --level panda-st --what multicast\n";

struct Options {
  const char* level = "";
  const char* what = "latency";
  std::vector<std::uint64_t> bytes;
  std::int64_t count = 20;
  bool help = false;
};

// nullptr, or the word that cannot be used.
const char* parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const char* const name = argv[i];
    const char* const value = i + 1 < argc ? argv[i + 1] : nullptr;
    std::int64_t number = 0;
    if (std::strcmp(name, "--help") == 0) {
      options.help = true;
      continue;
    }
    if (std::strcmp(name, "--json") == 0) continue;
    if (value == nullptr) return name;
    if (std::strcmp(name, "--level") == 0) {
      options.level = value;
    } else if (std::strcmp(name, "--what") == 0) {
      options.what = value;
    } else if (std::strcmp(name, "--bytes") == 0 && apps::parse_count(value, 0, 1 << 30, number)) {
      options.bytes.push_back(static_cast<std::uint64_t>(number));
    } else if (std::strcmp(name, "--count") != 0 ||
               !apps::parse_count(value, 1, 1'000'000, options.count)) {
      return name;
    }
    ++i;
  }
  if (options.bytes.empty()) options.bytes.push_back(16);
  return nullptr;
}

struct Measure {
  const char* name;
  const char* key;
  double (Level::*run)(std::uint64_t bytes, int count);
};
constexpr Measure kMeasures[] = {
    {"latency", "us", &Level::round_trip_us},
    {"throughput", "mb_per_s", &Level::throughput},
    {"multicast", "us", &Level::multicast_us},
    {"multicast-throughput", "mb_per_s", &Level::multicast_throughput}};

const Measure* find_measure(const char* name) {
  for (const Measure& one : kMeasures) {
    if (std::strcmp(one.name, name) == 0) return &one;
  }
  return nullptr;
}

fairlead::Result<std::unique_ptr<Level>> find_level(fairlead::run::Context& context,
                                                    const char* name) {
  if (std::strcmp(name, "lci") == 0) return port_level(context);
  if (std::strcmp(name, "panda-st") == 0) return panda_level(context, false);
  if (std::strcmp(name, "panda-mt") == 0) return panda_level(context, true);
  if (std::strcmp(name, "mpi") == 0) return mpi_level();
  if (std::strcmp(name, "crl") == 0) return crl_level();
  return fairlead::Error{"there is no such --level"};
}

void measure_all(const Options& options, const Measure& measure, fairlead::Rank self,
                 Level& level) {
  for (const std::uint64_t bytes : options.bytes) {
    // What is made on first use, buffers among it, is there afterwards.
    (level.*measure.run)(bytes, 2);
    const double value = (level.*measure.run)(bytes, static_cast<int>(options.count));
    if (self != 0) continue;
    std::printf("{\"level\":\"%s\",\"what\":\"%s\",\"bytes\":%llu,\"%s\":%.6g}\n", options.level,
                measure.name, static_cast<unsigned long long>(bytes), measure.key, value);
    std::fflush(stdout);
  }
}

fairlead::Result<void> measure_level(fairlead::run::Context& context, const Options& options,
                                     const Measure& measure) {
  const auto body = [&](Level& level) {
    measure_all(options, measure, context.port().self(), level);
  };
  if (std::strcmp(options.level, "orca") == 0) return with_orca(context, body);
  const fairlead::Result<std::unique_ptr<Level>> level = find_level(context, options.level);
  if (!level.ok()) return level.error();
  body(*level.value());
  level.value()->end();
  return {};
}

int run(const Options& options) {
  fairlead::Result<fairlead::run::Context*> joined = fairlead::run::attach();
  if (!joined.ok()) {
    std::fprintf(stderr, "pps: %s\n", joined.error().text.c_str());
    return 1;
  }
  fairlead::run::Context& context = *joined.value();
  const Measure* const measure = find_measure(options.what);
  fairlead::Result<void> done;
  if (measure == nullptr) {
    done = fairlead::Error{"there is no such --what"};
  } else if (context.port().size() < 2) {
    done = fairlead::Error{"two ranks at least"};
  } else {
    done = measure_level(context, options, *measure);
  }
  if (!done.ok()) std::fprintf(stderr, "pps: %s\n", done.error().text.c_str());
  return done.ok() ? 0 : 2;
}

}  // namespace
}  // namespace pps

int main(int argc, char** argv) {
  pps::Options options;
  const char* const wrong = pps::parse(argc, argv, options);
  if (wrong != nullptr || options.help) {
    if (wrong != nullptr) std::fprintf(stderr, "pps: cannot use \"%s\"\n\n", wrong);
    std::fputs(pps::kHelp, wrong != nullptr ? stderr : stdout);
    return wrong != nullptr ? 2 : 0;
  }
  return pps::run(options);
}
