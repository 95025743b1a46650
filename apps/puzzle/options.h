// Command line of the puzzle program.
#pragma once
#include <cstdint>
#include <string_view>

namespace puzzle {

struct Options {
  unsigned width = 4;
  std::string_view position;  // tiles as text; empty: one of the next two
  unsigned korf = 0;          // 1 to 10: of Korf's; 0: none
  unsigned scramble = 30;     // random moves from the goal
  std::uint64_t seed = 1;
  unsigned jobs_per_message = 4;
  std::uint64_t table_bytes = std::uint64_t{16} << 20;
  unsigned local_slack = 0;
  bool all_solutions = false;
  bool verify = false;
  bool json = false;
  bool ranks = false;
  bool help = false;
};

// What the LCI paper leaves open, chosen so that Table VII's sequential times come out of a
// plausible number of operations per position (kOpsPerPosition in puzzle.cc): fitted.
constexpr unsigned kPaperKorf = 8;
constexpr unsigned kPaperSlack = 0;
constexpr std::uint64_t kPaperTableBytes = std::uint64_t{32} << 20;

extern const char kHelp[];

// nullptr: all well; else the argument that cannot be right.
const char* parse(int argc, char** argv, Options& options);

}  // namespace puzzle
