#include "tools/fairlead/computing_note.h"

#include <fmt/format.h>

#include "tools/fairlead/table.h"

namespace fairlead::tools {
namespace {

// Whoever times phases reads a clock less often.
constexpr std::uint64_t kManyReads = 100;

const char* name_of(run::Compute compute) {
  switch (compute) {
    case run::Compute::none:
      return "none";
    case run::Compute::measured:
      return "measured";
    default:
      return "declared";
  }
}

bool takes_none(const Computing& computing) {
  return computing.how == "none" || (computing.how == "declared" && computing.us <= 0);
}

std::uint64_t whole_of(const Json& json, const char* key) {
  const Json* const found = json.find(key);
  return found != nullptr && found->is_unsigned() ? found->whole() : 0;
}

}  // namespace

Computing computing_of(const run::WorldOptions& options, const run::RunReport& report) {
  return {name_of(options.compute),   report.program.declarations, to_us(report.program.computing),
          report.program.clock_reads, report.program.clock_reader, to_us(report.virtual_time)};
}

Json computing_json(const Computing& computing) {
  return {{"how", computing.how},
          {"declarations", computing.declarations},
          {"us", computing.us},
          {"clock_reads", computing.clock_reads},
          {"clock_reader", computing.clock_reader}};
}

Computing read_computing(const Json& json, double run_us) {
  Computing read;
  read.how = text_at(json, "how");
  read.declarations = whole_of(json, "declarations");
  read.us = number_at(json, "us").value_or(0);
  read.clock_reads = whole_of(json, "clock_reads");
  read.clock_reader = static_cast<std::uint32_t>(whole_of(json, "clock_reader"));
  read.run_us = run_us;
  return read;
}

std::string clock_note(const Computing& computing) {
  if (!takes_none(computing) || computing.clock_reads < kManyReads) return "";
  return fmt::format(
      "clock: rank {} read it {} times, every {}. A program that runs for a given time\n"
      "makes far more steps in it where computing takes none: give it a number of steps instead\n",
      computing.clock_reader, computing.clock_reads,
      time_text(computing.run_us * 1e-6 / static_cast<double>(computing.clock_reads)));
}

std::string computing_note(const Computing& computing) {
  if (!takes_none(computing)) return "";
  if (computing.how == "none") {
    return "computing: left out by --compute none, 0 s: pure communication\n" +
           clock_note(computing);
  }
  return "computing: none declared, 0 s: pure communication. The program can declare it with\n"
         "fairlead_work() (fairlead/run/fairlead.h), or --compute measured takes this machine's "
         "time\n" +
         clock_note(computing);
}

}  // namespace fairlead::tools
