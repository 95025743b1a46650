#include "apps/npb/common/adi.h"

#include <cmath>
#include <string>

namespace npb {
namespace {

constexpr int kVariables = 5;
constexpr int kNumbersOfRightHandSide =
    3 * (2 * kVariables + 6);  // guessed: three sweeps over them

double operations_of(const AdiMethod& method, int points) {
  double sum = 0;
  for (int i = 3; i >= 0; --i) sum = sum * points + method.operations[i];
  return sum;
}

class Adi {
 public:
  Adi(const AdiMethod& method, const AdiClass& of, const Job& job)
      : method_(method),
        cells_(of.points, job.rank, job.ranks),
        largest_(of.points / cells_.a_side() + 1),
        operations_a_point_(operations_of(method, of.points) / std::pow(of.points, 3)) {}

  void step() {
    cells_.exchange_faces();
    declare(cells_.points(), method_.right_hand_side, kNumbersOfRightHandSide);
    const double sweep = (1 - method_.right_hand_side) / 3;
    for (int direction = 0; direction < 3; ++direction) {
      cells_.sweep(
          direction, doubles(method_.forward_doubles),
          [&](const Cells::Cell& cell) {
            declare(cell.points(), sweep * (1 - method_.backward), method_.numbers_swept);
          },
          doubles(method_.backward_doubles),
          [&](const Cells::Cell& cell) {
            declare(cell.points(), sweep * method_.backward, method_.numbers_swept);
          });
    }
  }

 private:
  Cells::Doubles doubles(int of_line) const {
    return [this, of_line](const Cells::Cell& cell, int direction) {
      const auto whole = static_cast<std::size_t>(largest_) * static_cast<std::size_t>(largest_);
      const std::size_t lines = method_.whole_faces ? whole : cells_.inner_face(cell, direction);
      return lines * static_cast<std::size_t>(of_line);
    };
  }
  // `part` of a step's work on so many points.
  void declare(std::uint64_t points, double part, int numbers) const {
    const auto ops =
        static_cast<std::uint64_t>(operations_a_point_ * part * static_cast<double>(points));
    const std::uint64_t a_point = static_cast<std::uint64_t>(numbers) * sizeof(double);
    declare_work(ops, points * a_point, cells_.points() * a_point);
  }

  const AdiMethod& method_;
  Cells cells_;
  int largest_;  // points a side of the largest cell, as NPB has it
  double operations_a_point_;
};

}  // namespace

std::string refuse_adi(const AdiClass& of, const Job& job) {
  if (!job.declared) return "its computing is declared only: say --declared";
  return Cells::refusal(of.points, job.ranks);
}

Outcome run_adi(const AdiMethod& method, const AdiClass& of, const Job& job) {
  const std::int64_t steps = job.steps == 0 ? of.steps : job.steps;
  Adi solver(method, of, job);
  solver.step();  // touches all memory, as NPB has it
  const Stopwatch watch;
  for (std::int64_t i = 0; i < steps; ++i) solver.step();
  Outcome outcome;
  outcome.seconds = watch.stop();
  const std::string side = std::to_string(of.points);
  outcome.size = side + " x " + side + " x " + side + " points";
  outcome.steps = steps;
  outcome.operations = static_cast<double>(steps) * operations_of(method, of.points);
  outcome.unit = "floating point";
  outcome.verdict = Verdict::none;
  return outcome;
}

}  // namespace npb
