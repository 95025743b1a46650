#include "fairlead/systems/mpi/devices/pairs/device.h"

#include "fairlead/systems/mpi/devices/rsm/postbox.h"
#include "fairlead/systems/mpi/engine.h"

namespace fairlead::mpi {

PairsDevice::PairsDevice(Engine& engine, const rsm::Tunables& tunables, const run::Context& context)
    : is_far_(engine.port().size()), near_(engine.direct()), far_(engine, tunables, context) {
  for (Rank peer = 0; peer < engine.port().size(); ++peer) {
    is_far_[peer] = is_far(engine.port(), peer);
    if (is_far_[peer] && tunables.connect_all != 0) far_.connect(peer);
  }
  engine.direct().bind(engine.direct().upcalls());
}

// A line shows at once and is stored by the network, not carried by a packet.
bool PairsDevice::is_far(const lci::Port& port, Rank peer) {
  const lci::Caps& caps = port.caps(peer);
  return peer != port.self() && caps.put_atomic_bytes >= rsm::kBoxBytes &&
         (caps.flags & lci::kRemoteCopy) != 0;
}

bool PairsDevice::any_far(const lci::Port& port) {
  for (Rank peer = 0; peer < port.size(); ++peer) {
    if (is_far(port, peer)) return true;
  }
  return false;
}

// Messages of this rank to itself are the engine's, whoever accepts them.
void PairsDevice::accept(Request& receive, Unexpected& message) {
  of(message.envelope.peer).accept(receive, message);
}

bool PairsDevice::progress() {
  const bool near = near_.progress();
  const bool far = far_.progress();
  return near || far;
}

}  // namespace fairlead::mpi
