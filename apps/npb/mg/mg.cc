// MG of the NAS Parallel Benchmarks: Poisson's equation on a periodic cube by multigrid cycles.
// Ranks exchange the faces of their boxes on every grid, so messages are of all sizes down to a few
// points.
#include <cstdint>
#include <string>

#include "apps/npb/common/benchmark.h"
#include "apps/npb/mg/multigrid.h"
#include "fairlead/run/fairlead.h"

FAIRLEAD_FIBER_PROGRAM;

namespace npb {
namespace {

const char kHelp[] =
    "Solves Poisson's equation by multigrid cycles: benchmark MG of the NAS Parallel Benchmarks.\n"
    "\n"
    "usage: npb_mg [class] [options]\n"
    "  class         S, W, A, B or C: 32, 128, 256, 256 or 512 points a side; default S\n"
    "  --steps N     cycles (S, W, A: 4; B, C: 20); others are not verified\n"
    "  --declared    send all messages, but declare the computing to the modelled platform instead "
    "of\n"
    "                doing it: what large classes take there; nothing is verified\n"
    "  --json        print one JSON object\n"
    "\n"
    "The number of ranks is a power of two. The last residual's norm is compared with the one "
    "that\n"
    "NAS publishes.\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 4 npb_mg W\n"
    "  fairlead run -n 16 --on firelink --ranks-per-node 4 npb_mg S\n";

constexpr std::int64_t kStepsMax = 1000;
constexpr double kTolerance = 1e-8;
constexpr double kOpsPerPoint = 58;  // in a cycle, as NPB counts them

constexpr Weights kSmootherA = {-3.0 / 8, 1.0 / 32, -1.0 / 64, 0};
constexpr Weights kSmootherB = {-3.0 / 17, 1.0 / 33, -1.0 / 61, 0};
constexpr MgClass kClasses[] = {
    {'S', 5, 4, kSmootherA, 0.5307707005734e-04},  {'W', 7, 4, kSmootherA, 0.6467329375339e-05},
    {'A', 8, 4, kSmootherA, 0.2433365309069e-05},  {'B', 8, 20, kSmootherB, 0.1800564401355e-05},
    {'C', 9, 20, kSmootherB, 0.5706732285740e-06},
};

std::string refusal(const Job& job) {
  const std::int64_t most_a_side = class_of(kClasses, job.name).points() / 2;
  return refuse_unless_power_of_two(job.ranks, most_a_side * most_a_side * most_a_side,
                                    "which have two points a side each");
}

Outcome run(const Job& job) {
  const MgClass& of = class_of(kClasses, job.name);
  const std::int64_t steps = job.steps == 0 ? of.steps : job.steps;
  Multigrid grids(of, job.rank, job.ranks, job.declared);
  grids.begin();
  grids.update_residual();
  grids.cycle();  // touches all memory, as NPB has it
  grids.begin();
  const Stopwatch watch;
  grids.update_residual();
  const double first = grids.norm();
  for (std::int64_t i = 0; i < steps; ++i) {
    grids.cycle();
    grids.update_residual();
  }
  const double norm = grids.norm();
  Outcome outcome;
  outcome.seconds = watch.stop();
  const std::string side = std::to_string(of.points());
  outcome.size = side + " x " + side + " x " + side + " points";
  outcome.steps = steps;
  const auto points = static_cast<double>(of.points());
  outcome.operations = kOpsPerPoint * static_cast<double>(steps) * points * points * points;
  outcome.unit = "floating point";
  if (job.declared) {
    outcome.verdict = Verdict::none;
    return outcome;
  }
  outcome.values = {{"first_norm", digits(first)}, {"norm", digits(norm)}};
  if (steps == of.steps) {
    const bool good = on_all(close(norm, of.norm, kTolerance));
    outcome.verdict = good ? Verdict::verified : Verdict::wrong;
    outcome.values.emplace_back("expected_norm", digits(of.norm));
  }
  return outcome;
}

}  // namespace
}  // namespace npb

int main(int argc, char** argv) {
  return npb::main_of({"MG", "npb_mg", npb::kHelp, npb::kStepsMax, npb::refusal, npb::run}, argc,
                      argv);
}
