// SP of the NAS Parallel Benchmarks: implicit steps of a flow, each with scalar systems of five
// diagonals along lines in three directions. Ranks pass their ends on from cell to cell.
#include <string>

#include "apps/npb/common/adi.h"
#include "apps/npb/common/benchmark.h"
#include "fairlead/run/fairlead.h"

FAIRLEAD_FIBER_PROGRAM;

namespace npb {
namespace {

const char kHelp[] =
    "Sends the messages of benchmark SP of the NAS Parallel Benchmarks, and declares its "
    "computing.\n"
    "\n"
    "usage: npb_sp [class] --declared [options]\n"
    "  class         S, W, A, B or C: 12, 36, 64, 102 or 162 points a side; default S\n"
    "  --steps N     time steps (S: 100, others 400)\n"
    "  --declared    declare the computing to the modelled platform; the only way there is\n"
    "  --json        print one JSON object\n"
    "\n"
    "The number of ranks is a square. Nothing is verified.\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 16 --on firelink --ranks-per-node 8 npb_sp A --declared --steps 2\n";

constexpr std::int64_t kStepsMax = 1000;

constexpr AdiMethod kMethod = {
    {-19272.4, 11484.5, -4683.91, 881.174}, 0.4, 0.25, 22, 10, false, 15 + 2 * 5};

constexpr AdiClass kClasses[] = {
    {'S', 12, 100}, {'W', 36, 400}, {'A', 64, 400}, {'B', 102, 400}, {'C', 162, 400}};

std::string refusal(const Job& job) { return refuse_adi(class_of(kClasses, job.name), job); }

Outcome run(const Job& job) { return run_adi(kMethod, class_of(kClasses, job.name), job); }

}  // namespace
}  // namespace npb

int main(int argc, char** argv) {
  return npb::main_of({"SP", "npb_sp", npb::kHelp, npb::kStepsMax, npb::refusal, npb::run}, argc,
                      argv);
}
