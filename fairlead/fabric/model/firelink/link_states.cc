#include "fairlead/fabric/model/firelink/link_states.h"

#include <algorithm>

namespace fairlead::fabric::model {

LinkStates::LinkStates(const hw::FirelinkWiring& wiring, std::uint32_t stripes)
    : wiring_(wiring),
      stripes_(stripes),
      links_(std::size_t{wiring.nodes()} * wiring.links()),
      routes_(std::size_t{wiring.nodes()} * wiring.nodes()) {
  route();
}

template <class Use>
void LinkStates::ends(Peer host, std::uint32_t link, Use use) {
  use(at(host, link));
  if (wiring_.switched() || wiring_.nodes() < 2) return;
  const hw::FirelinkWiring::End end = wiring_.other_end(host, link);
  use(at(end.host, end.link));
}

void LinkStates::fail(Peer host, std::uint32_t link) {
  ends(host, link, [](Link& end) {
    if (end.dead_by++ == 0) ++end.downs;
  });
}

void LinkStates::mend(Peer host, std::uint32_t link) {
  ends(host, link, [](Link& end) { --end.dead_by; });
}

bool LinkStates::look(Peer host, std::uint32_t link) {
  const bool alive = up(host, link);
  if (at(host, link).routed == alive) return false;
  ends(host, link, [alive](Link& end) { end.routed = alive; });
  route();
  return true;
}

void LinkStates::route() {
  for (Peer from = 0; from < wiring_.nodes(); ++from) {
    for (Peer to = 0; to < wiring_.nodes(); ++to) {
      if (from == to) continue;
      std::vector<Way> ways = wiring_.ways(from, to);
      std::erase_if(ways, [&](const Way& way) {
        return !at(from, way.out).routed || !at(to, way.in).routed;
      });
      if (ways.size() > stripes_) ways.resize(stripes_);
      routes_[std::size_t{from} * wiring_.nodes() + to] = std::move(ways);
    }
  }
}

bool LinkStates::open(Peer from, Peer to, std::uint32_t number, Way* way) const {
  const std::vector<Way> ways = wiring_.ways(from, to);
  if (number >= ways.size()) return false;
  *way = ways[number];
  return at(from, way->out).routed && at(to, way->in).routed;
}

bool LinkStates::whole(Peer from, Peer to) const {
  const std::vector<Way>& ways = routed(from, to);
  return !ways.empty() &&
         std::all_of(ways.begin(), ways.end(), [&](const Way& way) { return up(from, to, way); });
}

}  // namespace fairlead::fabric::model
