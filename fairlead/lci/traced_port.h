// A Port that shows what its client does on a lane of a trace, in either world: sends, upcalls,
// waits, remote memory, and an arrow from each unicast send to its upcall; none from a message that
// network interfaces match. Charges no time and changes no order, so that a traced run of the model
// has the digest of an untraced one.
#pragma once
#include <memory>

#include "fairlead/base/trace.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

// `inner` and the writer of `lane` outlive the port, which takes its client's place: nobody else
// binds channels of `inner`. Keeps a count per (peer, channel, lane) in use.
// The arrows are those of base/packet_arrows.h: a fabric below may add its packets' ways to them.
std::unique_ptr<Port> make_traced_port(Port& inner, TraceLane lane);

}  // namespace fairlead::lci
