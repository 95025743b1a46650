// Conjugate gradients as in the Split-C paper (section 6): 4096 unknowns, neighbours' values by
// stores.
#include <cstdio>

#include "apps/cg/options.h"
#include "apps/cg/solver.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/systems/splitc/splitc.h"

FAIRLEAD_FIBER_PROGRAM;

namespace cg {
namespace {

void print(const Options& options, double seconds, std::int64_t iterations, double residual,
           bool good) {
  const auto unknowns = static_cast<long long>(options.grid * options.grid);
  const auto took = static_cast<long long>(iterations);
  if (options.json) {
    std::printf(
        "{\"app\":\"cg\",\"unknowns\":%lld,\"ranks\":%u,\"iterations\":%lld,\"seconds\":%.9g,"
        "\"residual\":%.3g",
        unknowns, splitc::procs(), took, seconds, residual);
    if (options.verify) std::printf(",\"verified\":%s", good ? "true" : "false");
    std::printf("}\n");
  } else {
    std::printf("cg: %lld unknowns on %u ranks: %lld iterations, residual %.3g, %.6f s\n", unknowns,
                splitc::procs(), took, residual, seconds);
    if (options.verify) std::printf("%s\n", good ? "verified: the residual is small" : "WRONG");
  }
  std::fflush(stdout);
}

int run(const Options& options) {
  Solver solver(options.grid);
  splitc::barrier();
  const double begin = splitc::seconds();
  const std::int64_t iterations = solver.solve(options.tolerance, options.iterations);
  const double seconds = splitc::seconds() - begin;
  const double residual = solver.residual();
  // Rounding leaves the residual that was carried along a little off the true one.
  const bool good = !options.verify || residual <= 2 * options.tolerance + 1e-12;
  if (splitc::my_proc() == 0) print(options, seconds, iterations, residual, good);
  return good ? 0 : 1;
}

}  // namespace
}  // namespace cg

int main(int argc, char** argv) {
  cg::Options options;
  if (const std::optional<int> over = cg::read(argc, argv, options)) return *over;
  return fairlead::splitc::start([&options] { return cg::run(options); });
}
