// LogP parameters against the model's own accounts: what the hosts and network interfaces say they
// were busy with per message.
#pragma once
#include <string>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/run/launch/world.h"
#include "tools/fairlead/bench/bench.h"

namespace fairlead::tools {

struct Account {
  const char* key;      // stable, in JSON
  const char* heading;  // in tables
  double measured_us;   // the parameter, as extracted
  double accounted_us;  // busy time per message
};

// Runs the two regimes of the extraction (one message at a time; a stream) in jobs of their own, in
// two lengths each, whose difference is free of start and end. `measured`: logp's row. A host's
// account equals o_s + o_r; g less a resource's account is what that resource idles per message,
// next to nothing for the bottleneck unless the regime is bound by waiting.
Result<std::vector<Account>> logp_accounts(const run::WorldOptions& world,
                                           const BenchOptions& options, const Row& measured);

// The regimes. A message each way a repetition:
int logp_single_body(run::Context& context, const BenchOptions& options, Rows& rows);
// kLogpStream messages a repetition, all one way:
constexpr std::uint32_t kLogpStream = 6;
int logp_stream_body(run::Context& context, const BenchOptions& options, Rows& rows);

}  // namespace fairlead::tools
