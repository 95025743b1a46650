// Datagrams over UDP: unreliable, sealed with the job's key, several by one system call (GSO and
// GRO where they have the same size). What is lost is mended above (lci/reliable_nic.h). One socket
// per endpoint.
#pragma once
#include <netinet/in.h>

#include <cstdint>
#include <memory>
#include <string>

#include "fairlead/base/result.h"
#include "fairlead/fabric/deaths.h"
#include "fairlead/fabric/nic.h"
#include "fairlead/fabric/udp/seal.h"

namespace fairlead::fabric {

// Where an endpoint can be reached: what endpoints tell each other, 24 bytes.
struct UdpAddress {
  std::uint16_t family = 0;  // AF_INET or AF_INET6; 0: not known
  std::uint16_t port = 0;    // host order
  std::uint32_t scope = 0;   // of a link-local IPv6 address
  std::uint8_t ip[16] = {};  // IPv4: the first four
};
static_assert(sizeof(UdpAddress) == 24 && std::is_trivially_copyable_v<UdpAddress>);
std::string to_string(const UdpAddress& address);  // "127.0.0.1:4711"

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
