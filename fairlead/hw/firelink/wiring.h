// Which link of a host leads to which other host: the topologies of figure 1 of the Sun Fire Link
// paper. Two or three hosts may be wired to each other; more need switches, which cannot be
// cascaded: each link of a host goes to one, and a host with several switches has several ways to
// each other host (section 2.4).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/base/post.h"
#include "fairlead/base/result.h"
#include "fairlead/hw/firelink/firelink_params.h"

namespace fairlead::hw {

class FirelinkWiring {
 public:
  // One way from a host to another: out by a link of the one, in by a link of the other. Links of a
  // host are numbered from 0, those of its first interface first.
  struct Way {
    std::uint32_t out;
    std::uint32_t in;
  };
  static constexpr std::uint32_t kUnswitchedMost = 3;  // hosts

  // Error: so many hosts cannot be wired like that; says how many can.
  static Result<void> check(const FirelinkParams& params, std::uint32_t nodes);
  // As many hosts as check() allows.
  FirelinkWiring(const FirelinkParams& params, std::uint32_t nodes)
      : nodes_(nodes), links_(params.links_of_host()), switches_(params.switches) {}

  std::uint32_t nodes() const { return nodes_; }
  std::uint32_t links() const { return links_; }  // of a host
  bool switched() const { return switches_ > 0; }
  // Every way from `from` to `to`, by the number of the link out.
  std::vector<Way> ways(Peer from, Peer to) const;
  // How many there are, the same for every two hosts.
  std::uint32_t ways_each() const {
    return !switched() && nodes_ == kUnswitchedMost ? links_ / 2 : links_;
  }
  // Where the cable of a link ends: another host, or a switch.
  struct End {
    Peer host;
    std::uint32_t link;
  };
  // Unswitched: the other end; `link` is wired.
  End other_end(Peer host, std::uint32_t link) const;

 private:
  std::uint32_t nodes_;
  std::uint32_t links_;
  std::uint32_t switches_;
};

}  // namespace fairlead::hw
