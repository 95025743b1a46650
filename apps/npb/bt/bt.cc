// BT of the NAS Parallel Benchmarks: implicit steps of a flow, each with systems of 5 x 5 blocks
// along lines in three directions. Ranks pass the blocks of whole faces on from cell to cell.
#include <string>

#include "apps/npb/common/adi.h"
#include "apps/npb/common/benchmark.h"
#include "fairlead/run/fairlead.h"

FAIRLEAD_FIBER_PROGRAM;

namespace npb {
namespace {

const char kHelp[] =
    "Sends the messages of benchmark BT of the NAS Parallel Benchmarks, and declares its "
    "computing.\n"
    "\n"
    "usage: npb_bt [class] --declared [options]\n"
    "  class         S, W, A, B or C: 12, 24, 64, 102 or 162 points a side; default S\n"
    "  --steps N     time steps (S: 60, others 200)\n"
    "  --declared    declare the computing to the modelled platform; the only way there is\n"
    "  --json        print one JSON object\n"
    "\n"
    "The number of ranks is a square. Nothing is verified.\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 16 --on firelink --ranks-per-node 8 npb_bt A --declared --steps 2\n";

constexpr std::int64_t kStepsMax = 1000;

constexpr AdiMethod kMethod = {
    {0, 28023.7, -17655.7, 3478.8}, 0.12, 0.15, 5 * 5 + 5, 5, true, 25 + 2 * 5};

constexpr AdiClass kClasses[] = {
    {'S', 12, 60}, {'W', 24, 200}, {'A', 64, 200}, {'B', 102, 200}, {'C', 162, 200}};

std::string refusal(const Job& job) { return refuse_adi(class_of(kClasses, job.name), job); }

Outcome run(const Job& job) { return run_adi(kMethod, class_of(kClasses, job.name), job); }

}  // namespace
}  // namespace npb

int main(int argc, char** argv) {
  return npb::main_of({"BT", "npb_bt", npb::kHelp, npb::kStepsMax, npb::refusal, npb::run}, argc,
                      argv);
}
