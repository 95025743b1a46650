#include "apps/em3d/mpi/side.h"

namespace em3d {
namespace {

constexpr int kTag = 1;

std::vector<int> as_ints(std::span<const std::uint32_t> from) { return {from.begin(), from.end()}; }

}  // namespace

Side::Side(const Shape& shape, Kind kind, std::uint32_t rank)
    : ranks_(shape.ranks),
      part_(shape, kind, rank),
      values_(shape.nodes),
      copies_(part_.wanted().size()) {
  part_.first_values(values_);
}

void Side::learn(const Side& needy) {
  std::vector<int> wanted(ranks_);
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    wanted[rank] = static_cast<int>(needy.part_.wanted_from(rank));
  }
  std::vector<int> needed(ranks_);
  MPI_Alltoall(wanted.data(), 1, MPI_INT, needed.data(), 1, MPI_INT, MPI_COMM_WORLD);
  needed_at_.assign(1, 0);
  for (const int count : needed) {
    needed_at_.push_back(needed_at_.back() + static_cast<std::uint32_t>(count));
  }
  needed_.resize(needed_at_.back());
  packed_.resize(needed_.size());
  const std::vector<int> wanted_at = as_ints(needy.part_.starts());
  const std::vector<int> needed_at = as_ints(needed_at_);
  MPI_Alltoallv(needy.part_.wanted().data(), wanted.data(), wanted_at.data(), MPI_UINT32_T,
                needed_.data(), needed.data(), needed_at.data(), MPI_UINT32_T, MPI_COMM_WORLD);
}

void Side::fetch(Side& from) {
  requests_.clear();
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    const auto count = static_cast<int>(part_.wanted_from(rank));
    if (count == 0) continue;
    MPI_Irecv(copies_.data() + part_.starts()[rank], count, MPI_DOUBLE, static_cast<int>(rank),
              kTag, MPI_COMM_WORLD, &requests_.emplace_back());
  }
  pack(from.values_, from.needed_, from.packed_.data());
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    const auto count = static_cast<int>(from.needed_by(rank));
    if (count == 0) continue;
    MPI_Isend(from.packed_.data() + from.needed_at_[rank], count, MPI_DOUBLE,
              static_cast<int>(rank), kTag, MPI_COMM_WORLD, &requests_.emplace_back());
  }
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
}

}  // namespace em3d
