// QR factorization as the LCI paper runs it (section 7): in each step the owner of the pivot column
// broadcasts its Householder vector, every rank applies it to its columns, and one reduction of two
// numbers and two places chooses the next pivot.
#include <mpi.h>

#include <cstdio>
#include <span>
#include <utility>
#include <vector>

#include "apps/qr/check.h"
#include "apps/qr/factor.h"
#include "apps/qr/options.h"
#include "fairlead/run/fairlead.h"

FAIRLEAD_FIBER_PROGRAM;

namespace qr {
namespace {

// For one element of a column that a reflection is applied to: two passes of two loads, a
// multiplication and an addition whose latency shows, one of them with a store. Fitted: 3.6e8
// elements, cache misses included, in the 58.7 s of table VII on the PPro.
constexpr std::uint64_t kOpsPerElement = 26;

// When so much of one norm has cancelled, ten of sixteen digits are left, all ranks sum theirs up
// again and choose once more.
constexpr double kLossMax = 1e6;

constexpr double kErrorMax = 1e-12;
// What a norm's lost digits may do to the order of the pivots.
constexpr double kRiseMax = 1e-6;

bool good(const Errors& errors) {
  return errors.residual <= kErrorMax && errors.orthogonality <= kErrorMax &&
         errors.rise <= kRiseMax;
}

void declare_work(const Factor& factor, std::int64_t step) {
  if (fairlead_work == nullptr) return;
  const auto elements = static_cast<std::uint64_t>(factor.active_columns() * (factor.n() - step));
  const auto bytes = elements * sizeof(double);
  fairlead_work(elements * kOpsPerElement, bytes, bytes);
}

// It is the same on all ranks, and for any number of them: of equal values the lowest column wins.
Choice agree(const Factor& factor) {
  static_assert(sizeof(Choice) == 2 * (sizeof(double) + sizeof(double)), "two MPI_DOUBLE_INT");
  const Choice own = factor.best();
  Choice all;
  MPI_Allreduce(&own, &all, 2, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  return all;
}

// The columns in the order in which they were eliminated.
std::vector<int> factorize(Factor& factor, int ranks) {
  const std::int64_t n = factor.n();
  std::vector<int> order;
  std::vector<double> arrived(static_cast<std::size_t>(n));
  for (std::int64_t step = 0; step < n; ++step) {
    Choice choice = agree(factor);
    if (choice.loss.value > kLossMax) {
      factor.renew_norms(step);
      choice = agree(factor);
    }
    const int pivot = choice.pivot.column;
    order.push_back(pivot);
    const int count = static_cast<int>(n - step);
    std::span<const double> v(arrived.data(), static_cast<std::size_t>(count));
    if (factor.owns(pivot)) {
      v = factor.eliminate(pivot, step);
      // MPI_Bcast only reads at its root.
      MPI_Bcast(const_cast<double*>(v.data()), count, MPI_DOUBLE, pivot % ranks, MPI_COMM_WORLD);
    } else {
      MPI_Bcast(arrived.data(), count, MPI_DOUBLE, pivot % ranks, MPI_COMM_WORLD);
    }
    factor.reflect(v, step);
    declare_work(factor, step);
  }
  return order;
}

// All columns at rank 0.
Whole collect(const Factor& factor, const Matrix& matrix, std::vector<int> order, int rank,
              int ranks) {
  Whole whole{matrix, std::move(order), {}};
  const int count = static_cast<int>(factor.n()) + 1;
  for (int j = 0; j < factor.n(); ++j) {
    if (rank == 0) {
      std::vector<double>& to = whole.columns.emplace_back(static_cast<std::size_t>(count));
      if (factor.owns(j)) {
        to.assign(factor.column(j).begin(), factor.column(j).end());
      } else {
        MPI_Recv(to.data(), count, MPI_DOUBLE, j % ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    } else if (factor.owns(j)) {
      MPI_Send(factor.column(j).data(), count, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
    }
  }
  return whole;
}

void print(const Options& options, const std::vector<int>& order, const Errors& errors, int ranks,
           double seconds) {
  const long long n = options.n;
  if (options.json) {
    std::printf(
        "{\"app\":\"qr\",\"size\":%lld,\"ranks\":%d,\"first\":%d,\"last\":%d,\"seconds\":%.9g", n,
        ranks, order.front(), order.back(), seconds);
    if (options.verify) {
      std::printf(",\"residual\":%.17g,\"orthogonality\":%.17g,\"verified\":%s", errors.residual,
                  errors.orthogonality, good(errors) ? "true" : "false");
    }
    std::printf("}\n");
  } else {
    std::printf("qr: %lld x %lld on %d ranks, pivots from %d to %d, %.6f s\n", n, n, ranks,
                order.front(), order.back(), seconds);
    if (options.verify) {
      std::printf("%s: residual %.2e, orthogonality %.2e\n", good(errors) ? "verified" : "WRONG",
                  errors.residual, errors.orthogonality);
    }
  }
  std::fflush(stdout);
}

// The rank's part, after MPI_Init; the exit code.
int run(const Options& options) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > options.n) {
    if (rank == 0) std::fprintf(stderr, "qr: more ranks than columns; raise --size\n");
    return 1;
  }
  const Matrix matrix{options.n, options.distinct > 0 ? options.distinct : options.n};
  Factor factor(rank, ranks, matrix);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  const std::vector<int> order = factorize(factor, ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - begin;
  Errors errors;
  if (options.verify) {
    const Whole whole = collect(factor, matrix, order, rank, ranks);
    if (rank == 0) errors = errors_of(whole);
  }
  if (rank == 0) print(options, order, errors, ranks, seconds);
  return good(errors) ? 0 : 1;
}

}  // namespace
}  // namespace qr

int main(int argc, char** argv) {
  qr::Options options;
  if (const std::optional<int> over = qr::read(argc, argv, options)) return *over;
  MPI_Init(&argc, &argv);
  const int exit_code = qr::run(options);
  MPI_Finalize();
  return exit_code;
}
