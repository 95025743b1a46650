// How the rows of a matrix are shared out over the ranks.
#pragma once
#include <algorithm>
#include <cstdint>

namespace apps {

struct Rows {
  std::int64_t begin;
  std::int64_t end;
};

// Contiguous rows of `rank`: equal shares, the remainder one each to the first ranks.
inline Rows share_of(int rank, int ranks, std::int64_t rows) {
  const std::int64_t share = rows / ranks;
  const std::int64_t larger = rows % ranks;
  const std::int64_t begin = rank * share + std::min<std::int64_t>(rank, larger);
  return {begin, begin + share + (rank < larger ? 1 : 0)};
}

// The rank whose share has `row`.
inline int owner_of(std::int64_t row, int ranks, std::int64_t rows) {
  const std::int64_t share = rows / ranks;
  const std::int64_t larger = rows % ranks;
  const std::int64_t in_larger = larger * (share + 1);
  return static_cast<int>(row < in_larger ? row / (share + 1) : larger + (row - in_larger) / share);
}

}  // namespace apps
