// What the environment of a job that another launcher starts asks of it: the options of
// `fairlead run` by name. The first rank's hold for all ranks, as launchers do not pass every
// environment on.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "fairlead/base/node_map.h"
#include "fairlead/base/result.h"
#include "fairlead/base/units.h"
#include "fairlead/run/run_options.h"
#include "fairlead/run/wire/bootstrap_messages.h"

namespace fairlead::run {

class LaunchSettings {
 public:
  // Nothing is heard of another node for so long: its ranks are dead. 0 seconds: never.
  static constexpr int kSilenceSeconds = 5;

  // Error: an option that only `fairlead run` has, and what to do instead.
  static Result<LaunchSettings> of_environment();
  // As text() wrote it. Error: it did not.
  static Result<LaunchSettings> parse(std::string_view text);
  // As it travels: a line for each variable.
  std::string text() const;
  // Tells settings apart; 0: none.
  std::uint32_t digest() const;

  // Error: these are a rank's, the job's are others: names rank and variable. What is not set
  // agrees.
  Result<void> agree_with(const LaunchSettings& jobs, std::uint32_t rank) const;

  // Settings of one job of these ranks. Error: a value that is wrong, or cannot be had
  // there; names the variable.
  struct Job {
    WorldOptions options;
    Network network = Network::udp;
    Ps silence{};  // kNever: others are not watched
  };
  Result<Job> job(const NodeMap& nodes) const;

 private:
  Result<void> set(WorldOptions& options, Job& job) const;
  const std::string* find(const char* name) const;

  std::map<std::string, std::string> values_;  // by variable
};

}  // namespace fairlead::run
