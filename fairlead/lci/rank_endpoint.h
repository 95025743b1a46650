// One rank's way to a real network, as its process has it: a port and what must be done around it.
#pragma once
#include "fairlead/lci/port.h"

namespace fairlead::lci {

class RankEndpoint {
 public:
  virtual ~RankEndpoint() = default;
  virtual Port& port() = 0;
  // Polls until the peers have what was sent to them, or who sends it to them has: before the rank
  // does something else for a while, and may not poll.
  virtual void settle() = 0;
  // When the rank's program has ended, in its thread: stays until its peers have what it sent them.
  // Packets that still come are acknowledged and dropped; the port cannot be used any more.
  virtual void linger() = 0;
  // No upcall runs any more but in the rank's own calls (Port::wake): before what upcalls use goes.
  virtual void stop_helper() {}
  // Behind linger(), when the job has it that the rank ended in order: gives back what would
  // outlive the process. Peers still send, and would take a connection that ends before for a loss.
  virtual void shut() {}
};

}  // namespace fairlead::lci
