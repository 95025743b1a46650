#include "apps/npb/common/benchmark.h"

#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <new>

#include "apps/common/command_line.h"
#include "fairlead/run/fairlead.h"

namespace npb {
namespace {

const char* words(Verdict verdict) {
  switch (verdict) {
    case Verdict::verified:
      return "verified";
    case Verdict::wrong:
      return "WRONG";
    case Verdict::unknown:
      return "not verified: there is no published result for so many steps";
    case Verdict::none:
      break;
  }
  return "none: computing was declared, not done";
}

double mops(const Outcome& outcome) {
  return outcome.seconds > 0 ? outcome.operations / outcome.seconds * 1e-6 : 0;
}

void print_text(const Benchmark& benchmark, const Job& job, const Outcome& outcome) {
  std::printf("NAS Parallel Benchmark %s\n", benchmark.title);
  std::printf("  class           %c (%s)\n", job.name, outcome.size.c_str());
  std::printf("  ranks           %d\n", job.ranks);
  if (outcome.steps != 0) {
    std::printf("  iterations      %lld\n", static_cast<long long>(outcome.steps));
  }
  std::printf("  time            %.6f s\n", outcome.seconds);
  std::printf("  rate            %.2f Mop/s (%s)\n", mops(outcome), outcome.unit.c_str());
  std::printf("  rate per rank   %.2f Mop/s\n", mops(outcome) / job.ranks);
  for (const auto& [name, value] : outcome.values) {
    std::printf("  %-15s %s\n", name.c_str(), value.c_str());
  }
  std::printf("  result          %s\n", words(outcome.verdict));
  std::fflush(stdout);
}

void print_json(const Benchmark& benchmark, const Job& job, const Outcome& outcome) {
  const char* const verified = outcome.verdict == Verdict::verified ? "true"
                               : outcome.verdict == Verdict::wrong  ? "false"
                                                                    : "null";
  std::printf(
      "{\"app\":\"%s\",\"class\":\"%c\",\"ranks\":%d,\"iterations\":%lld,\"seconds\":%.9g,"
      "\"mops\":%.6g,\"verified\":%s",
      benchmark.program, job.name, job.ranks, static_cast<long long>(outcome.steps),
      outcome.seconds, mops(outcome), verified);
  for (const auto& [name, value] : outcome.values) {
    std::printf(",\"%s\":\"%s\"", name.c_str(), value.c_str());
  }
  std::printf("}\n");
  std::fflush(stdout);
}

int run(const Benchmark& benchmark, Job job, bool json) {
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
  if (const std::string reason = benchmark.refusal(job); !reason.empty()) {
    if (job.rank == 0) {
      std::fprintf(stderr, "%s: class %c cannot run on %d ranks: %s\n", benchmark.program, job.name,
                   job.ranks, reason.c_str());
    }
    return 1;
  }
  try {
    const Outcome outcome = benchmark.run(job);
    if (job.rank == 0) (json ? print_json : print_text)(benchmark, job, outcome);
    return outcome.verdict == Verdict::wrong ? 1 : 0;
  } catch (const std::bad_alloc&) {
    std::fprintf(
        stderr,
        "%s: rank %d: no memory for its part of class %c; take more ranks on more nodes, or "
        "a smaller class\n",
        benchmark.program, job.rank, job.name);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return 1;
}

}  // namespace

int main_of(const Benchmark& benchmark, int argc, char** argv) {
  Job job;
  bool json = false;
  apps::CommandLine line;
  for (const char* const name : {"S", "W", "A", "B", "C"}) {
    line.preset(name, [&job, name] { job.name = *name; });
  }
  if (benchmark.steps_max != 0) line.count("--steps", 1, benchmark.steps_max, job.steps);
  line.flag("--declared", job.declared).flag("--json", json);
  if (const auto over = line.read(benchmark.program, benchmark.help, argc, argv)) return *over;
  MPI_Init(&argc, &argv);
  const int exit_code = run(benchmark, job, json);
  MPI_Finalize();
  return exit_code;
}

std::string refuse_unless_power_of_two(int ranks, std::int64_t most, const char* why_most) {
  if ((ranks & (ranks - 1)) != 0) return "it needs a power of two of them";
  if (ranks > most) return "it takes at most " + std::to_string(most) + ", " + why_most;
  return {};
}

Stopwatch::Stopwatch() {
  MPI_Barrier(MPI_COMM_WORLD);
  begin_ = MPI_Wtime();
}

double Stopwatch::stop() const {
  const double own = MPI_Wtime() - begin_;
  double slowest = 0;
  MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

void declare_work(std::uint64_t ops, std::uint64_t bytes, std::uint64_t working_set_bytes) {
  if (fairlead_work != nullptr) fairlead_work(ops, bytes, working_set_bytes);
}

bool close(double found, double expected, double tolerance) {
  return std::abs(found - expected) <= tolerance * std::abs(expected);
}

std::string digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.13e", value);
  return text;
}

bool on_all(bool here) {
  const int own = here ? 1 : 0;
  int all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all != 0;
}

}  // namespace npb
