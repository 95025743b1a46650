// The program that runs on slabs, whatever carries the blocks between the ranks: its command line,
// its steps, its verification.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "apps/fft3d/slabs.h"

namespace fft3d {

struct Options {
  std::int64_t n = 64;  // points along each side
  std::int64_t steps = kSteps;
  bool verify = true;
  bool json = false;

  Size size() const { return {n, n, n}; }
};
// The size in the Split-C paper, section 6.
constexpr std::int64_t kPaperSide = 128;

// What a system brings.
class Front {
 public:
  Front(const char* program, int rank, int ranks) : program_(program), rank_(rank), ranks_(ranks) {}
  virtual ~Front() = default;
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;

  const char* program() const { return program_; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  // By all ranks: every block is packed, carried and taken. Between two of them all ranks meet.
  virtual void transpose(Slabs& slabs, Way way) = 0;
  virtual Complex sum(Complex mine) = 0;  // by all ranks
  virtual void meet() = 0;
  virtual double now() = 0;  // in seconds

 private:
  const char* const program_;
  const int rank_;
  const int ranks_;
};

// `how`: "in Split-C". Nothing: go on. Else the exit code of a program that is over.
std::optional<int> read(const char* program, const char* how, int argc, char** argv,
                        Options& options);
// By all ranks. Returns the program's exit code.
int solve(const Options& options, Slabs& slabs, Front& front);

}  // namespace fft3d
