// Multicast by a tree of unicasts on the hosts: the software default of every Port. A root may have
// a window of packets under way; members tell it in batches what they have passed on.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "fairlead/base/counters.h"
#include "fairlead/base/ring.h"
#include "fairlead/lci/group/group_table.h"
#include "fairlead/lci/port.h"
#include "fairlead/proto/peer_table.h"

namespace fairlead::lci {

// Its port creates it, hands it every packet on kGroupChan before any upcall, and calls progress()
// from poll() while busy(). Thread: the port's.
class SoftwareGroup {
 public:
  static constexpr std::uint32_t kWindow = 32;  // packets of one root under way in one group

  // `groups` and `counters` outlive it.
  SoftwareGroup(Port& port, const GroupTable& groups, PortCounters& counters);
  SoftwareGroup(const SoftwareGroup&) = delete;
  SoftwareGroup& operator=(const SoftwareGroup&) = delete;

  // A group has been named here: what came before is taken from now on; or it has been forgotten.
  void named(std::uint16_t id);
  void forgotten(std::uint16_t id) { windows_.erase(id); }

  // Sends to every other member; the pieces (at most mtu) are copied. again_credit: the window is
  // full, or a child has no room; poll, then try again.
  Post send(std::uint32_t id, Chan chan, Lane lane, const Words& words,
            std::span<const Piece> pieces);

  // Passes a packet of kGroupChan on and returns the arrival its client sees, whose data lies
  // within outer.data. false: for nobody here (counted in `counters`), or it waits for its group.
  bool open(const Arrival& outer, Arrival* inner);

  bool busy() const { return !forwards_.empty() || !ready_.empty(); }
  // Sends what there is room for; returns the number of packets sent.
  int progress();
  // Calls deliver(arrival) for packets that came before their group was defined.
  template <class Deliver>
  int deliver_early(Deliver&& deliver) {
    int n = 0;
    while (!ready_.empty()) {
      Early early = std::move(ready_.front());
      ready_.pop_front();
      Arrival inner;
      if (!open(early.arrival(), &inner)) continue;
      deliver(inner);
      ++n;
    }
    return n;
  }
  void peer_lost(Rank rank);

 private:
  // Before the client's bytes in a packet of kGroupChan.
  struct Prefix {
    std::uint16_t group;
    Chan chan;
    Rank origin;
  };
  static_assert(sizeof(Prefix) == 8);

  // The state of a group in which this rank has sent or received; by the places of its members.
  struct Windows {
    std::uint32_t sent = 0;                    // by me as root
    std::vector<std::uint32_t> passed;         // of those, per member; empty: never sent
    proto::PeerTable<std::uint32_t> received;  // per root
  };
  struct Forward {
    Rank to;
    Lane lane;
    bool is_ack;
    std::uint32_t words[4];
    std::vector<std::byte> data;  // prefix included
  };
  struct Early {
    Rank source;
    Lane lane;
    std::uint32_t words[4];
    std::vector<std::byte> data;
    Arrival arrival() const;
  };

  static Keep on_ack(void* self, Packet*, const Arrival& a);

  bool window_open(std::uint32_t id, Windows& windows) const;
  bool transmit(Rank to, Lane lane, const Words& words, std::span<const Piece> pieces);
  void pass(Rank to, Lane lane, const Words& words, std::span<const Piece> pieces);
  bool transmit_ack(Rank to, const Words& words);
  void acknowledge(std::uint32_t id, Rank root);

  Port& port_;
  const GroupTable& groups_;
  PortCounters& counters_;
  std::map<std::uint32_t, Windows> windows_;
  Ring<Forward> forwards_;
  std::map<std::uint32_t, std::deque<Early>> early_;  // by group not yet defined
  Ring<Early> ready_;
  bool is_lost(Rank rank) const { return rank < lost_.size() && lost_[rank]; }
  std::vector<bool> lost_;  // empty: none
};

}  // namespace fairlead::lci
