// em3d by MPI: the twin of the Split-C program, on the same kernel. A rank packs what another one
// needs into one message.
#include <mpi.h>

#include <vector>

#include "apps/em3d/mpi/side.h"
#include "apps/em3d/report.h"
#include "fairlead/run/fairlead.h"

FAIRLEAD_FIBER_PROGRAM;

namespace em3d {
namespace {

bool verify(const Side& e, const Side& h, const Shape& shape, std::uint32_t me,
            std::int64_t iterations) {
  int same = 1;
  const Values wanted = me == 0 ? sequential(shape, iterations) : Values{};
  std::vector<double> all(me == 0 ? std::size_t{shape.nodes} * shape.ranks : 0);
  const auto nodes = static_cast<int>(shape.nodes);
  for (const Kind kind : {kE, kH}) {
    MPI_Gather((kind == kE ? e : h).values().data(), nodes, MPI_DOUBLE, all.data(), nodes,
               MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (std::uint32_t rank = 0; me == 0 && rank < shape.ranks; ++rank) {
      const std::span<const double> its(all.data() + std::size_t{rank} * shape.nodes, shape.nodes);
      if (!has_bits_of(wanted, shape, kind, rank, its)) same = 0;
    }
  }
  MPI_Bcast(&same, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return same == 1;
}

int run(const Options& options) {
  int size = 0;
  int rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const auto me = static_cast<std::uint32_t>(rank);
  const Shape shape(options, static_cast<std::uint32_t>(size));
  Side e(shape, kE, me);
  Side h(shape, kH, me);
  e.learn(h);
  h.learn(e);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (std::int64_t i = 0; i < options.iterations; ++i) {
    e.fetch(h);
    e.compute(h);
    h.fetch(e);
    h.compute(e);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - begin;
  const std::uint64_t part = checksum_of(shape, me, e.values(), h.values());
  std::uint64_t sum = 0;
  MPI_Allreduce(&part, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  const bool good = !options.verify || verify(e, h, shape, me, options.iterations);
  if (rank != 0) return good ? 0 : 1;
  return report(options, Front::mpi, {shape.ranks, seconds, sum & kChecksumMask, good});
}

}  // namespace
}  // namespace em3d

int main(int argc, char** argv) {
  em3d::Options options;
  if (const auto over = em3d::read(em3d::Front::mpi, argc, argv, options)) return *over;
  MPI_Init(&argc, &argv);
  const int answer = em3d::run(options);
  MPI_Finalize();
  return answer;
}
