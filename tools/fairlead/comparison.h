// What `fairlead compare` found for each combination of place and implementation, and how it reads.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fairlead::tools {

struct Combination {
  std::string on;
  std::string lci;  // empty: the place's default
};

struct Outcome {
  Combination combination;
  std::string reason;  // why there are no figures; empty: there are
  bool modelled = false;
  double seconds = 0;  // virtual where modelled, else wall time with start-up and end
  std::map<std::string, std::uint64_t> counters;

  std::uint64_t counter(const std::string& name) const;
  std::uint64_t messages() const { return counter("packets_sent") + counter("multicasts_sent"); }
  std::uint64_t stalls() const { return counter("credit_stalls") + counter("buffer_stalls"); }
};

// Reads the statistics that `fairlead run --stats=FILE` wrote. A file that is not such leaves a
// reason.
void read_statistics(const std::string& text, Outcome& outcome);

// One row each, the times also as a ratio to the best of the same world (wall time and virtual time
// do not compare), and the counter that sets a row apart.
std::string comparison_table(const std::vector<Outcome>& outcomes);
// One JSON object a line, the same facts.
std::string comparison_json(const std::vector<Outcome>& outcomes, std::uint32_t ranks);

// The counter that moved most against the best on the same place: why `outcome` may be slower.
std::string explanation(const Outcome& outcome, const std::vector<Outcome>& outcomes);

}  // namespace fairlead::tools
