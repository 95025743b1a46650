// Cholesky factorisation in Split-C: each rank has every procs-th panel of the matrix, and gets
// each panel once it is done, to take it out of its own.
#include <vector>

#include "apps/cholesky/options.h"
#include "apps/cholesky/panels.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/systems/splitc/splitc.h"

FAIRLEAD_FIBER_PROGRAM;

namespace cholesky {
namespace {

namespace splitc = fairlead::splitc;
using Memory = splitc::spread_array<double>;

void factor(const Panels& panels, const Memory& memory) {
  std::vector<double> fetched(panels.values_most());
  for (std::size_t done = 0; done < panels.count(); ++done) {
    const bool is_mine = done % splitc::procs() == splitc::my_proc();
    if (is_mine) panels.factor(done, memory.local(done));
    // Behind it nobody changes the panel any more.
    splitc::barrier();
    if (done + 1 == panels.count()) return;
    const double* its = fetched.data();
    if (is_mine) {
      its = memory.local(done);
    } else {
      splitc::bulk_get(fetched.data(), memory[done], panels.values(done));
      splitc::sync();
    }
    for (const std::size_t panel : splitc::for_my(panels.count())) {
      if (panel > done) panels.subtract(done, its, panel, memory.local(panel));
    }
  }
}

double residual(const Panels& panels, const Memory& memory) {
  splitc::barrier();
  double found = 0;
  if (splitc::my_proc() == 0) {
    found = panels.residual([&](std::size_t panel, double* to) {
      splitc::bulk_read(to, memory[panel], panels.values(panel));
    });
  }
  return splitc::broadcast(found, 0);
}

int run(const Options& options) {
  const Panels panels(static_cast<std::size_t>(options.size),
                      static_cast<std::size_t>(options.block));
  const Memory memory(panels.count(), panels.values_most());
  for (const std::size_t panel : splitc::for_my(panels.count())) {
    panels.fill(panel, memory.local(panel));
  }
  splitc::barrier();
  const double begin = splitc::seconds();
  factor(panels, memory);
  const double seconds = splitc::seconds() - begin;
  std::uint64_t sum = 0;
  for (const std::size_t panel : splitc::for_my(panels.count())) {
    sum += panels.checksum(panel, memory.local(panel));
  }
  sum = splitc::all_reduce_sum(sum) & kChecksumMask;
  const double rest = options.verify ? residual(panels, memory) : 0;
  return report(options, kSplitC, {splitc::procs(), seconds, sum, rest}, splitc::my_proc() == 0);
}

}  // namespace
}  // namespace cholesky

int main(int argc, char** argv) {
  cholesky::Options options;
  if (const auto over = cholesky::read(cholesky::kSplitC, argc, argv, options)) return *over;
  return fairlead::splitc::start([&options] { return cholesky::run(options); });
}
