// What the Quadrics paper measures of Elanlib (section 6): barriers, broadcasts, and puts one way;
// and reductions, which it does not. One test a run. Times are process 0's.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "apps/common/command_line.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/systems/elan/elan.h"

FAIRLEAD_FIBER_PROGRAM;

namespace elanbench {
namespace {

const char kHelp[] =
    "Barriers, broadcasts and puts of Elanlib, measured as the Quadrics paper does, and\n"
    "reductions (sums of 8-byte integers, whose result everybody gets).\n"
    "\n"
    "usage: elanbench [options]\n"
    "  --test NAMES     gsync, hgsync, hgsyncEvent, bcast, hbcast, ping or reduce (hgsync);\n"
    "                   several, with commas, one after the other\n"
    "  --rounds N       operations that are measured, of each size (1000)\n"
    "  --within P       stops earlier, once the mean's 95 % interval is P percent of it to either\n"
    "                   side (0: never); not of ping\n"
    "  --warm N         operations before them that are not (4)\n"
    "  --each N         operations between two looks at the clock, whose mean counts as the time\n"
    "                   of one (1): a look takes as long as a short operation of shared memory\n"
    "  --from N         bytes of the shortest message (8)\n"
    "  --to N           bytes of the longest; sizes in between double (8)\n"
    "  --main           buffers in main memory; else in the network interface's where it has some\n"
    "  --spread         how the times are spread: how many percent of the operations took no\n"
    "                   longer than a time, at times 8 percent apart\n"
    "  --json           print one JSON object for each size\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 4 elanbench --test gsync\n"
    "  fairlead run -n 64 --on qsnet-es40 elanbench --test hbcast --to 1048576 --rounds 20\n";

constexpr char kTests[] = " gsync hgsync hgsyncEvent bcast hbcast ping reduce ";
constexpr std::int64_t kRoundsMost = 1'000'000;
constexpr std::int64_t kBytesMost = 8 << 20;
constexpr unsigned kCame = 0;  // destination event
// Operations between two looks at how sure their mean is. Fewer say little of that; long messages
// differ less.
constexpr std::int64_t kBatch = 50;
constexpr std::int64_t kLongBatch = 5;
constexpr std::size_t kLongBytes = 8192;

struct Options {
  std::vector<std::string> tests = {"hgsync"};
  std::string test;  // of them
  std::int64_t rounds = 1000;
  std::int64_t within = 0;  // percent
  std::int64_t warm = 4;    // not measured: the first ones find nothing in order yet
  std::int64_t each = 1;
  std::int64_t from = 8;
  std::int64_t to = 8;
  bool main = false;
  bool spread = false;
  bool json = false;

  bool is_barrier() const { return test.find("sync") != std::string::npos; }
};

// Microseconds of each measured operation.
using Times = std::vector<double>;

// Half of the 95 % interval of their mean, in percent of that.
double interval_percent(const Times& times) {
  const auto count = static_cast<double>(times.size());
  double sum = 0;
  double squares = 0;
  for (const double time : times) sum += time;
  const double mean = sum / count;
  for (const double time : times) squares += (time - mean) * (time - mean);
  return 100 * 1.96 * std::sqrt(squares / std::max(count - 1, 1.0) / count) / mean;
}

class Bench {
 public:
  Bench(ELAN_BASE* base, const Options& options) : base_(base), options_(options) {}

  bool leads() const { return base_->state->vp == 0; }
  unsigned processes() const { return base_->state->nvp; }

  Times barriers() {
    auto* const sync = options_.test == "gsync"    ? elan_gsync
                       : options_.test == "hgsync" ? elan_hgsync
                                                   : elan_hgsyncEvent;
    return timed([&] { sync(base_->allGroup); });
  }

  Times broadcasts(std::size_t bytes) {
    auto* const broadcast = options_.test == "bcast" ? elan_bcast : elan_hbcast;
    void* const data = memory(bytes);
    Times times =
        timed([&] { broadcast(base_->allGroup, data, bytes, 0, ELAN_BCAST_GLOBAL); }, bytes);
    elan_gallocFree(base_, data);
    return times;
  }

  // Everybody's sums; whole words.
  Times reductions(std::size_t bytes) {
    const std::size_t count = std::max<std::size_t>(bytes / 8, 1);
    auto* const in = static_cast<std::uint64_t*>(memory(count * 8));
    auto* const out = static_cast<std::uint64_t*>(memory(count * 8));
    for (std::size_t i = 0; i < count; ++i) in[i] = base_->state->vp + i;
    const ELAN_REDUCE_FN sum = elan_reduceFn(ELAN_REDUCE_SUM, ELAN_UINT64);
    const auto reduce = [&] {
      elan_reduce(base_->allGroup, in, out, 8, count, sum, nullptr,
                  ELAN_REDUCE_COMMUTE | ELAN_RESULT_ALL);
    };
    const Times times = timed(reduce, bytes);
    const std::uint64_t n = processes();
    for (std::size_t i = 0; i < count; ++i) right_ = right_ && out[i] == n * (n - 1) / 2 + n * i;
    elan_gallocFree(base_, out);
    elan_gallocFree(base_, in);
    return times;
  }
  // Whether every sum was.
  bool right() const { return right_; }

  // Half of a round trip between the two processes that are furthest from each other.
  Times pings(std::size_t bytes) {
    auto* const data = static_cast<std::byte*>(memory(2 * bytes));
    const unsigned last = processes() - 1;
    const unsigned self = base_->state->vp;
    Times times;
    if (self == 0 || self == last) {
      const auto send = [&] {
        elan_wait(elan_putEvent(base_->state, data + bytes, data, bytes, last - self, kCame),
                  base_->waitType);
      };
      times = timed([&] {
        if (self == 0) send();
        elan_waitDest(base_->state, kCame, ++came_);
        if (self != 0) send();
      });
      for (double& time : times) time /= 2;
    }
    elan_gsync(base_->allGroup);
    elan_gallocFree(base_, data);
    return times;
  }

 private:
  void* memory(std::size_t bytes) {
    const auto get = options_.main ? elan_gallocMain : elan_gallocElan;
    void* const data = get(base_, base_->allGroup, 64, std::max<std::size_t>(bytes, 64));
    elan_gsync(base_->allGroup);
    return data;
  }
  // So many more times of operations, behind some that are not measured.
  template <class Operation>
  void measure(Times& times, std::int64_t rounds, Operation&& operation) {
    const std::int64_t warm =
        times.empty() ? options_.warm : std::min<std::int64_t>(options_.warm, 1);
    for (std::int64_t i = 0; i < warm; ++i) operation();
    std::uint64_t before = elan_clock(base_->state);
    for (std::int64_t i = 0; i < rounds; ++i) {
      for (std::int64_t j = 0; j < options_.each; ++j) operation();
      const std::uint64_t now = elan_clock(base_->state);
      times.push_back(static_cast<double>(now - before) / 1e3 / static_cast<double>(options_.each));
      before = now;
    }
  }
  template <class Operation>
  Times timed(Operation&& operation, std::size_t bytes = 0) {
    const std::int64_t batch = bytes < kLongBytes ? kBatch : kLongBatch;
    Times times;
    const std::int64_t all = std::max<std::int64_t>(options_.rounds / options_.each, 1);
    const auto left = [&] { return all - static_cast<std::int64_t>(times.size()); };
    if (options_.within == 0 || options_.test == "ping") {
      measure(times, left(), operation);
      return times;
    }
    // Process 0's times decide, for all.
    std::uint64_t over = 0;
    while (over == 0) {
      measure(times, std::min(left(), batch), operation);
      over = left() == 0 || interval_percent(times) <= static_cast<double>(options_.within);
      elan_bcast(base_->allGroup, &over, sizeof over, 0, ELAN_BCAST_SYSTEM);
    }
    return times;
  }

  ELAN_BASE* base_;
  const Options& options_;
  std::uint64_t came_ = 0;
  bool right_ = true;
};

// The value that `share` of the sorted times do not exceed.
double quantile(const Times& sorted, double share) {
  const auto at = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(at, 1, sorted.size()) - 1];
}

// A time, and how many percent of the sorted times are no longer: from the first edge that one of
// them does not exceed to the first that none does.
std::vector<std::pair<double, double>> spread_of(const Times& sorted) {
  constexpr double kEdgesToDouble = 9;
  std::vector<std::pair<double, double>> spread;
  double edge_number = std::floor(std::log2(sorted.front()) * kEdgesToDouble);
  double percent = 0;
  for (; percent < 100; ++edge_number) {
    const double edge = std::exp2(edge_number / kEdgesToDouble);
    const auto within = std::upper_bound(sorted.begin(), sorted.end(), edge) - sorted.begin();
    percent = 100 * static_cast<double>(within) / static_cast<double>(sorted.size());
    if (percent > 0) spread.emplace_back(edge, percent);
  }
  return spread;
}

std::string json_of(const std::vector<std::pair<double, double>>& spread) {
  std::string text = ",\"within\":[";
  for (const auto& [us, percent] : spread) {
    char pair[64];
    std::snprintf(pair, sizeof pair, "%s[%.4g,%.6g]", text.back() == '[' ? "" : ",", us, percent);
    text += pair;
  }
  return text + "]";
}

void print(const Options& options, unsigned processes, std::int64_t bytes, Times times) {
  std::sort(times.begin(), times.end());
  double sum = 0;
  for (const double time : times) sum += time;
  const auto count = static_cast<double>(times.size());
  const double mean = sum / count;
  const auto above = [&](double us) {
    return 100 *
           static_cast<double>(times.end() - std::upper_bound(times.begin(), times.end(), us)) /
           count;
  };
  const double rate = static_cast<double>(bytes) / mean;
  if (options.json) {
    std::printf(
        "{\"app\":\"elanbench\",\"test\":\"%s\",\"nodes\":%u,\"bytes\":%lld,\"memory\":\"%s\","
        "\"us\":%.6g,\"MBps\":%.6g,\"median_us\":%.6g,\"p90_us\":%.6g,\"p99_us\":%.6g,"
        "\"longest_us\":%.6g,\"above_30us_percent\":%.6g,\"operations\":%zu,"
        "\"interval_percent\":%.3g%s}\n",
        options.test.c_str(), processes, static_cast<long long>(bytes),
        options.main ? "main" : "elan", mean, rate, quantile(times, 0.5), quantile(times, 0.9),
        quantile(times, 0.99), times.back(), above(30), times.size(), interval_percent(times),
        options.spread ? json_of(spread_of(times)).c_str() : "");
  } else {
    std::printf(
        "%s of %lld bytes, %u processes: %.2f us, %.1f MB/s; half within %.2f, 99 %% within "
        "%.2f, the longest %.2f us; %.2f %% above 30 us\n",
        options.test.c_str(), static_cast<long long>(bytes), processes, mean, rate,
        quantile(times, 0.5), quantile(times, 0.99), times.back(), above(30));
    if (options.spread) {
      for (const auto& [us, percent] : spread_of(times)) {
        std::printf("  %6.2f %% within %8.4g us\n", percent, us);
      }
    }
  }
  std::fflush(stdout);
}

void run_test(Bench& bench, const Options& options) {
  if (options.is_barrier()) {
    const Times times = bench.barriers();
    if (bench.leads()) print(options, bench.processes(), 0, times);
    return;
  }
  for (std::int64_t bytes = options.from; bytes <= options.to; bytes = bytes == 0 ? 8 : bytes * 2) {
    const auto size = static_cast<std::size_t>(bytes);
    const Times times = options.test == "ping"     ? bench.pings(size)
                        : options.test == "reduce" ? bench.reductions(size)
                                                   : bench.broadcasts(size);
    if (bench.leads()) print(options, bench.processes(), bytes, times);
  }
}

int run(Options options) {
  ELAN_BASE* const base = elan_baseInit(0);
  Bench bench(base, options);
  if (bench.processes() < 2) {
    std::fprintf(stderr, "elanbench: one process has nobody to meet; run it with -n 2 or more\n");
    elan_fini();
    return 1;
  }
  for (const std::string& test : options.tests) {
    options.test = test;
    run_test(bench, options);
  }
  if (!bench.right()) std::fprintf(stderr, "elanbench: process %u: a wrong sum\n", base->state->vp);
  elan_gsync(base->allGroup);
  elan_fini();
  return bench.right() ? 0 : 1;
}

}  // namespace
}  // namespace elanbench

int main(int argc, char** argv) {
  using namespace elanbench;
  Options options;
  const auto test = [&options](const char* text) {
    options.tests.clear();
    std::string name;
    for (std::istringstream names(text); std::getline(names, name, ',');) {
      options.tests.push_back(name);
      if (name.find(' ') != std::string::npos ||
          std::string(kTests).find(' ' + name + ' ') == std::string::npos) {
        return false;
      }
    }
    return !options.tests.empty();
  };
  const std::optional<int> over = apps::CommandLine()
                                      .valued("--test", test)
                                      .count("--rounds", 1, kRoundsMost, options.rounds)
                                      .count("--within", 0, 100, options.within)
                                      .count("--warm", 0, kRoundsMost, options.warm)
                                      .count("--each", 1, kRoundsMost, options.each)
                                      .count("--from", 0, kBytesMost, options.from)
                                      .count("--to", 0, kBytesMost, options.to)
                                      .flag("--main", options.main)
                                      .flag("--spread", options.spread)
                                      .flag("--json", options.json)
                                      .read("elanbench", kHelp, argc, argv);
  return over ? *over : elanbench::run(options);
}
