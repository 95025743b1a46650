// A fabric that loses, doubles or reorders packets, made reliable on the host (the paper's hrx, LCI
// paper section 5.1, with proto/selective_repeat.h): a Nic over a Nic. Packets sent back to back
// travel in one frame.
//
//   Port                     client packets
//   ReliableNic              frames: numbered, kept until acknowledged, sent again
//   Nic(udp), faulty, ...    moves a frame, or loses it
//
// Every lane has a window of its own, so that replies drain whatever requests do.
#pragma once
#include <memory>

#include "fairlead/fabric/nic.h"
#include "fairlead/lci/reliable/reliable_options.h"

namespace fairlead::lci {

class ReliableNic : public fabric::Nic {
 public:
  // Everything that was sent has been acknowledged and everything that came has been, or nobody is
  // left on the other side.
  virtual bool settled() = 0;
  // This rank needs nothing any more and does not respond from now on: its peers are told, so that
  // none waits for an acknowledgment that was lost. Said several times; all of them may be lost
  // too. The last call.
  virtual void leave() = 0;
};

// `below` outlives it.
std::unique_ptr<ReliableNic> make_reliable_nic(fabric::Nic& below, const ReliableOptions& options);

}  // namespace fairlead::lci
