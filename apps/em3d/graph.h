// The graph: nodes of two kinds, E and H; a node's edges lead to nodes of the other kind. Every
// edge follows from its place, so that any rank can make any part of the graph.
#pragma once
#include <cstdint>
#include <vector>

#include "apps/em3d/options.h"

namespace em3d {

enum Kind : std::uint32_t { kE, kH };
constexpr Kind other(Kind kind) { return kind == kE ? kH : kE; }

struct Edge {
  std::uint32_t rank;  // of the node it leads to
  std::uint32_t node;
  double weight;
};

// The size of the graph, equal on all ranks.
struct Shape {
  std::uint32_t ranks;
  std::uint32_t nodes;  // of a kind and rank
  std::uint32_t degree;
  std::uint32_t remote_percent;

  Shape(const Options& options, std::uint32_t ranks_of_job);
  std::uint64_t edges() const { return std::uint64_t{nodes} * degree; }
  Edge edge(Kind kind, std::uint32_t rank, std::uint32_t node, std::uint32_t number) const;
  // A node's value before the first iteration.
  double first_value(Kind kind, std::uint32_t rank, std::uint32_t node) const;
};

// All values after so many iterations, by a loop on one rank: of `kind`, ordered by rank and node.
struct Values {
  std::vector<double> of[2];
};
Values sequential(const Shape& shape, std::int64_t iterations);

}  // namespace em3d
