// CG of the NAS Parallel Benchmarks: the least eigenvalue of a sparse matrix by inverse iteration,
// each step of which solves a system by conjugate gradients. Its irregular matrix wants the whole
// vector everywhere, in long messages between a few ranks, and its dot products tiny ones.
#include <cstdint>
#include <string>

#include "apps/npb/cg/matrix.h"
#include "apps/npb/cg/solver.h"
#include "apps/npb/common/benchmark.h"
#include "fairlead/run/fairlead.h"

FAIRLEAD_FIBER_PROGRAM;

namespace npb {
namespace {

const char kHelp[] =
    "Estimates an eigenvalue of a sparse matrix: benchmark CG of the NAS Parallel Benchmarks.\n"
    "\n"
    "usage: npb_cg [class] [options]\n"
    "  class         S, W, A, B or C: 1400, 7000, 14000, 75000 or 150000 rows; default S\n"
    "  --steps N     of inverse iteration (S, W, A: 15; B, C: 75); others are not verified\n"
    "  --declared    send all messages, but declare the computing to the modelled platform instead "
    "of\n"
    "                doing it: what large classes take there; nothing is verified\n"
    "  --json        print one JSON object\n"
    "\n"
    "The number of ranks is a power of two. The eigenvalue is compared with the one that NAS\n"
    "publishes.\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 4 npb_cg W\n"
    "  fairlead run -n 16 --on firelink --ranks-per-node 4 npb_cg S\n";

constexpr std::int64_t kStepsMax = 1000;
constexpr std::int64_t kRanksMax = 4096;  // 64 x 64: blocks of class S have 21 rows
constexpr double kTolerance = 1e-10;

constexpr CgClass kClasses[] = {
    {'S', 1400, 7, 15, 10, 8.5971775078648, 78148},
    {'W', 7000, 8, 15, 12, 10.362595087124, 508402},
    {'A', 14000, 11, 15, 20, 17.130235054029, 1853104},
    {'B', 75000, 13, 75, 60, 22.712745482631, 13708072},
    {'C', 150000, 15, 75, 110, 28.973605592845, 36121058},
};

std::string refusal(const Job& job) {
  return refuse_unless_power_of_two(job.ranks, kRanksMax, "which have a few rows each");
}

// As NPB counts them: a row of the matrix is taken to have nonzeros * (nonzeros + 1) elements.
double operations(const CgClass& of, std::int64_t steps) {
  const double elements = of.nonzeros * (of.nonzeros + 1);
  return 2.0 * static_cast<double>(steps) * of.n * (3 + elements + 25 * (5 + elements) + 3);
}

Outcome run(const Job& job) {
  const CgClass& of = class_of(kClasses, job.name);
  const std::int64_t steps = job.steps == 0 ? of.steps : job.steps;
  CgSolver solver(of, job.rank, job.ranks, job.declared);
  solver.begin();
  solver.step();  // touches all memory, as NPB has it
  solver.begin();
  CgSolver::Step last{};
  const Stopwatch watch;
  for (std::int64_t i = 0; i < steps; ++i) last = solver.step();
  Outcome outcome;
  outcome.seconds = watch.stop();
  outcome.size = std::to_string(of.n) + " rows";
  outcome.steps = steps;
  outcome.operations = operations(of, steps);
  outcome.unit = "floating point";
  if (job.declared) {
    outcome.verdict = Verdict::none;
    return outcome;
  }
  if (steps == of.steps) {
    const bool good = on_all(close(last.zeta, of.zeta, kTolerance));
    outcome.verdict = good ? Verdict::verified : Verdict::wrong;
  }
  outcome.values = {{"zeta", digits(last.zeta)}, {"residual", digits(last.residual)}};
  if (steps == of.steps) outcome.values.emplace_back("expected_zeta", digits(of.zeta));
  return outcome;
}

}  // namespace
}  // namespace npb

int main(int argc, char** argv) {
  return npb::main_of({"CG", "npb_cg", npb::kHelp, npb::kStepsMax, npb::refusal, npb::run}, argc,
                      argv);
}
