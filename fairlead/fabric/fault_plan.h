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

struct PacketFaults {
  // Probabilities per packet, 0..1.
  double drop = 0;
  double duplicate = 0;
  double corrupt = 0;  // one bit flipped
  double reorder = 0;  // held back until the next packet to the same endpoint has gone
  double delayed = 0;  // held back for `delay`
  Ps delay{};

  bool any() const { return drop + duplicate + corrupt + reorder + delayed > 0; }
};

// Which packets a part of a plan is about.
struct FaultyLink {
  enum class Kind : std::uint8_t {
    node,   // "3": those from or to endpoint 3: its cable
    way,    // "3-7": those from endpoint 3 to endpoint 7
    cable,  // "leaf0-spine1": those that pass this cable of a modelled network, either way
  };
  Kind kind = Kind::node;
  Peer from = 0;  // or the node
  Peer to = 0;    // way
  std::string a;  // cable: its ends, switches' names or nodes' numbers
  std::string b;
  std::string text;  // as it was given
};

struct FaultPlan : PacketFaults {
  static constexpr std::size_t kClausesMax = 64;

  // One link's own faults, beside those of every packet; or a time in which it loses everything.
  struct Clause {
    FaultyLink link;
    PacketFaults faults;
    Ps down_from = kNever;  // since the World started
    Ps down_until{};
  };
  std::vector<Clause> clauses;
  struct Kill {
    Rank rank;
    Ps at;  // since the World started
  };
  std::vector<Kill> kills;
  std::uint64_t seed = 1;
  std::string text;  // as it was given

  // Packets go wrong, and not only endpoints.
  bool loses() const { return any() || !clauses.empty(); }
};

// Text like "drop=0.01,dup=0.001,corrupt=0.001,reorder=0.01,delay=50us:0.1,kill=3@20ms"; of one
// link "link=3-7:drop=0.01" and "down=5@10ms+2ms" (from 10 ms on, for 2 ms). Empty: no fault.
// Error: the part that is wrong and the valid keys.
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

// Bit i: clause i of the plan is about packets from `source` to `dest`. Cables are for those who
// know the ways through a network: their bits are 0.
using ClauseMask = std::uint64_t;
ClauseMask clauses_of(const FaultPlan& plan, Peer source, Peer dest);

// Fate of packet number `count` from `source` to `dest`, to which `clauses` apply, at `now` since
// the World started.
Fate fate_of(const FaultPlan& plan, Peer source, Peer dest, std::uint64_t count,
             ClauseMask clauses = 0, Ps now = Ps{0});

// Error: the plan kills a rank that the job does not have.
Result<void> check_kills(const FaultPlan& plan, std::uint32_t ranks);

// Error: the plan names an endpoint beyond `endpoints`, or, where the network has none that could
// be named (`cables` false), a cable.
Result<void> check_links(const FaultPlan& plan, std::uint32_t endpoints, bool cables);

}  // namespace fairlead::fabric
