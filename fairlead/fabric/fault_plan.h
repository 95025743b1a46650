// What goes wrong, and when: parsed from text, drawn from a seed. The same plan and seed give the
// same fate to the n-th packet from one endpoint to another, whatever else happens; used by
// fabric/faulty in the real world and by the modelled wire.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/base/post.h"
#include "fairlead/base/result.h"
#include "fairlead/base/units.h"

namespace fairlead::fabric {

struct FaultPlan {
  // Probabilities per packet, 0..1.
  double drop = 0;
  double duplicate = 0;
  double corrupt = 0;  // one bit flipped
  double reorder = 0;  // held back until the next packet to the same endpoint has gone
  double delayed = 0;  // held back for `delay`
  Ps delay{};
  struct Kill {
    Rank rank;
    Ps at;  // since the World started
  };
  std::vector<Kill> kills;
  std::uint64_t seed = 1;
  std::string text;  // as it was given
};

// Text like "drop=0.01,dup=0.001,corrupt=0.001,reorder=0.01,delay=50us:0.1,kill=3@20ms"; empty: no
// fault. Error: the part that is wrong and the valid keys.
Result<FaultPlan> parse_fault_plan(std::string_view text, std::uint64_t seed);

// The options that repeat a run: "--faults ... --seed N".
std::string repeat_line(const FaultPlan& plan);

struct Fate {
  bool drop = false;
  bool duplicate = false;
  bool corrupt = false;
  bool reorder = false;
  Ps delay{};
  std::uint64_t bit = 0;  // which one flips: modulo the packet's bits
  bool plain() const { return !drop && !duplicate && !corrupt && !reorder && delay.count == 0; }
};

// Fate of packet number `count` from `source` to `dest`.
Fate fate_of(const FaultPlan& plan, Peer source, Peer dest, std::uint64_t count);

}  // namespace fairlead::fabric
