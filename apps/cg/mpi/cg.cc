// Conjugate gradients by MPI: the twin of the Split-C program, on the same solver.
#include <mpi.h>

#include <vector>

#include "apps/cg/options.h"
#include "apps/cg/solver.h"
#include "fairlead/run/fairlead.h"

FAIRLEAD_FIBER_PROGRAM;

namespace cg {
namespace {

class ByMessages final : public Neighbours {
 public:
  using Neighbours::Neighbours;

  double* make_field() override {
    const std::int64_t kept = is_whole() ? grid() : rows().end - rows().begin + 2;
    const auto values = static_cast<std::size_t>(kept * grid());
    return fields_.emplace_back(values).data();
  }

  void exchange(double* field) override {
    if (is_whole()) return share(field);
    MPI_Request requests[4];
    int count = 0;
    const auto swap = [&](std::uint32_t with, const double* mine, double* theirs) {
      const auto side = static_cast<int>(grid());
      const auto other = static_cast<int>(with);
      MPI_Irecv(theirs, side, MPI_DOUBLE, other, kTag, MPI_COMM_WORLD, &requests[count++]);
      MPI_Isend(mine, side, MPI_DOUBLE, other, kTag, MPI_COMM_WORLD, &requests[count++]);
    };
    if (has_above()) swap(rank() - 1, first(field), above(field));
    if (has_below()) swap(rank() + 1, last(field), below(field));
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  }

  double sum(double mine) override {
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
  }

 private:
  void share(double* field) {
    std::vector<int> counts;
    std::vector<int> places;
    for (std::uint32_t each = 0; each < ranks(); ++each) {
      const apps::Rows theirs = rows_of(each);
      counts.push_back(static_cast<int>((theirs.end - theirs.begin) * grid()));
      places.push_back(static_cast<int>(theirs.begin * grid()));
    }
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, field, counts.data(), places.data(),
                   MPI_DOUBLE, MPI_COMM_WORLD);
  }

  static constexpr int kTag = 1;
  std::vector<std::vector<double>> fields_;
};

int run(const Options& options) {
  int size = 0;
  int rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const auto ranks = static_cast<std::uint32_t>(size);
  ByMessages neighbours(static_cast<std::uint32_t>(rank), ranks, options.grid, options.matrix);
  Solver solver(neighbours);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  const std::int64_t iterations = solver.solve(options.tolerance, options.iterations);
  const double seconds = MPI_Wtime() - begin;
  return report(options, kMpi, {ranks, seconds, iterations, solver.residual()}, rank == 0);
}

}  // namespace
}  // namespace cg

int main(int argc, char** argv) {
  cg::Options options;
  if (const auto over = cg::read(cg::kMpi, argc, argv, options)) return *over;
  MPI_Init(&argc, &argv);
  const int answer = cg::run(options);
  MPI_Finalize();
  return answer;
}
