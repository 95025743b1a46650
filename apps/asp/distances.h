// A rank's rows of the distance matrix, and the step that a row of another vertex makes in them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/common/share.h"

namespace asp {

// The distance of two vertices without a path; two of them can be added.
constexpr std::int32_t kFar = 1 << 29;

// Length of the edge from one vertex to another, 1 to 1000; kFar: there is none. One pair in eight
// has an edge, and every vertex has one to its successor.
std::int32_t edge(std::int64_t from, std::int64_t to, std::int64_t vertices);

// Rows [own.begin, own.end) of the matrix of `vertices` x `vertices` lengths: row i holds those of
// the paths from vertex i.
class Distances {
 public:
  Distances(apps::Rows own, std::int64_t vertices);

  const apps::Rows& own() const { return own_; }
  std::int64_t vertices() const { return vertices_; }
  std::int32_t* row(std::int64_t row) { return cells_.data() + (row - own_.begin) * vertices_; }

  // Paths of own row `row` by way of vertex k, whose row is `via`, where they are shorter.
  void relax(std::int64_t row, std::int64_t k, const std::int32_t* via);

 private:
  apps::Rows own_;
  std::int64_t vertices_;
  std::vector<std::int32_t> cells_;
};

}  // namespace asp
