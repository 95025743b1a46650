// em3d as the Split-C paper runs it (section 6): waves on an irregular bipartite graph, whose edges
// lead to other ranks for the most part of what is sent.
#include <bit>
#include <cstdio>
#include <vector>

#include "apps/em3d/graph.h"
#include "apps/em3d/options.h"
#include "apps/em3d/side.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/systems/splitc/splitc.h"

FAIRLEAD_FIBER_PROGRAM;

namespace em3d {
namespace {

// A sum over all values' bits and their places.
std::uint64_t checksum(const Side& e, const Side& h, const Shape& shape) {
  std::uint64_t sum = 0;
  std::uint64_t place = std::uint64_t{splitc::my_proc()} * shape.nodes * 2;
  for (const Side* side : {&e, &h}) {
    for (const double value : side->values()) {
      sum += std::bit_cast<std::uint64_t>(value) * (2 * ++place + 1);
    }
  }
  return splitc::all_reduce_sum(sum) & ((std::uint64_t{1} << 40) - 1);
}

// On rank 0: every value of every rank has the bits of the sequential one.
bool verify(const Side& e, const Side& h, const Shape& shape, std::int64_t iterations) {
  bool same = true;
  if (splitc::my_proc() == 0) {
    const Values wanted = sequential(shape, iterations);
    std::vector<double> there(shape.nodes);
    for (const Kind kind : {kE, kH}) {
      const double* at = wanted.of[kind].data();
      for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) {
        splitc::bulk_read(there.data(), (kind == kE ? e : h).values_of(rank), shape.nodes);
        for (const double value : there) {
          same = same && std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(*at++);
        }
      }
    }
  }
  return splitc::broadcast(same, 0);
}

void print(const Options& options, double seconds, std::uint64_t sum, bool same) {
  const char* const variant = name_of(options.variant);
  const auto check = static_cast<unsigned long long>(sum);
  if (options.json) {
    std::printf(
        "{\"app\":\"em3d\",\"variant\":\"%s\",\"nodes\":%lld,\"degree\":%lld,\"remote\":%lld,"
        "\"iterations\":%lld,\"ranks\":%u,\"seconds\":%.9g,\"checksum\":%llu",
        variant, static_cast<long long>(options.nodes), static_cast<long long>(options.degree),
        static_cast<long long>(options.remote_percent), static_cast<long long>(options.iterations),
        splitc::procs(), seconds, check);
    if (options.verify) std::printf(",\"verified\":%s", same ? "true" : "false");
    std::printf("}\n");
  } else {
    std::printf("em3d: %lld nodes a rank on %u ranks, %s: checksum %llu, %.6f s\n",
                static_cast<long long>(options.nodes), splitc::procs(), variant, check, seconds);
    if (options.verify) std::printf("%s\n", same ? "verified: the sequential values" : "WRONG");
  }
  std::fflush(stdout);
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
  const std::uint64_t sum = checksum(e, h, shape);
  const bool same = !options.verify || verify(e, h, shape, options.iterations);
  if (splitc::my_proc() == 0) print(options, seconds, sum, same);
  return same ? 0 : 1;
}

}  // namespace
}  // namespace em3d

int main(int argc, char** argv) {
  em3d::Options options;
  if (const std::optional<int> over = em3d::read(argc, argv, options)) return *over;
  return fairlead::splitc::start([&options] { return em3d::run(options); });
}
