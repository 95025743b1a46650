#include "apps/npb/cg/solver.h"

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "apps/npb/common/benchmark.h"

namespace npb {
namespace {

constexpr int kIterations = 25;
// Guessed: for an element two loads of it, one of the vector, a product, a sum and the loop; for a
// vector's element in an iteration, three updates and two products with what they load and store.
constexpr std::uint64_t kOpsPerElement = 6;
constexpr std::uint64_t kOpsPerRow = 24;
constexpr std::uint64_t kBytesPerElement = sizeof(double) + sizeof(std::int32_t);
constexpr std::uint64_t kVectors = 5;

std::size_t length(apps::Rows rows) { return static_cast<std::size_t>(rows.end - rows.begin); }

}  // namespace

CgPlace::CgPlace(int rank, int ranks, int n) {
  while (grid_columns * grid_columns < ranks) grid_columns *= 2;
  const int columns_per_row = grid_columns / (ranks / grid_columns);  // 1 or 2
  row = rank / grid_columns;
  column = rank % grid_columns;
  const int part = column % columns_per_row;
  const auto columns_of = [this, n](int at) { return apps::share_of(at, grid_columns, n); };
  matrix_columns = columns_of(column);
  const int first = row * columns_per_row;
  matrix_rows = {columns_of(first).begin, columns_of(first + columns_per_row - 1).end};
  wanted = columns_of(first + part);
  transposed = column / columns_per_row * grid_columns + first + part;
}

CgSolver::CgSolver(const CgClass& of, int rank, int ranks, bool declared)
    : class_(of),
      declared_(declared),
      place_(rank, ranks, of.n),
      block_(declared ? Block() : Block(of, place_.matrix_rows, place_.matrix_columns)),
      elements_(declared ? static_cast<std::uint64_t>(of.elements / ranks) : block_.elements()),
      x_(length(place_.matrix_columns)),
      z_(x_.size()),
      p_(x_.size()),
      q_(x_.size()),
      r_(x_.size()),
      product_(length(place_.matrix_rows)),
      arrived_(product_.size()) {}

void CgSolver::begin() { std::fill(x_.begin(), x_.end(), 1.0); }

CgSolver::Step CgSolver::step() {
  const double residual = solve();
  double products[2] = {0, 0};
  for (std::size_t i = 0; i < x_.size(); ++i) {
    products[0] += x_[i] * z_[i];
    products[1] += z_[i] * z_[i];
  }
  sum(products, 2);
  const double scale = 1 / std::sqrt(products[1]);
  for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = scale * z_[i];
  return {class_.shift + 1 / products[0], residual};
}

// z of A z = x; returns |x - A z|.
double CgSolver::solve() {
  std::fill(z_.begin(), z_.end(), 0.0);
  r_ = x_;
  p_ = r_;
  double rho = dot(r_, r_);
  for (int i = 0; i < kIterations; ++i) {
    multiply(p_, q_);
    const double alpha = rho / dot(p_, q_);
    for (std::size_t k = 0; k < z_.size(); ++k) {
      z_[k] += alpha * p_[k];
      r_[k] -= alpha * q_[k];
    }
    const double rho_before = rho;
    rho = dot(r_, r_);
    const double beta = rho / rho_before;
    for (std::size_t k = 0; k < p_.size(); ++k) p_[k] = r_[k] + beta * p_[k];
    declare_work(p_.size() * kOpsPerRow, p_.size() * kVectors * sizeof(double),
                 p_.size() * kVectors * sizeof(double));
  }
  multiply(z_, r_);
  double squares = 0;
  for (std::size_t k = 0; k < r_.size(); ++k) squares += (x_[k] - r_[k]) * (x_[k] - r_[k]);
  sum(&squares, 1);
  return std::sqrt(squares);
}

void CgSolver::multiply(const std::vector<double>& in, std::vector<double>& out) {
  if (!declared_) block_.multiply(in.data(), product_.data());
  const std::uint64_t bytes = elements_ * kBytesPerElement;
  declare_work(elements_ * kOpsPerElement, bytes, bytes);
  add_over_row_of_ranks();
  const double* const wanted =
      &product_[static_cast<std::size_t>(place_.wanted.begin - place_.matrix_rows.begin)];
  if (place_.grid_columns == 1) {
    std::copy_n(wanted, out.size(), out.data());
    return;
  }
  MPI_Sendrecv(wanted, static_cast<int>(length(place_.wanted)), MPI_DOUBLE, place_.transposed, 1,
               out.data(), static_cast<int>(out.size()), MPI_DOUBLE, place_.transposed, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Each rank gets the sum of the rows that are wanted of it. Neighbours want different halves where
// the grid has two columns a row: they send each other what they do not need themselves.
void CgSolver::add_over_row_of_ranks() {
  const auto offset = [this](std::int64_t row) {
    return static_cast<std::size_t>(row - place_.matrix_rows.begin);
  };
  const std::size_t begin = offset(place_.wanted.begin);
  const std::size_t end = offset(place_.wanted.end);
  const bool halves = end - begin != product_.size();
  for (int distance = 1; distance < place_.grid_columns; distance *= 2) {
    std::size_t send_begin = begin;
    std::size_t send_end = end;
    if (halves && distance == 1) {
      send_begin = begin == 0 ? end : 0;
      send_end = begin == 0 ? product_.size() : begin;
    }
    const int partner = neighbour(distance);
    MPI_Sendrecv(&product_[send_begin], static_cast<int>(send_end - send_begin), MPI_DOUBLE,
                 partner, 2, &arrived_[begin], static_cast<int>(end - begin), MPI_DOUBLE, partner,
                 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (std::size_t i = begin; i < end; ++i) product_[i] += arrived_[i];
  }
}

void CgSolver::sum(double* values, int count) const {
  double theirs[2];
  for (int distance = 1; distance < place_.grid_columns; distance *= 2) {
    const int partner = neighbour(distance);
    MPI_Sendrecv(values, count, MPI_DOUBLE, partner, 3, theirs, count, MPI_DOUBLE, partner, 3,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; ++i) values[i] += theirs[i];
  }
}

double CgSolver::dot(const std::vector<double>& a, const std::vector<double>& b) const {
  double product = 0;
  for (std::size_t i = 0; i < a.size(); ++i) product += a[i] * b[i];
  sum(&product, 1);
  return product;
}

}  // namespace npb
