// Command line of barnes.
#pragma once
#include <cstdint>
#include <optional>

namespace barnes {

// LCI paper, section 7: 16,384 bodies. Steps and theta are not in the paper: the steps are as many
// as SPLASH-2's program makes by default, theta is fitted (forces.cc).
constexpr std::int64_t kPaperBodies = 16'384;
constexpr std::int64_t kPaperSteps = 4;
constexpr double kPaperTheta = 0.6;

struct Options {
  std::int64_t bodies = 1024;
  std::int64_t steps = 2;
  // A cell is taken as one body where it is smaller than theta times its distance.
  double theta = 0.8;
  double step = 0.025;  // of time
  bool verify = false;
  bool json = false;
};

// Nothing: go on. Else the exit code of a program that is over.
std::optional<int> read(int argc, char** argv, Options& options);

}  // namespace barnes
