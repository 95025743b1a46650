// EP of the NAS Parallel Benchmarks: pairs of Gaussian random numbers by Marsaglia's polar method,
// summed up and counted in square rings. Ranks speak only at the end: the rest is arithmetic.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "apps/common/share.h"
#include "apps/npb/common/benchmark.h"
#include "apps/npb/common/random.h"
#include "fairlead/run/fairlead.h"

FAIRLEAD_FIBER_PROGRAM;

namespace npb {
namespace {

const char kHelp[] =
    "Makes pairs of Gaussian random numbers: benchmark EP of the NAS Parallel Benchmarks.\n"
    "\n"
    "usage: npb_ep [class] [options]\n"
    "  class         S, W, A, B or C: 2^24, 2^25, 2^28, 2^30 or 2^32 pairs; default S\n"
    "  --declared    send all messages, but declare the computing to the modelled platform instead "
    "of\n"
    "                doing it: what large classes take there; nothing is verified\n"
    "  --json        print one JSON object\n"
    "\n"
    "Any number of ranks. The two sums are compared with those that NAS publishes.\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 4 npb_ep W\n"
    "  fairlead run -n 16 --on firelink --ranks-per-node 4 npb_ep S\n";

constexpr std::uint64_t kSeed = 271828183;
constexpr int kBatchLog2 = 16;  // pairs that are made from one place in the sequence
constexpr std::uint64_t kBatch = std::uint64_t{1} << kBatchLog2;
constexpr double kTolerance = 1e-8;
constexpr std::size_t kRings = 10;

// Guessed: two numbers of the generator, a product and sums of them for each pair, and for the
// 785 of 1000 pairs within the circle a logarithm, a root, a division and the counting.
constexpr std::uint64_t kOpsPerPair = 110;

struct Class {
  char name;
  int pairs_log2;
  double sum_x;
  double sum_y;
};
constexpr Class kClasses[] = {
    {'S', 24, -3.247834652034740e3, -6.958407078382297e3},
    {'W', 25, -2.863319731645753e3, -6.320053679109499e3},
    {'A', 28, -4.295875165629892e3, -1.580732573678431e4},
    {'B', 30, 4.033815542441498e4, -2.660669192809235e4},
    {'C', 32, 4.764367927995374e4, -8.084072988043731e4},
};

std::int64_t batches(const Class& of) { return std::int64_t{1} << (of.pairs_log2 - kBatchLog2); }

struct Sums {
  double x = 0;
  double y = 0;
  std::array<double, kRings> rings{};  // pairs by the whole part of their larger coordinate
};

void add_batch(std::int64_t batch, Sums& sums) {
  Random random(kSeed);
  random.skip(2 * kBatch * static_cast<std::uint64_t>(batch));
  Sums own;
  for (std::uint64_t i = 0; i < kBatch; ++i) {
    const double u = 2 * random.next() - 1;
    const double v = 2 * random.next() - 1;
    const double square = u * u + v * v;
    if (square > 1) continue;
    const double scale = std::sqrt(-2 * std::log(square) / square);
    const double x = u * scale;
    const double y = v * scale;
    own.x += x;
    own.y += y;
    ++own.rings[static_cast<std::size_t>(std::max(std::abs(x), std::abs(y)))];
  }
  sums.x += own.x;
  sums.y += own.y;
  for (std::size_t i = 0; i < kRings; ++i) sums.rings[i] += own.rings[i];
}

std::string refusal(const Job& job) {
  const std::int64_t most = batches(class_of(kClasses, job.name));
  if (job.ranks <= most) return {};
  return "it has only " + std::to_string(most) + " batches of pairs to share out";
}

Outcome run(const Job& job) {
  const Class& of = class_of(kClasses, job.name);
  const apps::Rows own = apps::share_of(job.rank, job.ranks, batches(of));
  const Stopwatch watch;
  Sums here;
  for (std::int64_t batch = own.begin; batch < own.end; ++batch) {
    if (!job.declared) add_batch(batch, here);
    declare_work(kBatch * kOpsPerPair, 0, 0);
  }
  Sums all;
  MPI_Allreduce(&here.x, &all.x, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&here.y, &all.y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(here.rings.data(), all.rings.data(), kRings, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  Outcome outcome;
  outcome.seconds = watch.stop();
  outcome.size = "2^" + std::to_string(of.pairs_log2) + " pairs";
  outcome.operations = std::ldexp(1, of.pairs_log2 + 1);
  outcome.unit = "random numbers made";
  if (job.declared) {
    outcome.verdict = Verdict::none;
    return outcome;
  }
  const bool good = close(all.x, of.sum_x, kTolerance) && close(all.y, of.sum_y, kTolerance);
  outcome.verdict = good ? Verdict::verified : Verdict::wrong;
  double pairs = 0;
  for (const double each : all.rings) pairs += each;
  outcome.values = {{"sum_x", digits(all.x)},
                    {"expected_sum_x", digits(of.sum_x)},
                    {"sum_y", digits(all.y)},
                    {"expected_sum_y", digits(of.sum_y)},
                    {"gaussian_pairs", std::to_string(static_cast<std::int64_t>(pairs))}};
  return outcome;
}

}  // namespace
}  // namespace npb

int main(int argc, char** argv) {
  return npb::main_of({"EP", "npb_ep", npb::kHelp, 0, npb::refusal, npb::run}, argc, argv);
}
