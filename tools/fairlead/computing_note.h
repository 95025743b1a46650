// What is said about the computing time of a modelled run, which is never left out in silence.
#pragma once
#include <cstdint>
#include <string>

#include "fairlead/run/run_options.h"
#include "fairlead/run/run_report.h"
#include "tools/fairlead/json.h"

namespace fairlead::tools {

// What a program said about its own time, as a run's report or its statistics have it.
struct Computing {
  std::string how = "declared";  // --compute
  std::uint64_t declarations = 0;
  double us = 0;                  // declared, all ranks together
  std::uint64_t clock_reads = 0;  // of the rank that looked at a clock most often
  std::uint32_t clock_reader = 0;
  double run_us = 0;  // the run's virtual time
};

Computing computing_of(const run::WorldOptions& options, const run::RunReport& report);
// {"how","declarations","us","clock_reads","clock_reader"}, all numbers but the first.
Json computing_json(const Computing& computing);
// What computing_json() wrote. `run_us` is the statistics' own.
Computing read_computing(const Json& json, double run_us);

// Lines that end in a newline. Where no computing takes time: that it is so, and what to do. Where
// the program polls a clock besides: that it may be one that runs for a given time. Empty: nothing
// has to be said.
std::string computing_note(const Computing& computing);
// The second of the two alone, for a run that did not come to its end.
std::string clock_note(const Computing& computing);

}  // namespace fairlead::tools
