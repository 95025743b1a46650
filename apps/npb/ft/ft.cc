// FT of the NAS Parallel Benchmarks: a heat equation in three dimensions, solved in frequencies. In
// each step all ranks exchange the whole field.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/npb/common/benchmark.h"
#include "apps/npb/ft/field.h"
#include "fairlead/run/fairlead.h"

FAIRLEAD_FIBER_PROGRAM;

namespace npb {
namespace {

const char kHelp[] =
    "Solves a heat equation by Fourier transforms: benchmark FT of the NAS Parallel Benchmarks.\n"
    "\n"
    "usage: npb_ft [class] [options]\n"
    "  class         S (64 x 64 x 64 points), W (128 x 128 x 32), A (256 x 256 x 128),\n"
    "                B (512 x 256 x 256) or C (512 x 512 x 512); default S\n"
    "  --steps N     of time (S, W, A: 6; B, C: 20)\n"
    "  --declared    send all messages, but declare the computing to the modelled platform instead "
    "of\n"
    "                doing it: what large classes take there; nothing is verified\n"
    "  --json        print one JSON object\n"
    "\n"
    "The number of ranks is a power of two, at most the planes or the rows of the field. Each "
    "step's\n"
    "checksum is compared with the one that NAS publishes.\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 4 npb_ft W\n"
    "  fairlead run -n 16 --on firelink --ranks-per-node 4 npb_ft S\n";

constexpr std::int64_t kStepsMax = 1000;
constexpr double kTolerance = 1e-12;

// As published, by class and step.
constexpr Complex kS[] = {{554.6087004964, 484.5363331978}, {554.6385409189, 486.5304269511},
                          {554.6148406171, 488.3910722336}, {554.5423607415, 490.1273169046},
                          {554.4255039624, 491.7475857993}, {554.2683411902, 493.2597244941}};
constexpr Complex kW[] = {{567.3612178944, 529.3246849175}, {563.1436885271, 528.2149986629},
                          {559.4024089970, 527.0996558037}, {556.0698047020, 526.0027904925},
                          {553.0898991250, 524.9400845633}, {550.4159734538, 523.9212247086}};
constexpr Complex kA[] = {{504.6735008193, 511.4047905510}, {505.9412319734, 509.8809666433},
                          {506.9376896287, 509.8144042213}, {507.7892868474, 510.1336130759},
                          {508.5233095391, 510.4914655194}, {509.1487099959, 510.7917842803}};
constexpr Complex kB[] = {{517.7643571579, 507.7803458597}, {515.4521291263, 508.8249431599},
                          {514.6409228649, 509.6208912659}, {514.2378756213, 510.1023387619},
                          {513.9626667737, 510.3976610617}, {513.7423460082, 510.5948019802},
                          {513.5547056878, 510.7404165783}, {513.3910925466, 510.8576573661},
                          {513.2470705390, 510.9577278523}, {513.1197729984, 511.0460304483},
                          {513.0070319283, 511.1252433800}, {512.9070537032, 511.1968077718},
                          {512.8182883502, 511.2616233064}, {512.7393733383, 511.3203605551},
                          {512.6691062020, 511.3735928093}, {512.6064276004, 511.4218460548},
                          {512.5504076570, 511.4656139760}, {512.5002331720, 511.5053595966},
                          {512.4551951846, 511.5415130407}, {512.4146770029, 511.5744692211}};
constexpr Complex kC[] = {{519.5078707457, 514.9019699238}, {515.5422171134, 512.7578201997},
                          {514.4678022222, 512.2251847514}, {514.0150594328, 512.1090289018},
                          {513.7550426810, 512.1143685824}, {513.5811056728, 512.1496764568},
                          {513.4569343165, 512.1870921893}, {513.3651975661, 512.2193250322},
                          {513.2955192805, 512.2454735794}, {513.2410471738, 512.2663649603},
                          {513.1971141679, 512.2830879827}, {513.1605205716, 512.2965869718},
                          {513.1290734194, 512.3075927445}, {513.1012720314, 512.3166486553},
                          {513.0760908195, 512.3241541685}, {513.0528295923, 512.3304037599},
                          {513.0310107773, 512.3356167976}, {513.0103090133, 512.3399592211},
                          {512.9905029333, 512.3435588985}, {512.9714421109, 512.3465164008}};

struct Class {
  char name;
  FtSize size;
  std::span<const Complex> checksums;  // after each step
};
constexpr Class kClasses[] = {
    {'S', {64, 64, 64}, kS},    {'W', {128, 128, 32}, kW},  {'A', {256, 256, 128}, kA},
    {'B', {512, 256, 256}, kB}, {'C', {512, 512, 512}, kC},
};

std::string refusal(const Job& job) {
  const FtSize& size = class_of(kClasses, job.name).size;
  return refuse_unless_power_of_two(job.ranks, std::min(size.ny, size.nz),
                                    "as a rank has whole planes and rows");
}

double operations(const FtSize& size, std::int64_t steps) {
  const auto points = static_cast<double>(size.points());
  const double log = std::log(points);
  return points *
         (14.8157 + 7.19641 * log + (5.23518 + 7.21113 * log) * static_cast<double>(steps));
}

bool same(Complex found, Complex expected) {
  const double error = std::hypot(found.re - expected.re, found.im - expected.im);
  return error <= kTolerance * std::hypot(expected.re, expected.im);
}

// On rank 0, which has the sums.
Verdict verdict_of(const std::vector<Complex>& sums, std::span<const Complex> expected) {
  for (std::size_t i = 0; i < std::min(sums.size(), expected.size()); ++i) {
    if (!same(sums[i], expected[i])) return Verdict::wrong;
  }
  return sums.size() <= expected.size() ? Verdict::verified : Verdict::unknown;
}

std::vector<Complex> solve(Field& field, std::int64_t steps) {
  field.begin();
  std::vector<Complex> sums;
  for (std::int64_t i = 0; i < steps; ++i) {
    const Complex own = field.step();
    Complex& all = sums.emplace_back(Complex{0, 0});
    MPI_Reduce(&own, &all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  }
  return sums;
}

Outcome run(const Job& job) {
  const Class& of = class_of(kClasses, job.name);
  const std::int64_t steps =
      job.steps == 0 ? static_cast<std::int64_t>(of.checksums.size()) : job.steps;
  Field field(of.size, job.rank, job.ranks, job.declared);
  field.begin();  // touches all memory, as NPB has it
  const Stopwatch watch;
  const std::vector<Complex> sums = solve(field, steps);
  Outcome outcome;
  outcome.seconds = watch.stop();
  outcome.size = std::to_string(of.size.nx) + " x " + std::to_string(of.size.ny) + " x " +
                 std::to_string(of.size.nz) + " points";
  outcome.steps = steps;
  outcome.operations = operations(of.size, steps);
  outcome.unit = "floating point";
  if (job.declared) {
    outcome.verdict = Verdict::none;
    return outcome;
  }
  int verdict = static_cast<int>(verdict_of(sums, of.checksums));
  MPI_Bcast(&verdict, 1, MPI_INT, 0, MPI_COMM_WORLD);
  outcome.verdict = static_cast<Verdict>(verdict);
  outcome.values = {{"checksum_re", digits(sums.back().re)},
                    {"checksum_im", digits(sums.back().im)}};
  if (sums.size() <= of.checksums.size()) {
    const Complex& expected = of.checksums[sums.size() - 1];
    outcome.values.emplace_back("expected_re", digits(expected.re));
    outcome.values.emplace_back("expected_im", digits(expected.im));
  }
  return outcome;
}

}  // namespace
}  // namespace npb

int main(int argc, char** argv) {
  return npb::main_of({"FT", "npb_ft", npb::kHelp, npb::kStepsMax, npb::refusal, npb::run}, argc,
                      argv);
}
