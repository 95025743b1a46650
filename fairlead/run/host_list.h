// The hosts of a job as the user names them: `--hosts a:2,b:2`, or a file.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/base/result.h"

namespace fairlead::run {

struct HostSlots {
  std::string name;
  std::uint32_t ranks = 1;  // that it has room for
};

// "a:2,b": each with its ranks, 1 where none are given. A colon within brackets is part of an
// IPv6 address. Error: names the entry that does not read.
Result<std::vector<HostSlots>> parse_hosts(std::string_view text);
// A line per host: "a", "a:2" or "a slots=2"; # begins a comment. Error: names the line.
Result<std::vector<HostSlots>> parse_hostfile(std::string_view text);
// As above, from a file.
Result<std::vector<HostSlots>> read_hostfile(const std::string& path);

// How many ranks there are room for.
std::uint32_t slots_of(const std::vector<HostSlots>& hosts);
// `ranks` ranks in the order of the hosts, each filled before the next; hosts that get none are
// left out. Error: there is not room for so many.
Result<std::vector<HostSlots>> place_ranks(const std::vector<HostSlots>& hosts,
                                           std::uint32_t ranks);

}  // namespace fairlead::run
