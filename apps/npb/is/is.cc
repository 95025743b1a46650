// IS of the NAS Parallel Benchmarks: ranks integer keys ten times. All ranks exchange all keys in
// each ranking, so it measures how fast every rank sends to every other.
#include <mpi.h>

#include <algorithm>
#include <string>

#include "apps/npb/common/benchmark.h"
#include "apps/npb/is/sort.h"
#include "fairlead/run/fairlead.h"

FAIRLEAD_FIBER_PROGRAM;

namespace npb {
namespace {

const char kHelp[] =
    "Ranks integer keys by counting them: benchmark IS of the NAS Parallel Benchmarks.\n"
    "\n"
    "usage: npb_is [class] [options]\n"
    "  class         S, W, A, B or C: 2^16, 2^20, 2^23, 2^25 or 2^27 keys; default S\n"
    "  --steps N     rankings, up to the benchmark's 10 (10)\n"
    "  --declared    send all messages, but declare the computing to the modelled platform instead "
    "of\n"
    "                doing it: what large classes take there; nothing is verified\n"
    "  --json        print one JSON object\n"
    "\n"
    "The number of ranks is a power of two, at most 128 in class S and 1024 in others. Five keys' "
    "\n"
    "ranks in each ranking are compared with those that NAS publishes; at the end all keys must "
    "be\n"
    "in order.\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 4 npb_is W\n"
    "  fairlead run -n 16 --on firelink --ranks-per-node 4 npb_is S\n";

constexpr SortClass kClasses[] = {
    {'S',
     16,
     11,
     9,
     {{{48427, 0, 1, 0},
       {17148, 18, 1, 0},
       {23627, 346, 1, 0},
       {62548, 64917, -1, 0},
       {4431, 65463, -1, 0}}}},
    {'W',
     20,
     16,
     10,
     {{{357773, 1249, 1, -2},
       {934767, 11698, 1, -2},
       {875723, 1039987, -1, 0},
       {898999, 1043896, -1, 0},
       {404505, 1048018, -1, 0}}}},
    {'A',
     23,
     19,
     10,
     {{{2112377, 104, 1, -1},
       {662041, 17523, 1, -1},
       {5336171, 123928, 1, -1},
       {3642833, 8288932, -1, -1},
       {4250760, 8388264, -1, -1}}}},
    {'B',
     25,
     21,
     10,
     {{{41869, 33422937, -1, 0},
       {812306, 10244, 1, 0},
       {5102857, 59149, 1, 0},
       {18232239, 33135281, -1, 0},
       {26860214, 99, 1, 0}}}},
    {'C',
     27,
     23,
     10,
     {{{44172927, 61147, 1, 0},
       {72999161, 882988, 1, 0},
       {74326391, 266290, 1, 0},
       {129606274, 133997595, -1, 0},
       {21736814, 133525895, -1, 0}}}},
};

std::string refusal(const Job& job) {
  return refuse_unless_power_of_two(job.ranks, job.name == 'S' ? 128 : 1024,
                                    "as many as NPB lets share the buckets of keys");
}

Outcome run(const Job& job) {
  const SortClass& of = class_of(kClasses, job.name);
  const int rankings = job.steps == 0 ? kRankings : static_cast<int>(job.steps);
  Sort sort(of, job.rank, job.ranks, job.declared);
  sort.rank_keys(1);  // touches all memory, as NPB has it
  int passed = 0;
  const Stopwatch watch;
  for (int ranking = 1; ranking <= rankings; ++ranking) passed += sort.rank_keys(ranking);
  Outcome outcome;
  outcome.seconds = watch.stop();

  outcome.size =
      "2^" + std::to_string(of.keys_log2) + " keys below 2^" + std::to_string(of.key_end_log2);
  outcome.steps = rankings;
  outcome.operations = static_cast<double>(of.keys()) * rankings;
  outcome.unit = "keys ranked";
  if (job.declared) {
    outcome.verdict = Verdict::none;
    return outcome;
  }
  const bool sorted = on_all(sort.sorted());
  int all_passed = 0;
  MPI_Allreduce(&passed, &all_passed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const int expected = rankings * static_cast<int>(kChecks);
  outcome.verdict = sorted && all_passed == expected ? Verdict::verified : Verdict::wrong;
  outcome.values = {{"ranks_right", std::to_string(all_passed)},
                    {"ranks_checked", std::to_string(expected)},
                    {"sorted", sorted ? "yes" : "no"}};
  return outcome;
}

}  // namespace
}  // namespace npb

int main(int argc, char** argv) {
  return npb::main_of({"IS", "npb_is", npb::kHelp, npb::kRankings, npb::refusal, npb::run}, argc,
                      argv);
}
