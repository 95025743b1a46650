#include "fairlead/fabric/udp/udp_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <cstring>

namespace fairlead::fabric {

std::string to_string(const UdpAddress& address) {
  char text[INET6_ADDRSTRLEN] = "?";
  (void)::inet_ntop(address.family, address.ip, text, sizeof text);
  if (address.family == AF_INET6) return fmt::format("[{}]:{}", text, address.port);
  return fmt::format("{}:{}", text, address.port);
}

SocketAddress socket_address(const UdpAddress& from) {
  SocketAddress to{};
  if (from.family == AF_INET) {
    to.v4.sin_family = AF_INET;
    to.v4.sin_port = htons(from.port);
    std::memcpy(&to.v4.sin_addr, from.ip, 4);
  } else {
    to.v6.sin6_family = AF_INET6;
    to.v6.sin6_port = htons(from.port);
    to.v6.sin6_scope_id = from.scope;
    std::memcpy(&to.v6.sin6_addr, from.ip, 16);
  }
  return to;
}

UdpAddress udp_address(const SocketAddress& from) {
  UdpAddress to;
  to.family = from.any.sa_family;
  if (to.family == AF_INET) {
    to.port = ntohs(from.v4.sin_port);
    std::memcpy(to.ip, &from.v4.sin_addr, 4);
  } else {
    to.port = ntohs(from.v6.sin6_port);
    to.scope = from.v6.sin6_scope_id;
    std::memcpy(to.ip, &from.v6.sin6_addr, 16);
  }
  return to;
}

std::optional<SocketAddress> parse_ip(const std::string& text) {
  SocketAddress found{};
  if (::inet_pton(AF_INET, text.c_str(), &found.v4.sin_addr) == 1) {
    found.v4.sin_family = AF_INET;
  } else if (::inet_pton(AF_INET6, text.c_str(), &found.v6.sin6_addr) == 1) {
    found.v6.sin6_family = AF_INET6;
  } else {
    return std::nullopt;
  }
  return found;
}

}  // namespace fairlead::fabric
