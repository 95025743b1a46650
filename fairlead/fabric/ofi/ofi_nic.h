// Packets over libfabric (OFI): a reliable datagram endpoint of whatever provider the machine has:
// verbs, efa, tcp, shm. Nothing is lost or reordered on the way, so that the direct composition
// (lci/direct/direct_port.h) stands on it. The library is loaded when an endpoint is opened.
//
// The provider holds back what a receiver has no room for, all of a peer's together; so that
// replies drain whatever requests do, each lane has a window of its own above it.
#pragma once
#include <memory>
#include <string>

#include "fairlead/base/result.h"
#include "fairlead/fabric/nic.h"
#include "fairlead/fabric/ofi/ofi_options.h"

namespace fairlead::fabric {

class OfiNic : public Nic {
 public:
  // Where peers reach this endpoint: for their find().
  virtual const OfiAddress& address() const = 0;
  // The chosen provider, why, and why no other: "tcp;ofi_rxm (libfabric 1.17): ...".
  virtual const std::string& choice() const = 0;
};

// Error: as ofi_providers(), or what libfabric refused and why.
Result<std::unique_ptr<OfiNic>> open_ofi(const OfiOptions& options);

}  // namespace fairlead::fabric
