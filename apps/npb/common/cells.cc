#include "apps/npb/common/cells.h"

#include <mpi.h>

#include <algorithm>
#include <cmath>

namespace npb {
namespace {

constexpr int kVariables = 5;  // numbers of a point
constexpr int kLayers = 2;     // of points that a neighbour needs
constexpr int kSmallest = 3;   // points a side of a cell

int root_of(int ranks) { return static_cast<int>(std::lround(std::sqrt(ranks))); }

}  // namespace

std::string Cells::refusal(int points, int ranks) {
  const int a_side = root_of(ranks);
  if (a_side * a_side != ranks) return "it needs a square number of them";
  if (points / a_side >= kSmallest) return {};
  const int most = points / kSmallest;
  return "it takes at most " + std::to_string(most * most) +
         ", whose cells have three points a side";
}

Cells::Cells(int points, int rank, int ranks) : points_(points), a_side_(root_of(ranks)) {
  const int p = a_side_;
  const int column = rank % p;
  const int row = rank / p;
  for (int i = 0; i < p; ++i) {
    Cell cell{};
    cell.at = {(column + i) % p, (row - i + p) % p, i};
    for (std::size_t direction = 0; direction < 3; ++direction) {
      cell.size[direction] = points / p + (cell.at[direction] < points % p ? 1 : 0);
    }
    cells_.push_back(cell);
  }
  const auto at = [p](int x, int y) { return (x + p) % p + p * ((y + p) % p); };
  predecessor_ = {at(column - 1, row), at(column, row - 1), at(column + 1, row - 1)};
  successor_ = {at(column + 1, row), at(column, row + 1), at(column - 1, row + 1)};
}

std::uint64_t Cells::points() const {
  std::uint64_t sum = 0;
  for (const Cell& cell : cells_) sum += cell.points();
  return sum;
}

std::size_t Cells::inner_face(const Cell& cell, int direction) const {
  std::size_t product = 1;
  for (int other = 0; other < 3; ++other) {
    if (other == direction) continue;
    const auto which = static_cast<std::size_t>(other);
    const int surfaces = (cell.at[which] == 0 ? 1 : 0) + (cell.at[which] == a_side_ - 1 ? 1 : 0);
    product *= static_cast<std::size_t>(cell.size[which] - surfaces);
  }
  return product;
}

const Cells::Cell& Cells::in_layer(int direction, int layer) const {
  return *std::find_if(cells_.begin(), cells_.end(), [&](const Cell& cell) {
    return cell.at[static_cast<std::size_t>(direction)] == layer;
  });
}

void Cells::exchange_faces() {
  if (a_side_ == 1) return;
  // By direction, to its successor, then to its predecessor.
  std::array<std::size_t, 6> counts{};
  for (const Cell& cell : cells_) {
    for (std::size_t d = 0; d < 3; ++d) {
      const auto face = static_cast<std::size_t>(cell.size[(d + 1) % 3]) *
                        static_cast<std::size_t>(cell.size[(d + 2) % 3]) * kVariables * kLayers;
      if (cell.at[d] != a_side_ - 1) counts[2 * d] += face;
      if (cell.at[d] != 0) counts[2 * d + 1] += face;
    }
  }
  std::size_t all = 0;
  for (const std::size_t count : counts) all += count;
  out_.resize(std::max(out_.size(), all));
  in_.resize(std::max(in_.size(), all));
  std::array<MPI_Request, 12> requests{};
  std::size_t begin = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    const std::size_t d = i / 2;
    const int from = i % 2 == 0 ? successor_[d] : predecessor_[d];
    // What comes from one side is what that one sends to the other side.
    MPI_Irecv(in_.data() + begin, static_cast<int>(counts[i]), MPI_DOUBLE, from,
              static_cast<int>(i ^ 1), MPI_COMM_WORLD, &requests[i]);
    begin += counts[i];
  }
  begin = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    const std::size_t d = i / 2;
    const int to = i % 2 == 0 ? successor_[d] : predecessor_[d];
    MPI_Isend(out_.data() + begin, static_cast<int>(counts[i]), MPI_DOUBLE, to, static_cast<int>(i),
              MPI_COMM_WORLD, &requests[6 + i]);
    begin += counts[i];
  }
  MPI_Waitall(12, requests.data(), MPI_STATUSES_IGNORE);
}

void Cells::sweep(int direction, const Doubles& forward, const Compute& forward_work,
                  const Doubles& backward, const Compute& backward_work) {
  constexpr int kForward = 10;
  constexpr int kBackward = 20;
  const auto which = static_cast<std::size_t>(direction);
  MPI_Request sent = MPI_REQUEST_NULL;
  const auto receive = [&](const Cell& cell, const Doubles& doubles, int from, int tag) {
    const std::size_t count = doubles(cell, direction);
    in_.resize(std::max(in_.size(), count));
    MPI_Request coming = MPI_REQUEST_NULL;
    MPI_Irecv(in_.data(), static_cast<int>(count), MPI_DOUBLE, from, tag + direction,
              MPI_COMM_WORLD, &coming);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    MPI_Wait(&coming, MPI_STATUS_IGNORE);
  };
  const auto send = [&](const Cell& cell, const Doubles& doubles, int to, int tag) {
    const std::size_t count = doubles(cell, direction);
    out_.resize(std::max(out_.size(), count));
    MPI_Isend(out_.data(), static_cast<int>(count), MPI_DOUBLE, to, tag + direction, MPI_COMM_WORLD,
              &sent);
  };
  for (int layer = 0; layer < a_side_; ++layer) {
    const Cell& cell = in_layer(direction, layer);
    if (layer > 0) receive(cell, forward, predecessor_[which], kForward);
    forward_work(cell);
    if (layer < a_side_ - 1) send(cell, forward, successor_[which], kForward);
  }
  for (int layer = a_side_ - 1; layer >= 0; --layer) {
    const Cell& cell = in_layer(direction, layer);
    if (layer < a_side_ - 1) receive(cell, backward, successor_[which], kBackward);
    backward_work(cell);
    if (layer > 0) send(cell, backward, predecessor_[which], kBackward);
  }
}

}  // namespace npb
