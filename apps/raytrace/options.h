// Command line of raytrace.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace raytrace {

struct Options {
  std::int64_t width = 256;
  std::int64_t height = 256;
  std::int64_t samples = 1;  // rays of a pixel, in each direction
  std::string png;           // empty: no file
  bool verify = true;
  bool json = false;
};

// What the programs differ in.
struct Front {
  const char* program;
  const char* how;
};
constexpr Front kSplitC = {"raytrace", "in Split-C"};
constexpr Front kMpi = {"raytrace_mpi", "by MPI"};

// Nothing: go on. Else the exit code of a program that is over.
std::optional<int> read(const Front& front, int argc, char** argv, Options& options);

}  // namespace raytrace
