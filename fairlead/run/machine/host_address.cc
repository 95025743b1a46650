#include "fairlead/run/machine/host_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "fairlead/base/numbers.h"

namespace fairlead::run {
namespace {

struct HostAddress {
  int family = AF_INET;
  std::array<std::uint8_t, 16> bytes{};
  bool loopback = false;

  unsigned bits() const { return family == AF_INET ? 32 : 128; }
  std::string text() const {
    char text[INET6_ADDRSTRLEN] = {};
    (void)::inet_ntop(family, bytes.data(), text, sizeof text);
    return text;
  }
};

std::vector<HostAddress> addresses_up() {
  std::vector<HostAddress> found;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return found;
  constexpr unsigned kWanted = IFF_UP | IFF_RUNNING;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & kWanted) != kWanted) continue;
    HostAddress address;
    address.family = one->ifa_addr->sa_family;
    address.loopback = (one->ifa_flags & IFF_LOOPBACK) != 0;
    if (address.family == AF_INET) {
      const auto& v4 = *reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
      std::memcpy(address.bytes.data(), &v4.sin_addr, sizeof v4.sin_addr);
    } else if (address.family == AF_INET6) {
      const auto& v6 = *reinterpret_cast<const sockaddr_in6*>(one->ifa_addr);
      std::memcpy(address.bytes.data(), &v6.sin6_addr, sizeof v6.sin6_addr);
    } else {
      continue;
    }
    found.push_back(address);
  }
  ::freeifaddrs(list);
  return found;
}

std::optional<HostAddress> parse_address_text(const std::string& text) {
  HostAddress address;
  for (const int family : {AF_INET, AF_INET6}) {
    address.family = family;
    if (::inet_pton(family, text.c_str(), address.bytes.data()) == 1) return address;
  }
  return std::nullopt;
}

bool in_network(const HostAddress& address, const HostAddress& network, unsigned bits) {
  if (address.family != network.family) return false;
  for (unsigned bit = 0; bit < bits; ++bit) {
    const unsigned mask = 0x80u >> bit % 8;
    if (((address.bytes[bit / 8] ^ network.bytes[bit / 8]) & mask) != 0) return false;
  }
  return true;
}

Result<std::string> own_address(const std::string& wanted) {
  const std::size_t slash = wanted.find('/');
  const std::optional<HostAddress> parsed = parse_address_text(wanted.substr(0, slash));
  const Error wrong{
      fmt::format("'{}' is no address; write 10.1.0.7, or a network: 10.1.0.0/24", wanted)};
  if (!parsed.has_value()) return wrong;
  if (slash == std::string::npos) return wanted;
  const auto bits =
      whole_number<unsigned>(std::string_view(wanted).substr(slash + 1), {0, parsed->bits()});
  if (!bits) return wrong;
  for (const HostAddress& address : addresses_up()) {
    if (in_network(address, *parsed, *bits)) return address.text();
  }
  return Error{fmt::format("no interface of this host that is up has an address in {}", wanted)};
}

}  // namespace

std::string outer_address() {
  for (const HostAddress& address : addresses_up()) {
    if (address.family == AF_INET && !address.loopback) return address.text();
  }
  return "127.0.0.1";
}

std::vector<std::string> address_list(const std::string& text) {
  std::vector<std::string> list;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    list.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return list;
}

Result<std::string> own_addresses(const std::string& wanted) {
  std::vector<std::string> found;
  for (const std::string& part : address_list(wanted)) {
    Result<std::string> one = own_address(part);
    if (!one.ok()) return one;
    if (std::find(found.begin(), found.end(), one.value()) != found.end()) {
      return Error{
          fmt::format("the address {} is given twice: each rail has one of its own", one.value())};
    }
    found.push_back(std::move(one.value()));
  }
  return fmt::format("{}", fmt::join(found, ","));
}

}  // namespace fairlead::run
