// Datagrams over UDP: unreliable, sealed with the job's key, several by one system call (GSO and
// GRO where they have the same size). What is lost is mended above (lci/reliable/reliable_nic.h).
// One socket per endpoint.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "fairlead/base/result.h"
#include "fairlead/fabric/deaths.h"
#include "fairlead/fabric/nic.h"
#include "fairlead/fabric/udp/seal.h"
#include "fairlead/fabric/udp/udp_address.h"

namespace fairlead::fabric {

struct UdpOptions {
  Peer self = 0;
  Peer peers = 1;
  JobKey key{};
  std::uint32_t job = 0;  // what datagrams of one job have in common
  Auth auth = Auth::header;
  std::uint32_t rail = 0;             // which of the rank's endpoints this is, below 256
  std::string address = "127.0.0.1";  // of this host, where the peers reach it
  std::uint32_t mtu = 0;              // IP packets of at most so many bytes; 0: the interface's
  // Where a peer is; false: not known yet. Asked until it is, then never again.
  bool (*find)(void* context, Peer peer, UdpAddress* address) = nullptr;
  void* find_context = nullptr;
  Deaths deaths;  // optional
  int bell = -1;  // an eventfd that ends sleep() too, and is emptied by it; the caller's
  PortCounters* counters = nullptr;  // outlives the endpoint; nullptr: its own
};

class UdpNic : public Nic {
 public:
  // Where peers reach this endpoint: for their find().
  virtual const UdpAddress& address() const = 0;
  // Bytes that the kernel holds for this endpoint before it drops.
  virtual std::size_t socket_bytes() const = 0;
};

// Error: the address, or what the kernel refused and why.
Result<std::unique_ptr<UdpNic>> open_udp(const UdpOptions& options);

}  // namespace fairlead::fabric
