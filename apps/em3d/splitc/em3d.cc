// em3d as the Split-C paper runs it (section 6): waves on an irregular bipartite graph, whose edges
// lead to other ranks for the most part of what is sent.
#include <vector>

#include "apps/em3d/report.h"
#include "apps/em3d/splitc/side.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/systems/splitc/splitc.h"

FAIRLEAD_FIBER_PROGRAM;

namespace em3d {
namespace {

// On rank 0: every value of every rank has the bits of the sequential one.
bool verify(const Side& e, const Side& h, const Shape& shape, std::int64_t iterations) {
  bool same = true;
  if (splitc::my_proc() == 0) {
    const Values wanted = sequential(shape, iterations);
    std::vector<double> there(shape.nodes);
    for (const Kind kind : {kE, kH}) {
      for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) {
        splitc::bulk_read(there.data(), (kind == kE ? e : h).values_of(rank), shape.nodes);
        same = same && has_bits_of(wanted, shape, kind, rank, there);
      }
    }
  }
  return splitc::broadcast(same, 0);
}

int run(const Options& options) {
  const Shape shape(options, splitc::procs());
  Side e(shape, kE);
  Side h(shape, kH);
  e.learn(h);
  h.learn(e);
  splitc::barrier();
  const double begin = splitc::seconds();
  for (std::int64_t i = 0; i < options.iterations; ++i) {
    e.fetch(h, options.variant);
    e.compute(h);
    h.fetch(e, options.variant);
    h.compute(e);
  }
  splitc::barrier();
  const double seconds = splitc::seconds() - begin;
  const std::uint64_t part = checksum_of(shape, splitc::my_proc(), e.values(), h.values());
  const std::uint64_t sum = splitc::all_reduce_sum(part) & kChecksumMask;
  const bool good = !options.verify || verify(e, h, shape, options.iterations);
  if (splitc::my_proc() != 0) return good ? 0 : 1;
  return report(options, Front::splitc, {splitc::procs(), seconds, sum, good});
}

}  // namespace
}  // namespace em3d

int main(int argc, char** argv) {
  em3d::Options options;
  if (const auto over = em3d::read(em3d::Front::splitc, argc, argv, options)) return *over;
  return fairlead::splitc::start([&options] { return em3d::run(options); });
}
