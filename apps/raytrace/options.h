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
  bool verify = false;
  bool json = false;
};

// Nothing: go on. Else the exit code of a program that is over.
std::optional<int> read(int argc, char** argv, Options& options);

}  // namespace raytrace
