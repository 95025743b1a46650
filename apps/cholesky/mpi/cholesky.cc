// Cholesky factorisation by MPI: the twin of the Split-C program, on the same panels, each of which
// its rank broadcasts once it is done.
#include <mpi.h>

#include <algorithm>
#include <vector>

#include "apps/cholesky/options.h"
#include "apps/cholesky/panels.h"
#include "fairlead/run/fairlead.h"

FAIRLEAD_FIBER_PROGRAM;

namespace cholesky {
namespace {

class Matrix {
 public:
  Matrix(const Panels& panels, int rank, int ranks)
      : panels_(panels),
        rank_(static_cast<std::size_t>(rank)),
        ranks_(static_cast<std::size_t>(ranks)) {
    for (std::size_t panel = rank_; panel < panels_.count(); panel += ranks_) {
      panels_.fill(panel, own_.emplace_back(panels_.values(panel)).data());
    }
  }

  void factor() {
    std::vector<double> fetched(panels_.values_most());
    for (std::size_t done = 0; done < panels_.count(); ++done) {
      double* const its = is_mine(done) ? local(done) : fetched.data();
      if (is_mine(done)) panels_.factor(done, its);
      if (done + 1 == panels_.count()) break;
      MPI_Bcast(its, values(done), MPI_DOUBLE, owner(done), MPI_COMM_WORLD);
      for (std::size_t panel = rank_; panel < panels_.count(); panel += ranks_) {
        if (panel > done) panels_.subtract(done, its, panel, local(panel));
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  std::uint64_t checksum() {
    std::uint64_t mine = 0;
    for (std::size_t panel = rank_; panel < panels_.count(); panel += ranks_) {
      mine += panels_.checksum(panel, local(panel));
    }
    std::uint64_t sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return sum & kChecksumMask;
  }

  // Rank 0 receives the panels, in their order.
  double residual() {
    double found = 0;
    if (rank_ == 0) {
      found = panels_.residual([this](std::size_t panel, double* to) {
        if (is_mine(panel)) {
          std::copy_n(local(panel), panels_.values(panel), to);
        } else {
          MPI_Recv(to, values(panel), MPI_DOUBLE, owner(panel), kTag, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
        }
      });
    } else {
      for (std::size_t panel = rank_; panel < panels_.count(); panel += ranks_) {
        MPI_Send(local(panel), values(panel), MPI_DOUBLE, 0, kTag, MPI_COMM_WORLD);
      }
    }
    MPI_Bcast(&found, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return found;
  }

 private:
  static constexpr int kTag = 1;

  bool is_mine(std::size_t panel) const { return panel % ranks_ == rank_; }
  int owner(std::size_t panel) const { return static_cast<int>(panel % ranks_); }
  int values(std::size_t panel) const { return static_cast<int>(panels_.values(panel)); }
  double* local(std::size_t panel) { return own_[panel / ranks_].data(); }

  const Panels& panels_;
  const std::size_t rank_;
  const std::size_t ranks_;
  std::vector<std::vector<double>> own_;
};

int run(const Options& options) {
  int size = 0;
  int rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const Panels panels(static_cast<std::size_t>(options.size),
                      static_cast<std::size_t>(options.block));
  Matrix matrix(panels, rank, size);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  matrix.factor();
  const double seconds = MPI_Wtime() - begin;
  const std::uint64_t sum = matrix.checksum();
  const double rest = options.verify ? matrix.residual() : 0;
  return report(options, kMpi, {static_cast<std::uint32_t>(size), seconds, sum, rest}, rank == 0);
}

}  // namespace
}  // namespace cholesky

int main(int argc, char** argv) {
  cholesky::Options options;
  if (const auto over = cholesky::read(cholesky::kMpi, argc, argv, options)) return *over;
  MPI_Init(&argc, &argv);
  const int answer = cholesky::run(options);
  MPI_Finalize();
  return answer;
}
