// Command line of the ASP program.
#pragma once
#include <cstdint>
#include <optional>

namespace asp {

// The size in section 7 of the LCI paper.
constexpr std::int64_t kPaperVertices = 1024;

struct Options {
  std::int64_t vertices = 256;
  bool poll = false;
  bool verify = false;
  bool json = false;
};

// Nothing: go on. Else the exit code of a program that is over.
std::optional<int> read(int argc, char** argv, Options& options);

}  // namespace asp
