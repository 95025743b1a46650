// Kinds of the model's events, as the digest and traces see them.
#pragma once
#include "fairlead/sim/engine.h"

namespace fairlead::hw {

enum ModelEvent : sim::EventKind {
  kHeadEvent = sim::kFirstFreeKind,  // a packet's head asks for a channel
  kTailEvent,                        // its tail is in the destination's memory
  kLeftEvent,                        // its tail has left the source's memory
  kNiTurnEvent,                      // the NI processor takes its next work
  kDoorbellEvent,                    // a host's descriptor is in NI memory
  kDmaEvent,                         // the host DMA engine is free or a transfer is seen as done
  kVisibleEvent,                     // the host can see what a transfer left
  kHeldEvent,                        // a packet that a fault plan held back arrives
  kNiTimerEvent,                     // the NI's timer
  kNearEvent,                        // a line of host memory that another rank of the node wrote
  kAckEvent,                         // a circuit's acknowledgment is at its source
  kEndEvent,                         // its end of packet is at the destinations
  kCutEvent,                         // a packet's head asks for a link behind a buffer
  kFreedEvent,                       // its tail has left over one
  kCombinedEvent,                    // a switch or an interface has combined operands
};

}  // namespace fairlead::hw
