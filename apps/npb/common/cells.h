// How BT and SP of the NAS Parallel Benchmarks divide their cube, and what ranks say to each other
// about it. With p * p ranks the cube has p cells a side; a rank has p of them, one in each layer
// of each direction, so that in a sweep along any direction all ranks work all the time.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace npb {

class Cells {
 public:
  struct Cell {
    std::array<int, 3> at;    // in the cube of cells, from 0
    std::array<int, 3> size;  // in points
    std::uint64_t points() const {
      return static_cast<std::uint64_t>(size[0]) * static_cast<std::uint64_t>(size[1]) *
             static_cast<std::uint64_t>(size[2]);
    }
  };
  // Doubles that go on with a sweep from a cell to the next one in its direction.
  using Doubles = std::function<std::size_t(const Cell& cell, int direction)>;
  // Declares the computing in a cell.
  using Compute = std::function<void(const Cell& cell)>;

  // Empty: a cube of so many points a side divides among so many ranks. Else why not.
  static std::string refusal(int points, int ranks);
  Cells(int points, int rank, int ranks);

  int a_side() const { return a_side_; }
  int points_a_side() const { return points_; }
  std::uint64_t points() const;  // of this rank
  // Points of this rank's cell's face across `direction`, without those on the cube's surface.
  std::size_t inner_face(const Cell& cell, int direction) const;

  // Two layers of five numbers a point of every face to the neighbour there, all at once.
  void exchange_faces();
  // From the first cell of a direction to the last, and back.
  void sweep(int direction, const Doubles& forward, const Compute& forward_work,
             const Doubles& backward, const Compute& backward_work);

 private:
  const Cell& in_layer(int direction, int layer) const;

  int points_;
  int a_side_;
  std::vector<Cell> cells_;
  std::array<int, 3> successor_;
  std::array<int, 3> predecessor_;
  std::vector<double> out_;
  std::vector<double> in_;
};

}  // namespace npb
