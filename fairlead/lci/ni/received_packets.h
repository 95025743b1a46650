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

  // At most `kept_max` hold receive buffers.
  explicit ReceivedPackets(std::uint32_t kept_max) : kept_max_(kept_max) {}

  // No upcall may run now. The NI's next packets need host buffers, acknowledgments among them.
  void set_aside(Ni& ni, PacketId id, PortCounters& counters) {
    const bool holds_buffer = ni.packet(id).holds != fabric::Holds::nothing;
    if (holds_buffer && aside_.size() + kept_ >= kept_max_) copy_out(ni, ni.packet(id), counters);
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
  void keep(Ni& ni, NiPacket& packet, PortCounters& counters) {
    if (packet.holds == fabric::Holds::nothing) return;
    if (kept_ < kept_max_) {
      packet.kept = true;
      ++kept_;
      return;
    }
    copy_out(ni, packet, counters);
  }
  void release(Ni& ni, NiPacket& packet) {
    if (packet.kept) --kept_;
    done_with(ni, packet);
  }
  // Nobody keeps it, or will.
  static void done_with(Ni& ni, NiPacket& packet) {
    if (packet.holds != fabric::Holds::nothing) {
      ni.release(packet.id);
    } else {
      ni.release_local(packet.id);
    }
  }

 private:
  static void copy_out(Ni& ni, NiPacket& packet, PortCounters& counters) {
    ++counters.copied_out;
    ni.copy(packet.header.client.size);
    ni.return_host_buffer(packet.id);
    packet.holds = fabric::Holds::nothing;
  }

  Ring<PacketId> aside_;
  std::uint32_t kept_ = 0;
  std::uint32_t kept_max_;
};

}  // namespace fairlead::lci
