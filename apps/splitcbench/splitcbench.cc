// What the Split-C paper measures of its primitives (section 6.2): the time of each, averaged over
// many in a row, of rank 0 alone to rank 1 or of both to each other. Further ranks only serve: on
// virtual interfaces they have theirs connected.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "apps/common/command_line.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/systems/splitc/splitc.h"

FAIRLEAD_FIBER_PROGRAM;

namespace splitcbench {
namespace {

namespace splitc = fairlead::splitc;

const char kHelp[] =
    "The time of Split-C's primitives, from rank 0 to rank 1, or between the two both ways; other\n"
    "ranks only serve.\n"
    "\n"
    "usage: splitcbench [options]\n"
    "  --op NAME        read, write, get, put, store, or all of them (all)\n"
    "  --rounds N       operations that are measured (10000)\n"
    "  --two-way        both ranks at once; else rank 1 only serves\n"
    "  --bulk           bulk operations of 4 bytes to 4 KiB; else of one int\n"
    "  --json           print one JSON object for each operation and size\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 2 splitcbench\n"
    "  fairlead run -n 2 --on myrinet-p3 --splitc via splitcbench --op store --two-way\n";

constexpr const char* kOps[] = {"read", "write", "get", "put", "store"};
constexpr std::int64_t kRoundsMost = 10'000'000;
constexpr std::size_t kInts = 1024;  // of a block

struct Options {
  std::string op = "all";
  std::int64_t rounds = 10'000;
  bool two_way = false;
  bool bulk = false;
  bool json = false;
};

class Bench {
 public:
  explicit Bench(const Options& options)
      : options_(options),
        place_(splitc::all_malloc<int>(kInts).on(splitc::my_proc() == 0 ? 1 : 0)),
        block_(kInts, 7) {}

  // Microseconds of one operation, in the mean; by both ranks.
  double time(const std::string& op, std::size_t ints) {
    double us = 0;
    splitc::barrier();
    if (splitc::my_proc() == 0 || (options_.two_way && splitc::my_proc() == 1)) {
      const double begin = splitc::seconds();
      for (std::int64_t i = 0; i < options_.rounds; ++i) once(op, ints);
      splitc::sync();
      us = (splitc::seconds() - begin) * 1e6 / static_cast<double>(options_.rounds);
    }
    splitc::all_store_sync();
    return us;
  }

 private:
  void once(const std::string& op, std::size_t ints) {
    int* const mine = block_.data();
    if (op == "read") {
      options_.bulk ? splitc::bulk_read(mine, place_, ints) : void(*mine = splitc::read(place_));
    } else if (op == "write") {
      options_.bulk ? splitc::bulk_write(place_, mine, ints) : splitc::write(place_, *mine);
    } else if (op == "get") {
      options_.bulk ? splitc::bulk_get(mine, place_, ints) : splitc::get(mine, place_);
    } else if (op == "put") {
      options_.bulk ? splitc::bulk_put(place_, mine, ints) : splitc::put(place_, *mine);
    } else {
      options_.bulk ? splitc::bulk_store(place_, mine, ints) : splitc::store(place_, *mine);
    }
  }

  const Options& options_;
  splitc::global_ptr<int> place_;  // the other rank's
  std::vector<int> block_;
};

void print(const Options& options, const std::string& op, std::size_t ints, double us) {
  const char* const ways = options.two_way ? "two-way" : "one-way";
  const char* const bulk = options.bulk ? "bulk_" : "";
  if (options.json) {
    std::printf(
        "{\"app\":\"splitcbench\",\"op\":\"%s%s\",\"ways\":\"%s\",\"bytes\":%zu,"
        "\"us\":%.6g}\n",
        bulk, op.c_str(), ways, ints * sizeof(int), us);
  } else {
    std::printf("%s%s of %zu bytes, %s: %.3f us\n", bulk, op.c_str(), ints * sizeof(int), ways, us);
  }
  std::fflush(stdout);
}

int run(const Options& options) {
  if (splitc::procs() < 2) {
    std::fprintf(stderr, "splitcbench: needs 2 ranks\n");
    return 2;
  }
  Bench bench(options);
  for (const char* const op : kOps) {
    if (options.op != "all" && options.op != op) continue;
    for (std::size_t ints = 1; ints <= (options.bulk ? kInts : 1); ints *= 2) {
      const double us = bench.time(op, ints);
      if (splitc::my_proc() == 0) print(options, op, ints, us);
    }
  }
  return 0;
}

}  // namespace
}  // namespace splitcbench

int main(int argc, char** argv) {
  using namespace splitcbench;
  Options options;
  const auto op = [&options](const char* text) {
    const bool known = std::find_if(std::begin(kOps), std::end(kOps), [text](const char* each) {
                         return std::strcmp(each, text) == 0;
                       }) != std::end(kOps);
    if (known) options.op = text;
    return known || std::strcmp(text, "all") == 0;
  };
  const std::optional<int> over = apps::CommandLine()
                                      .valued("--op", op)
                                      .count("--rounds", 1, kRoundsMost, options.rounds)
                                      .flag("--two-way", options.two_way)
                                      .flag("--bulk", options.bulk)
                                      .flag("--json", options.json)
                                      .read("splitcbench", kHelp, argc, argv);
  if (over) return *over;
  return fairlead::splitc::start([&options] { return run(options); });
}
