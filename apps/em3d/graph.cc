#include "apps/em3d/graph.h"

#include "apps/common/scramble.h"

namespace em3d {

Shape::Shape(const Options& options, std::uint32_t ranks_of_job)
    : ranks(ranks_of_job),
      nodes(static_cast<std::uint32_t>(options.nodes / 2)),
      degree(static_cast<std::uint32_t>(options.degree)),
      remote_percent(static_cast<std::uint32_t>(options.remote_percent)) {}

Edge Shape::edge(Kind kind, std::uint32_t rank, std::uint32_t node, std::uint32_t number) const {
  const std::uint64_t seed = (std::uint64_t{kind} << 32) + rank;
  const std::uint64_t place = apps::scramble(seed, node, number);
  const std::uint64_t more = apps::scramble(place);
  Edge made{rank, static_cast<std::uint32_t>(more % nodes), 0};
  if (ranks > 1 && place % 100 < remote_percent) {
    // One of the others.
    made.rank = static_cast<std::uint32_t>((rank + 1 + (place >> 32) % (ranks - 1)) % ranks);
  }
  made.weight = static_cast<double>(more >> 40 & 0xffff) / 65536.0 / degree;
  return made;
}

double Shape::first_value(Kind kind, std::uint32_t rank, std::uint32_t node) const {
  const std::uint64_t bits = apps::scramble(std::uint64_t{kind} + 77, rank, node);
  return static_cast<double>(bits >> 40) / 16777216.0;
}

Values sequential(const Shape& shape, std::int64_t iterations) {
  Values values;
  for (const Kind kind : {kE, kH}) {
    for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) {
      for (std::uint32_t node = 0; node < shape.nodes; ++node) {
        values.of[kind].push_back(shape.first_value(kind, rank, node));
      }
    }
  }
  for (std::int64_t i = 0; i < 2 * iterations; ++i) {
    const Kind kind = i % 2 == 0 ? kE : kH;
    double* value = values.of[kind].data();
    for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) {
      for (std::uint32_t node = 0; node < shape.nodes; ++node, ++value) {
        for (std::uint32_t number = 0; number < shape.degree; ++number) {
          const Edge edge = shape.edge(kind, rank, node, number);
          const std::size_t from = std::size_t{edge.rank} * shape.nodes + edge.node;
          *value -= edge.weight * values.of[other(kind)][from];
        }
      }
    }
  }
  return values;
}

}  // namespace em3d
