// LU of the NAS Parallel Benchmarks: a flow by lower and upper triangular sweeps through a cube
// that ranks divide into pencils. A sweep goes through the planes one by one, each rank behind two
// of its neighbours, with a short message to each of the other two: many messages of a few hundred
// bytes.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "apps/npb/common/benchmark.h"
#include "fairlead/run/fairlead.h"

FAIRLEAD_FIBER_PROGRAM;

namespace npb {
namespace {

const char kHelp[] =
    "Sends the messages of benchmark LU of the NAS Parallel Benchmarks, and declares its "
    "computing.\n"
    "\n"
    "usage: npb_lu [class] --declared [options]\n"
    "  class         S, W, A, B or C: 12, 33, 64, 102 or 162 points a side; default S\n"
    "  --steps N     time steps (S: 50, W: 300, others 250)\n"
    "  --declared    declare the computing to the modelled platform; the only way there is\n"
    "  --json        print one JSON object\n"
    "\n"
    "The number of ranks is a power of two. Nothing is verified.\n"
    "\n"
    "examples:\n"
    "  fairlead run -n 16 --on firelink --ranks-per-node 8 npb_lu A --declared --steps 2\n";

constexpr std::int64_t kStepsMax = 1000;
constexpr int kVariables = 5;  // numbers of a point
constexpr int kSmallest = 3;   // points a side of a pencil
// Guessed: what the right-hand side takes of a step's work, the two sweeps have the rest; numbers
// of a point that each reads and writes.
constexpr double kRightHandSide = 0.35;
constexpr int kNumbersOfRightHandSide = 3 * 4 * kVariables;
constexpr int kNumbersSwept = 3 * kVariables;

struct LuClass {
  char name;
  int points;  // a side
  std::int64_t steps;

  // Floating-point operations of a step, as NPB counts them.
  double operations() const {
    const double n = points;
    return ((1984.77 * n - 10923.3) * n + 27770.9) * n - 144010;
  }
};
constexpr LuClass kClasses[] = {
    {'S', 12, 50}, {'W', 33, 300}, {'A', 64, 250}, {'B', 102, 250}, {'C', 162, 250}};

// Ranks stand in columns along y, the first ones in the first column.
struct Grid {
  int rows;  // along x
  int columns;

  explicit Grid(int ranks) : rows(ranks), columns(static_cast<int>(std::sqrt(ranks) + 0.001)) {
    while (ranks % columns != 0) --columns;
    rows = ranks / columns;
  }
};

class Lu {
 public:
  Lu(const LuClass& of, int rank, int ranks) : planes_(of.points) {
    const Grid grid(ranks);
    const int row = rank % grid.rows;
    const int column = rank / grid.rows;
    if (row > 0) north_ = rank - 1;
    if (row < grid.rows - 1) south_ = rank + 1;
    if (column > 0) west_ = rank - grid.rows;
    if (column < grid.columns - 1) east_ = rank + grid.rows;
    nx_ = of.points / grid.rows + (row < of.points % grid.rows ? 1 : 0);
    ny_ = of.points / grid.columns + (column < of.points % grid.columns ? 1 : 0);
    // Points on the cube's surface are given.
    inner_x_ = nx_ - (row == 0 ? 1 : 0) - (row == grid.rows - 1 ? 1 : 0);
    inner_y_ = ny_ - (column == 0 ? 1 : 0) - (column == grid.columns - 1 ? 1 : 0);
    points_ = static_cast<std::uint64_t>(nx_) * static_cast<std::uint64_t>(ny_) *
              static_cast<std::uint64_t>(planes_);
    operations_a_point_ = of.operations() / std::pow(of.points, 3);
    const int longest = 2 * kVariables * planes_ * std::max(nx_, ny_);
    out_.resize(static_cast<std::size_t>(longest));
    in_.resize(static_cast<std::size_t>(longest));
  }

  void step() {
    for (int plane = 1; plane < planes_ - 1; ++plane) pass_plane(north_, west_, south_, east_);
    for (int plane = 1; plane < planes_ - 1; ++plane) pass_plane(south_, east_, north_, west_);
    right_hand_side();
  }
  void norm() const {
    double sums[kVariables] = {};
    double all[kVariables];
    MPI_Allreduce(sums, all, kVariables, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }

 private:
  static constexpr int kNobody = MPI_PROC_NULL;

  void pass_plane(int from_x, int from_y, int to_x, int to_y) {
    const int along_x = kVariables * inner_y_;
    const int along_y = kVariables * inner_x_;
    receive(from_x, along_x);
    receive(from_y, along_y);
    declare(static_cast<std::uint64_t>(nx_) * static_cast<std::uint64_t>(ny_),
            (1 - kRightHandSide) / 2, kNumbersSwept);
    send(to_x, along_x);
    send(to_y, along_y);
  }
  // Two layers of points of each face, whose neighbour sends its own before and behind.
  void right_hand_side() {
    const int along_x = 2 * kVariables * ny_ * planes_;
    const int along_y = 2 * kVariables * nx_ * planes_;
    shift(north_, south_, along_x);
    shift(south_, north_, along_x);
    shift(west_, east_, along_y);
    shift(east_, west_, along_y);
    declare(points_, kRightHandSide, kNumbersOfRightHandSide);
  }
  void shift(int from, int to, int doubles) {
    MPI_Request coming = MPI_REQUEST_NULL;
    if (from != kNobody) {
      MPI_Irecv(in_.data(), doubles, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, &coming);
    }
    if (to != kNobody) MPI_Send(out_.data(), doubles, MPI_DOUBLE, to, 1, MPI_COMM_WORLD);
    MPI_Wait(&coming, MPI_STATUS_IGNORE);
  }
  void receive(int from, int doubles) {
    if (from == kNobody) return;
    MPI_Recv(in_.data(), doubles, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  void send(int to, int doubles) {
    if (to != kNobody) MPI_Send(out_.data(), doubles, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
  }
  void declare(std::uint64_t points, double part, int numbers) const {
    const auto ops =
        static_cast<std::uint64_t>(operations_a_point_ * part * static_cast<double>(points));
    const std::uint64_t a_point = static_cast<std::uint64_t>(numbers) * sizeof(double);
    declare_work(ops, points * a_point, points_ * a_point);
  }

  int planes_;
  int north_ = kNobody;
  int south_ = kNobody;
  int west_ = kNobody;
  int east_ = kNobody;
  int nx_ = 0;
  int ny_ = 0;
  int inner_x_ = 0;
  int inner_y_ = 0;
  std::uint64_t points_ = 0;
  double operations_a_point_ = 0;
  std::vector<double> out_;
  std::vector<double> in_;
};

std::string refusal(const Job& job) {
  if (!job.declared) return "its computing is declared only: say --declared";
  const int points = class_of(kClasses, job.name).points;
  const std::string ranks = refuse_unless_power_of_two(job.ranks, 1 << 20, "");
  if (!ranks.empty()) return ranks;
  const Grid grid(job.ranks);
  if (points / grid.rows >= kSmallest) return {};
  return "a rank needs three points a side";
}

Outcome run(const Job& job) {
  const LuClass& of = class_of(kClasses, job.name);
  const std::int64_t steps = job.steps == 0 ? of.steps : job.steps;
  Lu solver(of, job.rank, job.ranks);
  solver.step();  // touches all memory, as NPB has it
  const Stopwatch watch;
  for (std::int64_t i = 0; i < steps; ++i) solver.step();
  solver.norm();
  solver.norm();
  Outcome outcome;
  outcome.seconds = watch.stop();
  const std::string side = std::to_string(of.points);
  outcome.size = side + " x " + side + " x " + side + " points";
  outcome.steps = steps;
  outcome.operations = static_cast<double>(steps) * of.operations();
  outcome.unit = "floating point";
  outcome.verdict = Verdict::none;
  return outcome;
}

}  // namespace
}  // namespace npb

int main(int argc, char** argv) {
  return npb::main_of({"LU", "npb_lu", npb::kHelp, npb::kStepsMax, npb::refusal, npb::run}, argc,
                      argv);
}
