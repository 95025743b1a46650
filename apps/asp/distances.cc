#include "apps/asp/distances.h"

#include <algorithm>

#include "apps/common/scramble.h"

namespace asp {

std::int32_t edge(std::int64_t from, std::int64_t to, std::int64_t vertices) {
  if (from == to) return 0;
  const std::uint64_t random = apps::scramble(0, from, to);
  if (random % 8 != 0 && to != (from + 1) % vertices) return kFar;
  return static_cast<std::int32_t>(random / 8 % 1000) + 1;
}

Distances::Distances(apps::Rows own, std::int64_t vertices)
    : own_(own),
      vertices_(vertices),
      cells_(static_cast<std::size_t>((own.end - own.begin) * vertices)) {
  for (std::int64_t i = own.begin; i < own.end; ++i) {
    for (std::int64_t j = 0; j < vertices; ++j) row(i)[j] = edge(i, j, vertices);
  }
}

void Distances::relax(std::int64_t row_number, std::int64_t k, const std::int32_t* via) {
  std::int32_t* const paths = row(row_number);
  if (paths == via) return;  // vertex k's own row: no path becomes shorter by a detour to itself
  const std::int32_t through = paths[k];
  for (std::int64_t j = 0; j < vertices_; ++j) paths[j] = std::min(paths[j], through + via[j]);
}

}  // namespace asp
