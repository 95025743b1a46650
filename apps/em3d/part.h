// One kind's nodes of one rank, as every front computes them: which nodes of other ranks their
// edges need, and new values from those. Where values lie and how they travel is the front's.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "apps/em3d/graph.h"

namespace em3d {

class Part {
 public:
  Part(const Shape& shape, Kind kind, std::uint32_t rank);

  // The nodes of other ranks that this part needs, each once however many edges lead to it, by
  // owner and in ascending order: those of rank r are wanted()[starts()[r]] up to
  // wanted()[starts()[r + 1]]. Their copies lie in the same order.
  std::span<const std::uint32_t> starts() const { return starts_; }
  std::span<const std::uint32_t> wanted() const { return wanted_; }
  std::uint32_t wanted_from(std::uint32_t rank) const { return starts_[rank + 1] - starts_[rank]; }

  void first_values(std::span<double> values) const;
  // New values, of this rank's nodes of the other kind and the copies. The memory of both is the
  // same in every call.
  void compute(std::span<double> values, const double* others, const double* copies);

 private:
  struct Link {
    const double* from;
    double weight;
  };
  void link(const double* others, const double* copies);

  Shape shape_;
  Kind kind_;
  std::uint32_t rank_;
  std::vector<std::uint32_t> starts_;
  std::vector<std::uint32_t> wanted_;
  std::vector<Link> links_;  // of all nodes, in order
};

// The values that other ranks need, one after the other.
void pack(std::span<const double> values, std::span<const std::uint32_t> nodes, double* packed);

// A part of the sum over all values' bits and their places: of a rank's E and H nodes.
std::uint64_t checksum_of(const Shape& shape, std::uint32_t rank, std::span<const double> e,
                          std::span<const double> h);
constexpr std::uint64_t kChecksumMask = (std::uint64_t{1} << 40) - 1;

// Whether a rank's values of a kind have the bits of the sequential ones.
bool has_bits_of(const Values& wanted, const Shape& shape, Kind kind, std::uint32_t rank,
                 std::span<const double> values);

}  // namespace em3d
