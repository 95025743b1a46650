#include "apps/em3d/part.h"

#include <algorithm>
#include <bit>

#include "fairlead/run/fairlead.h"

namespace em3d {
namespace {

// Operations of one edge: the link's two loads, the value's, multiplication, subtraction, two of
// the loop.
constexpr std::uint64_t kEdgeOps = 8;
// Operations of a value that is packed: its number, load and store, two of the loop.
constexpr std::uint64_t kPackOps = 5;

}  // namespace

Part::Part(const Shape& shape, Kind kind, std::uint32_t rank)
    : shape_(shape), kind_(kind), rank_(rank) {
  std::vector<std::vector<std::uint32_t>> wanted(shape_.ranks);
  for (std::uint32_t node = 0; node < shape_.nodes; ++node) {
    for (std::uint32_t number = 0; number < shape_.degree; ++number) {
      const Edge edge = shape_.edge(kind_, rank_, node, number);
      if (edge.rank != rank_) wanted[edge.rank].push_back(edge.node);
    }
  }
  for (std::vector<std::uint32_t>& nodes : wanted) {
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    starts_.push_back(static_cast<std::uint32_t>(wanted_.size()));
    wanted_.insert(wanted_.end(), nodes.begin(), nodes.end());
  }
  starts_.push_back(static_cast<std::uint32_t>(wanted_.size()));
}

void Part::first_values(std::span<double> values) const {
  for (std::uint32_t node = 0; node < shape_.nodes; ++node) {
    values[node] = shape_.first_value(kind_, rank_, node);
  }
}

void Part::link(const double* others, const double* copies) {
  links_.reserve(shape_.edges());
  for (std::uint32_t node = 0; node < shape_.nodes; ++node) {
    for (std::uint32_t number = 0; number < shape_.degree; ++number) {
      const Edge edge = shape_.edge(kind_, rank_, node, number);
      const double* value = others + edge.node;
      if (edge.rank != rank_) {
        const auto begin = wanted_.begin() + starts_[edge.rank];
        const auto end = wanted_.begin() + starts_[edge.rank + 1];
        value = copies + (std::lower_bound(begin, end, edge.node) - wanted_.begin());
      }
      links_.push_back({value, edge.weight});
    }
  }
}

void Part::compute(std::span<double> values, const double* others, const double* copies) {
  if (links_.empty()) link(others, copies);
  const Link* link = links_.data();
  for (double& value : values) {
    for (std::uint32_t number = 0; number < shape_.degree; ++number, ++link) {
      value -= link->weight * *link->from;
    }
  }
  if (fairlead_work != nullptr) {
    const std::uint64_t edges = shape_.edges();
    fairlead_work(edges * kEdgeOps, edges * 24, edges * 24);
  }
}

void pack(std::span<const double> values, std::span<const std::uint32_t> nodes, double* packed) {
  for (const std::uint32_t node : nodes) *packed++ = values[node];
  if (fairlead_work != nullptr) {
    fairlead_work(nodes.size() * kPackOps, nodes.size() * 12, nodes.size() * 12);
  }
}

std::uint64_t checksum_of(const Shape& shape, std::uint32_t rank, std::span<const double> e,
                          std::span<const double> h) {
  std::uint64_t sum = 0;
  std::uint64_t place = std::uint64_t{rank} * shape.nodes * 2;
  for (const std::span<const double> values : {e, h}) {
    for (const double value : values) {
      sum += std::bit_cast<std::uint64_t>(value) * (2 * ++place + 1);
    }
  }
  return sum;
}

bool has_bits_of(const Values& wanted, const Shape& shape, Kind kind, std::uint32_t rank,
                 std::span<const double> values) {
  const double* const theirs = wanted.of[kind].data() + std::size_t{rank} * shape.nodes;
  return std::equal(values.begin(), values.end(), theirs, [](double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  });
}

}  // namespace em3d
