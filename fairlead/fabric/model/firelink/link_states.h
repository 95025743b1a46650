// Which links of a Fire Link machine live, and by which of them the hosts' drivers send: these
// learn late. Links are counted by host, as in hw::FirelinkWiring; where a cable joins two hosts,
// both its ends have the same state.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/base/post.h"
#include "fairlead/hw/firelink/wiring.h"

namespace fairlead::fabric::model {

class LinkStates {
 public:
  using Way = hw::FirelinkWiring::Way;

  // `wiring` outlives it. The drivers use the first `stripes` ways of a pair that they take for
  // alive.
  LinkStates(const hw::FirelinkWiring& wiring, std::uint32_t stripes);

  // A link dies, or one of the causes of its death is over.
  void fail(Peer host, std::uint32_t link);
  void mend(Peer host, std::uint32_t link);
  bool up(Peer host, std::uint32_t link) const { return at(host, link).dead_by == 0; }
  bool up(Peer from, Peer to, Way way) const { return up(from, way.out) && up(to, way.in); }
  // How often both ends of a way have died so far: a run that finds another number than it left
  // with was on a link that died.
  std::uint64_t downs(Peer from, Peer to, Way way) const {
    return at(from, way.out).downs + at(to, way.in).downs;
  }

  // The driver looks at the link and sends accordingly from now on. True: that is new.
  bool look(Peer host, std::uint32_t link);
  // The ways that the drivers use.
  const std::vector<Way>& routed(Peer from, Peer to) const {
    return routes_[std::size_t{from} * wiring_.nodes() + to];
  }
  // One way, by its number among all that are wired, is one that the drivers take for alive.
  bool open(Peer from, Peer to, std::uint32_t number, Way* way) const;
  // There are some, and none of them is dead.
  bool whole(Peer from, Peer to) const;

 private:
  struct Link {
    std::uint32_t dead_by = 0;  // causes
    bool routed = true;
    std::uint64_t downs = 0;
  };
  const Link& at(Peer host, std::uint32_t link) const {
    return links_[std::size_t{host} * wiring_.links() + link];
  }
  Link& at(Peer host, std::uint32_t link) {
    return links_[std::size_t{host} * wiring_.links() + link];
  }
  // Calls `use` for the ends of the link's cable.
  template <class Use>
  void ends(Peer host, std::uint32_t link, Use use);
  void route();

  const hw::FirelinkWiring& wiring_;
  std::uint32_t stripes_;
  std::vector<Link> links_;
  std::vector<std::vector<Way>> routes_;  // by pair
};

}  // namespace fairlead::fabric::model
