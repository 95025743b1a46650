// The micro-benchmarks of page-based shared memory: page (the one of Noronha and Panda, section
// 4.2), diff, lock and barrier. Each checks what it read. How a program reaches shared memory is
// its front's: by plain loads and stores (pages.cc), or by handles (handles/).
//
// A front has
//   unsigned rank(), ranks()
//   void barrier(unsigned id), acquire(), release()          the latter two: of one lock
//   std::byte* page(std::size_t i, bool writes)              here until the next synchronisation
//   std::uint64_t* counter(bool writes)                      zero before; guarded by the lock
//   double* time_of(unsigned rank, bool writes)
//   std::int64_t now_ns()                                    virtual on modelled platforms
//   void fail(const char* text)                              ends the job
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <optional>
#include <string_view>

#include "apps/common/command_line.h"

namespace pages {

constexpr std::size_t kPageBytes = 4096;

struct Options {
  std::int64_t pages = 1024;
  std::int64_t rounds = 100;
  std::string_view only;
  bool json = false;
};

// One rank's part. Each benchmark returns the time of one page or round, as this rank saw it, and
// whether it read what it should.
template <class Front>
class Benchmarks {
 public:
  Benchmarks(Front& front, const Options& options) : front_(front), options_(options) {}

  static bool has(std::string_view name) {
    return std::any_of(std::begin(kAll), std::end(kAll),
                       [name](const Benchmark& each) { return name == each.name; });
  }

  void run() {
    const bool says = front_.rank() == 0;
    if (says && !options_.json) std::printf("%-8s %10s  %s\n", "what", "us", "read");
    const char* before = "{";
    for (const Benchmark& each : kAll) {
      if (!options_.only.empty() && options_.only != each.name) continue;
      const Measured measured = (this->*each.measure)();
      if (!measured.good) {
        std::fprintf(stderr, "pages: rank %u read wrong values in %s\n", front_.rank(), each.name);
        front_.fail("wrong values");
      }
      const double us = slowest(measured.us);
      if (!says) continue;
      if (options_.json) {
        std::printf("%s\"%s_us\": %.3f", before, each.name, us);
        before = ", ";
      } else {
        std::printf("%-8s %10.2f  as written\n", each.name, us);
      }
    }
    if (says && options_.json) std::printf("}\n");
  }

 private:
  struct Measured {
    double us;
    bool good;
  };
  struct Benchmark {
    const char* name;
    Measured (Benchmarks::*measure)();
  };

  double us_since(std::int64_t start) {
    return static_cast<double>(front_.now_ns() - start) * 1e-3;
  }
  static std::uint64_t value_of(std::size_t page) { return page * 2654435761u + 12345; }
  std::size_t pages() const { return static_cast<std::size_t>(options_.pages); }
  std::uint64_t& first_word(std::size_t page, bool writes) {
    return *reinterpret_cast<std::uint64_t*>(front_.page(page, writes));
  }

  Measured page() {
    if (front_.rank() == 0) {
      for (std::size_t i = 0; i < pages(); ++i) first_word(i, true) = value_of(i);
    }
    front_.barrier(2);
    const std::int64_t start = front_.now_ns();
    bool good = true;
    for (std::size_t i = 0; i < pages(); ++i) good &= first_word(i, false) == value_of(i);
    return {us_since(start) / static_cast<double>(pages()), good};
  }

  // Byte i of the pages is rank (i / 2) % ranks' where i is even; nobody writes the odd ones.
  Measured diff() {
    const auto value = [](std::size_t i) { return static_cast<std::byte>(i / 2 + 1); };
    front_.barrier(3);
    for (std::size_t i = 0; i < pages(); ++i) {
      std::byte* data = nullptr;
      for (std::size_t byte = i * kPageBytes; byte < (i + 1) * kPageBytes; byte += 2) {
        if (byte / 2 % front_.ranks() != front_.rank()) continue;
        if (data == nullptr) data = front_.page(i, true);
        data[byte % kPageBytes] = value(byte);
      }
    }
    const std::int64_t start = front_.now_ns();
    front_.barrier(4);
    const double us = us_since(start) / static_cast<double>(pages());
    bool good = true;
    for (std::size_t i = 0; i < pages(); ++i) {
      const std::byte* const data = front_.page(i, false);
      for (std::size_t byte = i * kPageBytes; byte < (i + 1) * kPageBytes; byte += 2) {
        good &= data[byte % kPageBytes] == value(byte);
      }
    }
    front_.barrier(5);
    return {us, good};
  }

  Measured lock() {
    front_.barrier(6);
    const std::int64_t start = front_.now_ns();
    for (std::int64_t i = 0; i < options_.rounds; ++i) {
      front_.acquire();
      *front_.counter(true) += 1;
      front_.release();
    }
    const double us = us_since(start) / static_cast<double>(options_.rounds);
    front_.barrier(7);
    const auto all = static_cast<std::uint64_t>(options_.rounds) * front_.ranks();
    return {us, *front_.counter(false) == all};
  }

  Measured barrier() {
    const std::int64_t start = front_.now_ns();
    for (std::int64_t i = 0; i < options_.rounds; ++i) front_.barrier(8);
    return {us_since(start) / static_cast<double>(options_.rounds), true};
  }

  // Rank 0 learns the largest of all ranks' times.
  double slowest(double us) {
    *front_.time_of(front_.rank(), true) = us;
    front_.barrier(9);
    double most = us;
    for (unsigned rank = 0; front_.rank() == 0 && rank < front_.ranks(); ++rank) {
      most = std::max(most, *front_.time_of(rank, false));
    }
    front_.barrier(10);
    return most;
  }

  static constexpr Benchmark kAll[] = {{"page", &Benchmarks::page},
                                       {"diff", &Benchmarks::diff},
                                       {"lock", &Benchmarks::lock},
                                       {"barrier", &Benchmarks::barrier}};

  Front& front_;
  const Options options_;
};

// Returns the exit code where the command line ends the program.
template <class Front>
std::optional<int> read_options(const char* name, const char* help, int argc, char** argv,
                                Options& options) {
  apps::CommandLine line;
  line.count("--pages", 1, 4096, options.pages).count("--rounds", 1, 1'000'000, options.rounds);
  line.flag("--json", options.json);
  line.valued("--only", [&options](const char* only) {
    options.only = only;
    return Benchmarks<Front>::has(only);
  });
  return line.read(name, help, argc, argv);
}

}  // namespace pages
