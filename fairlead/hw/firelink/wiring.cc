#include "fairlead/hw/firelink/wiring.h"

#include <fmt/format.h>

namespace fairlead::hw {

Result<void> FirelinkWiring::check(const FirelinkParams& params, std::uint32_t nodes) {
  const std::uint32_t links = params.links_of_host();
  if (params.switches == 0) {
    if (nodes > kUnswitchedMost) {
      return Error{
          fmt::format("{} hosts without a switch: links from host to host join at most {}; set "
                      "links.switches",
                      nodes, kUnswitchedMost)};
    }
    if (nodes == kUnswitchedMost && links % 2 != 0) {
      return Error{fmt::format(
          "3 hosts without a switch: {} links of a host cannot be shared by two others", links)};
    }
    return {};
  }
  if (params.switches > links) {
    return Error{
        fmt::format("links.switches is {}, and a host has {} links", params.switches, links)};
  }
  const std::uint32_t each = (links + params.switches - 1) / params.switches;
  const std::uint32_t most = params.ports / each;
  if (nodes <= most) return {};
  return Error{
      fmt::format("host {} has no place: a switch joins {} links, {} of each host, so at most {} "
                  "hosts; switches cannot be cascaded",
                  most + 1, params.ports, each, most)};
}

std::vector<FirelinkWiring::Way> FirelinkWiring::ways(Peer from, Peer to) const {
  std::vector<Way> all;
  for (std::uint32_t link = 0; link < links_; ++link) {
    if (switched()) {
      all.push_back({link, link});
    } else if (const End end = other_end(from, link); end.host == to) {
      all.push_back({link, end.link});
    }
  }
  return all;
}

// Three hosts stand in a ring: even links lead on, to the odd ones of the next host.
FirelinkWiring::End FirelinkWiring::other_end(Peer host, std::uint32_t link) const {
  if (nodes_ < kUnswitchedMost) return {nodes_ - 1 - host, link};
  const bool on = link % 2 == 0;
  return {(host + (on ? 1 : nodes_ - 1)) % nodes_, on ? link + 1 : link - 1};
}

}  // namespace fairlead::hw
