// Packets that have come to a rank's host and stay there: those whose upcall must wait, and those
// that the client keeps. They hold receive buffers of the host until there are too many of them:
// then the data moves out, and the NI has the buffer back at once.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/base/counters.h"
#include "fairlead/base/ring.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/lci/ni/host_ni.h"

namespace fairlead::lci {

template <HostNi Ni>
class ReceivedPackets {
 public:
  using PacketId = fabric::PacketId;
  using NiPacket = fabric::NiPacket;

  // At most `kept_max` hold receive buffers. `ni` and `counters` outlive it.
  ReceivedPackets(Ni& ni, std::size_t kept_max, PortCounters& counters)
      : ni_(ni), kept_max_(kept_max), counters_(counters) {}

  // No upcall may run now. The NI's next packets need host buffers, acknowledgments among them.
  void set_aside(PacketId id) {
    if (aside_.size() + kept_ >= kept_max_) copy_out(ni_.packet(id));
    aside_.push_back(id);
  }
  bool any_aside() const { return !aside_.empty(); }
  // The one that came first. There is one.
  PacketId take_aside() {
    const PacketId id = aside_.front();
    aside_.pop_front();
    return id;
  }

  // The client keeps it until release().
  void keep(NiPacket& packet) {
    if (packet.holds == fabric::Holds::nothing) return;
    if (kept_ < kept_max_) {
      packet.kept = true;
      ++kept_;
      return;
    }
    copy_out(packet);
  }
  void release(NiPacket& packet) {
    if (packet.kept) --kept_;
    done_with(packet);
  }
  // Nobody keeps it, or will.
  void done_with(NiPacket& packet) {
    if (packet.holds != fabric::Holds::nothing) {
      ni_.release(packet.id);
    } else {
      ni_.release_local(packet.id);
    }
  }

 private:
  void copy_out(NiPacket& packet) {
    ++counters_.copied_out;
    ni_.copy(packet.header.client.size);
    ni_.return_host_buffer(packet.id);
    packet.holds = fabric::Holds::nothing;
  }

  Ni& ni_;
  Ring<PacketId> aside_;
  std::uint32_t kept_ = 0;
  const std::size_t kept_max_;
  PortCounters& counters_;
};

}  // namespace fairlead::lci
