// The options of a job, one row each. From the rows come the command line and the groups of its
// help (tools/fairlead/world_options.h), the command of a run that `compare` or `sweep` starts
// (tools/fairlead/child_run.h), the variables of ranks that another launcher starts
// (join/launch_settings.h), what the agents of other hosts are told (hosts/node_messages.h), and
// the check that an option fits the place of the job. A new option is a row here, a member of
// WorldOptions and its use; tests/command/help_test.py asks the manual page for it.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fairlead/base/numbers.h"
#include "fairlead/base/result.h"
#include "fairlead/run/run_options.h"

namespace fairlead::run {

enum class OptionGroup : std::uint8_t { job, real, faults, modelled };

// What the variable FAIRLEAD_NAME of an option does where another launcher starts the ranks: nobody
// looks at it, it sets the option, or the job is refused.
enum class OptionVariable : std::uint8_t { ignored, sets, refused };

struct JobOption {
  using Field =
      std::variant<std::string WorldOptions::*, std::uint32_t WorldOptions::*,
                   std::uint64_t WorldOptions::*, std::vector<std::string> WorldOptions::*,
                   Ps WorldOptions::*, Compute WorldOptions::*>;

  const char* flags;  // on the command line: "-n,--ranks"; the long one is the option's name
  Field field;        // a Ps is written in seconds, a Compute as one of `words`
  OptionGroup group;
  Places places;     // where it has a meaning
  const char* type;  // in a help text, for the value: "BYTES"
  const char* help;
  Range<std::uint64_t> range = {};  // of a number
  const char* words = "";           // the valid ones, the default first: "header, full, encrypt"
  bool travels = false;             // the agents of other hosts are told
  OptionVariable environment = OptionVariable::ignored;
  const char* instead = "";  // what to do instead of a variable that is refused

  std::string_view name() const;  // "mtu"
  std::string variable() const;   // "FAIRLEAD_MTU"
};

// All of them, in the order of help texts.
std::span<const JobOption> job_options();
// The row of that name, which there is.
const JobOption& job_option(std::string_view name);

// Sets the option to what a user wrote; one that may be repeated gets one more value. Error: names
// `written`, which is "--mtu" or "FAIRLEAD_MTU=", the text, and what is valid.
Result<void> read_option(const JobOption& option, std::string_view written, std::string_view text,
                         WorldOptions& options);
// The values as a user would write them: none where the option has its default, several where it
// was repeated.
std::vector<std::string> option_texts(const JobOption& option, const WorldOptions& options);
// The default as a user would write it; empty: there is none.
std::string default_text(const JobOption& option);

// The error of something that is for modelled platforms only, such as "--topology", at a place that
// is none; `example` is a platform that has it.
Error not_modelled(std::string_view what, std::string_view place,
                   std::string_view example = "myrinet-p3");

// Error: an option was given that has no meaning at any of the places that the job uses, or that
// has one at some places only and not this value. What each place makes of the others, it says
// itself.
Result<void> check_options(const WorldOptions& options);

}  // namespace fairlead::run
