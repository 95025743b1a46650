// Send buffers for the packets of a rank's client: requests leave some of them to replies. When the
// client was refused one, that is remembered, so that a wait can end when there is room again.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/fabric/ni_packet.h"
#include "fairlead/lci/ni/host_ni.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

template <HostNi Ni>
class SendBuffers {
 public:
  // `reserve`: so many that requests do not take.
  explicit SendBuffers(std::uint32_t reserve) : reserve_(reserve) {}

  // False: none is free for a packet of that lane to that rank.
  bool take(Ni& ni, Rank to, Lane lane, std::size_t bytes, fabric::PacketId* id) {
    return alloc_for(ni, to, bytes, reserve_of(lane), id);
  }
  // The client is told that none is.
  void refuse(const Ni& ni, Rank to, Lane lane) {
    refused_ = true;
    refused_near_ = is_near(ni, to);
    refused_reserve_ = reserve_of(lane);
  }
  bool refused() const { return refused_; }
  // Looks at the NI as it is now: returns whether there is one again.
  bool has_room(Ni& ni) {
    ni.sync();
    if (!has_buffer(ni)) return false;
    refused_ = false;
    return true;
  }

 private:
  std::uint32_t reserve_of(Lane lane) const { return lane == Lane::request ? reserve_ : 0; }
  bool has_buffer(Ni& ni) const {
    if constexpr (kSharesNode<Ni>) {
      if (refused_near_) return ni.has_near_buffer(refused_reserve_);
    }
    return ni.has_buffer(refused_reserve_);
  }

  std::uint32_t reserve_;
  bool refused_ = false;
  bool refused_near_ = false;  // for a rank of this node
  std::uint32_t refused_reserve_ = 0;
};

}  // namespace fairlead::lci
