// What a sweep changes from run to run: one number in one option of `fairlead run`.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "fairlead/base/result.h"
#include "tools/fairlead/world_options.h"

namespace fairlead::tools {

struct Parameter {
  enum class Option { set, ranks, faults, faster };

  Option option = Option::set;
  std::string name;    // "ni.clock_MHz", "ranks", "drop", "faster ni": a table's heading
  std::string before;  // the option's text up to the number, "ni.clock_MHz="
  std::string after;   // and behind it
  std::vector<double> values;

  // The option's text for one of the values.
  std::string text(double value) const;
  // Puts a value into the options of a run. `faster`: of ChildRun, as WorldChoice has none.
  void apply(double value, WorldChoice& choice, std::string& faster) const;
};

// The options that may hold a swept number, as they were given.
struct SweptOptions {
  std::string ranks;             // -n
  std::vector<std::string> set;  // --set
  std::string faults;            // --faults
  std::string faster;            // --faster
};

struct Sweep {
  std::vector<Parameter> parameters;  // one or two, in the order -n, --set, --faults, --faster
  WorldChoice choice;                 // what stays the same
  std::string faster;

  std::size_t points() const;
  // The values of point `index`, one a parameter; the last parameter's change first.
  std::vector<double> values_at(std::size_t index) const;
};

// Finds the numbers that are written as ranges or lists. Error: none or more than two are, or one
// is wrong.
Result<Sweep> sweep_of(const SweptOptions& options, const WorldChoice& choice);

}  // namespace fairlead::tools
