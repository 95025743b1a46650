// Command line of the ASP program.
#pragma once
#include <cstdint>

namespace asp {

// Of the LCI paper, section 7.
constexpr std::int64_t kPaperVertices = 1024;

struct Options {
  std::int64_t vertices = 256;
  bool poll = false;
  bool verify = false;
  bool json = false;
  bool help = false;
};

extern const char kHelp[];

// nullptr: all well; else the argument that cannot be right.
const char* parse(int argc, char** argv, Options& options);

}  // namespace asp
