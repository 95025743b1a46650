// The packets of a job by type: data, acknowledgments, what was sent again, drops by cause.
#pragma once
#include <string>

#include "fairlead/base/counters.h"
#include "tools/fairlead/json.h"

namespace fairlead::tools {

// {"data","bytes","multicasts","multicasts_forwarded","acks_explicit","acks_piggybacked",
// "retransmissions","fetch_adds","drops":{"corrupt",..}}; docs/results-format.md.
Json packets_json(const PortCounters& counters);

// A row a type that occurred, with its count for each data packet.
std::string packets_text(const PortCounters& counters);

}  // namespace fairlead::tools
