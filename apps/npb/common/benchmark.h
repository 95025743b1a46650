// What the programs of this folder share: their command line, the check of the number of ranks, the
// time they take, and the report of their results.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace npb {

// What one rank is asked to do.
struct Job {
  char name = 'S';         // of the class
  std::int64_t steps = 0;  // 0: as many as the class has
  // Only the messages, of the same sizes, and declarations of the work between them.
  bool declared = false;
  int rank = 0;
  int ranks = 1;
};

// unknown: nobody has published what so many steps give. none: nothing was computed.
enum class Verdict { verified, wrong, unknown, none };

struct Outcome {
  std::string size;                    // of the class, in words
  std::int64_t steps = 0;              // 0: the benchmark has none
  double seconds = 0;                  // of the timed part, of the slowest rank
  double operations = 0;               // of all ranks, as NPB counts them
  std::string unit;                    // what an operation is
  Verdict verdict = Verdict::unknown;  // the same on all ranks
  // What was compared with what, as rank 0 knows it: name and value.
  std::vector<std::pair<std::string, std::string>> values;
};

struct Benchmark {
  const char* title;    // "CG"
  const char* program;  // "npb_cg", the name that errors begin with
  const char* help;
  std::int64_t steps_max;  // that --steps may ask for; 0: there is no such option
  // Empty: the benchmark runs on so many ranks. Else why not, and what would do.
  std::string (*refusal)(const Job&);
  // Collective over MPI_COMM_WORLD.
  Outcome (*run)(const Job&);
};

// The program: reads the options, starts MPI, runs the benchmark and prints what it found on rank
// 0. Returns the exit code: 0; 1 where a result is not the published one or the number of ranks
// does not fit; 2 for options that it cannot use.
int main_of(const Benchmark& benchmark, int argc, char** argv);

// A reason for ranks that are no power of two, or more than `most`; else empty.
std::string refuse_unless_power_of_two(int ranks, std::int64_t most, const char* why_most);

// The time between its making, for which all ranks wait, and stop().
class Stopwatch {
 public:
  Stopwatch();
  // Seconds since then, of the slowest rank; the same on all. Collective.
  double stop() const;

 private:
  double begin_;
};

// Declares computing to a modelled platform (fairlead/run/fairlead.h); nothing elsewhere.
void declare_work(std::uint64_t ops, std::uint64_t bytes, std::uint64_t working_set_bytes);

// |found - expected| <= tolerance * |expected|, which no NaN is.
bool close(double found, double expected, double tolerance);

// As NPB prints results: 14 digits.
std::string digits(double value);

// true on all ranks if it is on each. Collective.
bool on_all(bool here);

// The row of `table` with that name; there is one, as main_of lets no other class pass.
template <class Row, std::size_t n>
const Row& class_of(const Row (&table)[n], char name) {
  const Row* row = table;
  while (row->name != name) ++row;
  return *row;
}

}  // namespace npb
