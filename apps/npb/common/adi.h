// A step of BT and SP: faces exchanged, right-hand sides, a sweep along each direction. Messages
// are those of NPB's programs; the computing between them is declared.
#pragma once
#include <cstdint>

#include "apps/npb/common/benchmark.h"
#include "apps/npb/common/cells.h"

namespace npb {

struct AdiClass {
  char name;
  int points;  // a side
  std::int64_t steps;
};

// What a point costs, and what a line through a cell's face says to the next cell.
struct AdiMethod {
  // Floating-point operations of a step in a cube of n points a side, as NPB counts them:
  // [0] + [1] n + [2] n^2 + [3] n^3.
  double operations[4];
  // Guessed shares: the right-hand side's of a step, and of a sweep the way back's. What is left is
  // the three sweeps'.
  double right_hand_side;
  double backward;
  // Doubles of a line.
  int forward_doubles;
  int backward_doubles;
  // NPB's BT sends room for the largest cell's face, surface points included; SP what there is.
  bool whole_faces;
  // Numbers of a point that a sweep reads and writes, guessed.
  int numbers_swept;
};

// Runs the class's steps, or job.steps of them.
Outcome run_adi(const AdiMethod& method, const AdiClass& of, const Job& job);
std::string refuse_adi(const AdiClass& of, const Job& job);

}  // namespace npb
