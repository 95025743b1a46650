// Command line of barnes.
#pragma once
#include <cstdint>
#include <optional>

namespace barnes {

// What a system's paper runs.
struct Problem {
  std::int64_t bodies;
  std::int64_t steps;
  double theta;
};

// A program of one system.
struct Program {
  const char* name;
  const char* purpose;   // one line
  const char* of_paper;  // what --paper means
  const char* examples;
  Problem paper;
};

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
std::optional<int> read(const Program& program, int argc, char** argv, Options& options);

}  // namespace barnes
