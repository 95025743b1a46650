// Which of this host's addresses the ranks of other hosts use.
#pragma once
#include <string>
#include <vector>

#include "fairlead/base/result.h"

namespace fairlead::run {

// An address of this host, for where none of its interfaces can be preferred: the first one that is
// up and not the loopback's; 127.0.0.1: there is none.
std::string outer_address();

// The parts between the commas; at least one.
std::vector<std::string> address_list(const std::string& text);

// `wanted`: addresses of this host, or networks as "10.1.0.0/24" that it has an address in,
// separated by commas; returns the addresses. Error: names what this host has not.
Result<std::string> own_addresses(const std::string& wanted);

}  // namespace fairlead::run
