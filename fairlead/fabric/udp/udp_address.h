// Where an endpoint of UDP is: as endpoints tell each other, and as the kernel has it.
#pragma once
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

namespace fairlead::fabric {

// What endpoints tell each other, 24 bytes.
struct UdpAddress {
  std::uint16_t family = 0;  // AF_INET or AF_INET6; 0: not known
  std::uint16_t port = 0;    // host order
  std::uint32_t scope = 0;   // of a link-local IPv6 address
  std::uint8_t ip[16] = {};  // IPv4: the first four

  bool known() const { return family == AF_INET || family == AF_INET6; }
};
static_assert(sizeof(UdpAddress) == 24 && std::is_trivially_copyable_v<UdpAddress>);
std::string to_string(const UdpAddress& address);  // "127.0.0.1:4711"

union SocketAddress {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};
inline socklen_t address_bytes(const SocketAddress& address) {
  return address.any.sa_family == AF_INET ? sizeof address.v4 : sizeof address.v6;
}
SocketAddress socket_address(const UdpAddress& from);
UdpAddress udp_address(const SocketAddress& from);
// An address as people write it, port 0; nullopt: it is none.
std::optional<SocketAddress> parse_ip(const std::string& text);

}  // namespace fairlead::fabric
