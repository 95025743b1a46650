// Several networks ("rails") to the same peers behind one Nic that may lose packets, below the part
// that mends that (reliable_nic.h): one sequence above, so that a change of rail can neither lose,
// double nor reorder what the client sees.
//
// Active and standby: what goes to a peer by the client's lanes goes by one rail at a time. Which
// one, while all are well, differs by pair of ranks, so that a job loads all rails; the packets of
// one pair are not spread, as they would overtake each other all the time and every gap would look
// like a loss until it had been waited for. Lanes beyond the client's are stripes
// (reliable/flow_names.h): each is bound to one of the other rails, and whoever numbers its packets
// deals with its silence.
//
// A rail is suspected when frames went out on it for kRailSilent and nothing came back by it: the
// next one is tried. A peer that computes responds on none; trying them in turn does no harm. What
// comes by another rail while the own one is silent makes the receiver follow. While a pair is away
// from its own rail, some packets go there too; when one comes by it, the pair goes back, after a
// hold that doubles with each time the rail failed again.
//
// Sink::path_changed tells of the own rail of a pair: lost where for kRailDead packets came by
// another one only, back with the first that comes by it. The other rails are not used while the
// own one is well but by stripes, which are not looked at.
#pragma once
#include <memory>
#include <vector>

#include "fairlead/base/units.h"
#include "fairlead/base/wait_ladder.h"
#include "fairlead/fabric/nic.h"

namespace fairlead::lci {

// Long beside a round trip and the first retransmissions, short beside what an outage may cost.
constexpr Ps kRailSilent = milliseconds(20);
// As above, where the own rail, which is the alternative, has been dead for kRailDead.
constexpr Ps kRailSilentAlone = milliseconds(200);
constexpr Ps kRailDead = milliseconds(100);
// A rail that is not used is tried so often.
constexpr Ps kRailProbe = milliseconds(25);
// A rail that failed is not used before; doubles, at most to kRailHoldMax, while it fails again
// within kRailTrusted.
constexpr Ps kRailHold = milliseconds(50);
constexpr Ps kRailHoldMax = seconds(5);
constexpr Ps kRailTrusted = seconds(10);

// At least two; none is reliable, and all know the job's ranks by the same numbers.
// `clock`: as monotonic_ns().
std::unique_ptr<fabric::Nic> make_rails_nic(std::vector<std::unique_ptr<fabric::Nic>> rails,
                                            std::int64_t (*clock)() = monotonic_ns);

}  // namespace fairlead::lci
