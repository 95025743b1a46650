// Which hosts a job runs on: --hosts, --hostfile, --nodes, --rsh.
#pragma once
#include <CLI/App.hpp>
#include <cstdint>
#include <string>

#include "fairlead/base/result.h"
#include "fairlead/run/launch/launcher.h"

namespace fairlead::tools {

struct HostChoice {
  std::string hosts, hostfile, nodes, shell;

  // The hosts, and the ranks of each. `ranks`: as -n gave it, 0 where it did not; set to the sum.
  // Error: what does not read, or does not go together.
  Result<run::HostOptions> options(std::uint32_t& ranks) const;
};

void add_host_options(CLI::App& app, HostChoice& choice);

}  // namespace fairlead::tools
