// The micro-benchmarks of page-based shared memory, against the calls of TreadMarks alone: page
// (the one of Noronha and Panda, section 4.2), diff, lock and barrier. Each checks what it read.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "apps/common/clock.h"
#include "apps/common/command_line.h"
#include "fairlead/systems/dsm/tmk.h"

namespace pages {
namespace {

constexpr std::size_t kWords = 4096 / sizeof(std::uint64_t);  // of a page

const char kHelp[] =
    "Times what page-based shared memory consists of, and checks the values it reads.\n"
    "\n"
    "usage: pages [options]\n"
    "  --pages N     pages of page and diff, at most 4096 (1024, as in the paper)\n"
    "  --rounds N    of lock and barrier (100)\n"
    "  --only NAME   this one alone\n"
    "  --json        print one JSON object\n"
    "\n"
    "page      rank 0 touches the pages, each other rank reads one word of each\n"
    "diff      each rank writes every second byte of its part of every page, then all meet\n"
    "lock      all add to one counter under a lock\n"
    "barrier   all meet\n"
    "\n"
    "Times are those of the slowest rank: of a page, of a round.\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 2 pages\n"
    "  fairlead run -n 4 --on myrinet-p3 --body process pages --pages 256\n";

struct Options {
  std::int64_t pages = 1024;
  std::int64_t rounds = 100;
  std::string_view only;
  bool json = false;
};

// What every rank learns of rank 0.
struct Shared {
  std::uint64_t* words;
  std::uint64_t* counter;
  double* times;  // by rank
};
Shared shared;

double us_since(std::int64_t start) {
  return static_cast<double>(apps::nanoseconds_now() - start) * 1e-3;
}

std::uint64_t value_of(std::size_t page) { return page * 2654435761u + 12345; }

// Each returns the time of one, as this rank saw it, and whether it read what it should.
struct Measured {
  double us;
  bool good;
};

Measured page(const Options& options) {
  const auto pages = static_cast<std::size_t>(options.pages);
  if (Tmk_proc_id == 0) {
    for (std::size_t i = 0; i < pages; ++i) shared.words[i * kWords] = value_of(i);
  }
  Tmk_barrier(2);
  const std::int64_t start = apps::nanoseconds_now();
  bool good = true;
  for (std::size_t i = 0; i < pages; ++i) good &= shared.words[i * kWords] == value_of(i);
  return {us_since(start) / static_cast<double>(pages), good};
}

// Byte i of a page is rank (i / 2) % size's where i is even; nobody writes the odd ones.
Measured diff(const Options& options) {
  const auto pages = static_cast<std::size_t>(options.pages);
  auto* const bytes = reinterpret_cast<unsigned char*>(shared.words);
  Tmk_barrier(3);
  for (std::size_t i = 0; i < pages * 4096; i += 2) {
    if (i / 2 % Tmk_nprocs == Tmk_proc_id) bytes[i] = static_cast<unsigned char>(i / 2 + 1);
  }
  const std::int64_t start = apps::nanoseconds_now();
  Tmk_barrier(4);
  const double us = us_since(start) / static_cast<double>(pages);
  bool good = true;
  for (std::size_t i = 0; i < pages * 4096; i += 2) {
    good &= bytes[i] == static_cast<unsigned char>(i / 2 + 1);
  }
  Tmk_barrier(5);
  return {us, good};
}

Measured lock(const Options& options) {
  Tmk_barrier(6);
  const std::int64_t start = apps::nanoseconds_now();
  for (std::int64_t i = 0; i < options.rounds; ++i) {
    Tmk_lock_acquire(1);
    *shared.counter += 1;
    Tmk_lock_release(1);
  }
  const double us = us_since(start) / static_cast<double>(options.rounds);
  Tmk_barrier(7);
  const auto all = static_cast<std::uint64_t>(options.rounds) * Tmk_nprocs;
  return {us, *shared.counter == all};
}

Measured barrier(const Options& options) {
  const std::int64_t start = apps::nanoseconds_now();
  for (std::int64_t i = 0; i < options.rounds; ++i) Tmk_barrier(8);
  return {us_since(start) / static_cast<double>(options.rounds), true};
}

double slowest(double us) {
  shared.times[Tmk_proc_id] = us;
  Tmk_barrier(9);
  const double most = *std::max_element(shared.times, shared.times + Tmk_nprocs);
  Tmk_barrier(10);
  return most;
}

struct Benchmark {
  const char* name;
  Measured (*measure)(const Options&);
};
constexpr Benchmark kBenchmarks[] = {
    {"page", page}, {"diff", diff}, {"lock", lock}, {"barrier", barrier}};

bool known(std::string_view name) {
  return std::any_of(std::begin(kBenchmarks), std::end(kBenchmarks),
                     [name](const Benchmark& each) { return name == each.name; });
}

void share(const Options& options) {
  if (Tmk_proc_id == 0) {
    shared.words =
        reinterpret_cast<std::uint64_t*>(Tmk_malloc(static_cast<unsigned>(options.pages) * 4096));
    shared.counter = reinterpret_cast<std::uint64_t*>(Tmk_malloc(4096));
    shared.times =
        reinterpret_cast<double*>(Tmk_malloc(static_cast<unsigned>(sizeof(double)) * Tmk_nprocs));
    if (shared.words == nullptr || shared.counter == nullptr || shared.times == nullptr) {
      std::fprintf(stderr, "pages: no memory; set FAIRLEAD_DSM_HEAP\n");
      Tmk_exit(1);
    }
    Tmk_distribute(&shared, sizeof shared);
  }
  Tmk_barrier(1);
}

int run(const Options& options) {
  share(options);
  const bool says = Tmk_proc_id == 0;
  if (says && !options.json) std::printf("%-8s %10s  %s\n", "what", "us", "read");
  const char* before = "{";
  for (const Benchmark& each : kBenchmarks) {
    if (!options.only.empty() && options.only != each.name) continue;
    const Measured measured = each.measure(options);
    if (!measured.good) {
      std::fprintf(stderr, "pages: rank %u read wrong values in %s\n", Tmk_proc_id, each.name);
      Tmk_exit(1);
    }
    const double us = slowest(measured.us);
    if (!says) continue;
    if (options.json) {
      std::printf("%s\"%s_us\": %.3f", before, each.name, us);
      before = ", ";
    } else {
      std::printf("%-8s %10.2f  as written\n", each.name, us);
    }
  }
  if (says && options.json) std::printf("}\n");
  Tmk_exit(0);
  return 0;
}

}  // namespace
}  // namespace pages

int main(int argc, char** argv) {
  pages::Options options;
  apps::CommandLine line;
  line.count("--pages", 1, 4096, options.pages).count("--rounds", 1, 1'000'000, options.rounds);
  line.flag("--json", options.json);
  line.valued("--only", [&options](const char* name) {
    options.only = name;
    return pages::known(name);
  });
  if (const auto over = line.read("pages", pages::kHelp, argc, argv)) return *over;
  Tmk_startup(argc, argv);
  return pages::run(options);
}
