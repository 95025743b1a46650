// Cholesky factorisation in Split-C: each rank has every procs-th panel of the matrix, and gets
// each panel once it is done, to take it out of its own.
#include <cstdio>

#include "apps/cholesky/matrix.h"
#include "apps/cholesky/options.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/systems/splitc/splitc.h"

FAIRLEAD_FIBER_PROGRAM;

namespace cholesky {
namespace {

void print(const Options& options, double seconds, std::uint64_t sum, double residual, bool good) {
  const auto size = static_cast<long long>(options.size);
  const auto check = static_cast<unsigned long long>(sum);
  if (options.json) {
    std::printf(
        "{\"app\":\"cholesky\",\"size\":%lld,\"block\":%lld,\"ranks\":%u,\"seconds\":%.9g,"
        "\"checksum\":%llu",
        size, static_cast<long long>(options.block), splitc::procs(), seconds, check);
    if (options.verify) {
      std::printf(",\"residual\":%.3g,\"verified\":%s", residual, good ? "true" : "false");
    }
    std::printf("}\n");
  } else {
    std::printf("cholesky: %lld rows on %u ranks: checksum %llu, %.6f s\n", size, splitc::procs(),
                check, seconds);
    if (options.verify) {
      std::printf("%s: residual %.3g\n", good ? "verified" : "WRONG", residual);
    }
  }
  std::fflush(stdout);
}

int run(const Options& options) {
  Matrix matrix(static_cast<std::size_t>(options.size), static_cast<std::size_t>(options.block));
  splitc::barrier();
  const double begin = splitc::seconds();
  matrix.factor();
  const double seconds = splitc::seconds() - begin;
  const std::uint64_t sum = matrix.checksum();
  const double residual = options.verify ? matrix.residual() : 0;
  const bool good = residual < 1e-12;
  if (splitc::my_proc() == 0) print(options, seconds, sum, residual, good);
  return good ? 0 : 1;
}

}  // namespace
}  // namespace cholesky

int main(int argc, char** argv) {
  cholesky::Options options;
  if (const std::optional<int> over = cholesky::read(argc, argv, options)) return *over;
  return fairlead::splitc::start([&options] { return cholesky::run(options); });
}
