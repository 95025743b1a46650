// How flows are numbered: one for each lane of a peer, and where there are several rails one more
// for each rail but the first, by which pieces of copies travel (a stripe). A flow has numbers, a
// window, round trips and a pace of its own. On the wire a stripe is a lane beyond the client's.
#pragma once
#include <cstdint>

#include "fairlead/base/post.h"
#include "fairlead/fabric/nic.h"

namespace fairlead::lci {

using Flow = std::uint32_t;

// Pieces of copies and notes about them: on the lane of which there is least else.
inline constexpr std::uint32_t kCopyLane = fabric::kLanes - 1;

class FlowNames {
 public:
  FlowNames(Peer peers, std::uint32_t rails)
      : first_stripe_(peers * fabric::kLanes), stripes_(rails - 1), peers_(peers) {}

  std::uint32_t count() const { return first_stripe_ + peers_ * stripes_; }
  std::uint32_t stripes() const { return stripes_; }  // of a peer
  std::uint32_t lanes() const { return fabric::kLanes + stripes_; }

  Flow of(Peer peer, std::uint32_t lane) const {
    return lane < fabric::kLanes ? peer * fabric::kLanes + lane
                                 : first_stripe_ + peer * stripes_ + (lane - fabric::kLanes);
  }
  bool is_stripe(Flow flow) const { return flow >= first_stripe_; }
  // From 0 over all peers.
  std::uint32_t stripe(Flow flow) const { return flow - first_stripe_; }
  Peer peer_of(Flow flow) const {
    return is_stripe(flow) ? (flow - first_stripe_) / stripes_ : flow / fabric::kLanes;
  }
  std::uint32_t lane_of(Flow flow) const {
    return is_stripe(flow) ? fabric::kLanes + (flow - first_stripe_) % stripes_
                           : flow % fabric::kLanes;
  }
  static bool is_copy_lane(std::uint32_t lane) { return lane >= kCopyLane; }
  // Pieces travel by it.
  bool is_copy(Flow flow) const { return is_copy_lane(lane_of(flow)); }
  // Whose acknowledgments a packet of `flow` carries, i from 0 to kLanes - 1: its own first, then
  // those of lanes.
  Flow acked_by(Flow flow, std::uint32_t i) const {
    if (i == 0) return flow;
    const std::uint32_t lane = is_stripe(flow) ? 0 : lane_of(flow);
    return of(peer_of(flow), (lane + i) % fabric::kLanes);
  }
  // Of the peer: visit(flow) for each.
  template <class Visit>
  void for_each(Peer peer, Visit&& visit) const {
    for (std::uint32_t lane = 0; lane < lanes(); ++lane) visit(of(peer, lane));
  }
  template <class Visit>
  void for_each_copy(Peer peer, Visit&& visit) const {
    for (std::uint32_t lane = kCopyLane; lane < lanes(); ++lane) visit(of(peer, lane));
  }

 private:
  std::uint32_t first_stripe_;
  std::uint32_t stripes_;
  Peer peers_;
};

}  // namespace fairlead::lci
