// Multicast as far as it is the hosts' (LCI paper section 5.4): a packet goes to NI memory once and
// from there to every child in the group's tree; what comes is passed on, or waits for its group to
// be named.
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fairlead/base/counters.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/lci/backlog.h"
#include "fairlead/lci/group/group_table.h"
#include "fairlead/lci/ni/host_ni.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

// HostFlowOf: the port's HostFlow. All references outlive it.
template <HostNi Ni, class Transfer, class HostFlowOf>
class HostMulticast {
 public:
  using PacketId = fabric::PacketId;
  using NiPacket = fabric::NiPacket;

  HostMulticast(Ni& ni, HostFlowOf& flow, const GroupTable& groups, PortCounters& counters,
                Backlog& backlog)
      : ni_(ni),
        flow_(flow),
        groups_(groups),
        counters_(counters),
        forwards_(backlog),
        near_waiting_(backlog) {}

  // A packet of this rank to a group. Returns whether the NIs are to spread it, which they do where
  // they forward the group's packets (`forwarded_below`): the port posts it, to nobody in
  // particular.
  bool post(NiPacket& packet, std::size_t gathered, bool forwarded_below) {
    if (groups_.size(packet.header.dest_rank) == 1) {
      ni_.release_local(packet.id);
    } else if (!forwarded_below) {
      post_to_children(packet, gathered);
    } else if (!post_to_node(packet)) {
      ni_.cancel(packet.id);
    } else {
      packet.peer = kNobody;
      return true;
    }
    return false;
  }

  // A multicast packet has come that the NI does not pass on.
  void pass_on(NiPacket& packet) {
    const std::uint32_t group = packet.header.dest_rank;
    std::uint32_t children = 0;
    if (!groups_.for_each_child(group, packet.header.client.source,
                                [&children](Rank) { ++children; })) {
      ++counters_.foreign_dropped;
    }
    if (children == 0) return;
    ni_.charge(Step::pass_on);
    counters_.multicasts_forwarded += children;
    PacketId id = 0;
    if (forwards_.empty() && ni_.alloc(packet.header.client.size, 0, &id)) {
      return pass_from(packet, id);
    }
    // The host's memory holds what the NI's has no room for: a forwarder never stops receiving.
    id = copy_aside(packet);
    ni_.copy(packet.header.client.size);
    forwards_.push_back(id);
  }
  // Those that waited for a send buffer, as far as there are some.
  int pass_waiting() {
    int passed = 0;
    PacketId id = 0;
    while (!near_waiting_.empty() &&
           alloc_for(ni_, near_waiting_.front().to,
                     ni_.packet(near_waiting_.front().id).header.client.size, 0, &id)) {
      const Near next = near_waiting_.front();
      near_waiting_.pop_front();
      copy_packet(ni_.packet(next.id), ni_.packet(id));
      ni_.release_local(next.id);
      post_near(id, next.to);
      ++passed;
    }
    while (!forwards_.empty() &&
           ni_.alloc(ni_.packet(forwards_.front()).header.client.size, 0, &id)) {
      pass_from(ni_.packet(forwards_.front()), id);
      ni_.release_local(forwards_.front());
      forwards_.pop_front();
      ++passed;
    }
    return passed;
  }

  // A packet of a group that this rank has not named yet waits for it on the host.
  void keep_early(const NiPacket& packet) {
    early_[packet.header.dest_rank].push_back(copy_aside(packet));
  }
  // Now it has: `take` gets each of them.
  template <class Take>
  void take_early(std::uint16_t group, Take&& take) {
    const auto found = early_.find(group);
    if (found == early_.end()) return;
    for (const PacketId id : found->second) take(id);
    early_.erase(found);
  }

 private:
  static constexpr Rank kNobody = UINT32_MAX;

  // For a buffer.
  struct Near {
    PacketId id;
    Rank to;
  };

  // To the other ranks of this node. True: there are other nodes.
  bool post_to_node(const NiPacket& packet) {
    if constexpr (kSharesNode<Ni>) {
      if (!ni_.nodes().several()) return true;
      const Peer node = ni_.nodes().node_of(groups_.self());
      for (std::uint32_t place = 0; place < ni_.nodes().ranks_on(node); ++place) {
        const Rank rank = ni_.nodes().rank_at(node, place);
        if (rank != groups_.self()) send_near(packet, rank);
      }
      return ni_.nodes().count() > 1;
    }
    return true;
  }
  // One transfer to NI memory, the same buffer to every child.
  void post_to_children(NiPacket& packet, std::size_t gathered) {
    const std::size_t size = packet.header.client.size;
    const PacketId buffer = packet.id;
    children_.clear();
    (void)groups_.for_each_child(
        packet.header.dest_rank, packet.header.client.source, [&](Rank child) {
          is_near(ni_, child) ? send_near(packet, child) : children_.push_back(child);
        });
    // All of them are near.
    if (children_.empty()) return ni_.cancel(buffer);
    Transfer::move(ni_, buffer, size, gathered);
    if constexpr (HostFlowOf::kRuns) return send_to_children(packet);
    packet.uses = 0;
    // All of them before the first is posted: the buffer is gone when none is left.
    for (std::uint32_t& child : children_) {
      const PacketId made = ni_.image(buffer);
      ni_.packet(made).peer = std::exchange(child, made);
    }
    for (std::size_t i = 0; i < children_.size(); ++i) post_image(children_[i], i == 0 && size > 0);
  }

  // A copy of a multicast packet to another rank of this node.
  void send_near(const NiPacket& packet, Rank to) {
    const std::size_t size = packet.header.client.size;
    PacketId id = 0;
    if (near_waiting_.empty() && alloc_for(ni_, to, size, 0, &id)) {
      copy_packet(packet, ni_.packet(id));
      return post_near(id, to);
    }
    near_waiting_.push_back({copy_aside(packet), to});
  }

  void post_near(PacketId id, Rank to) {
    if constexpr (kSharesNode<Ni>) {
      auto& packet = ni_.packet(id);
      packet.peer = to;
      ni_.charge(Step::forward);
      ni_.post_near(id, packet.header.client.size);
    }
  }
  void send_to_children(NiPacket& packet) {
    packet.uses = static_cast<std::uint8_t>(children_.size());
    packet.wants_report = Transfer::kReports && packet.header.client.size > 0;
    const PacketId buffer = packet.id;
    for (std::size_t i = 0; i < children_.size(); ++i) {
      if (i > 0) ni_.charge(Step::forward);
      flow_.send(buffer, children_[i]);
    }
  }
  void post_image(PacketId id, bool with_data) {
    auto& image = ni_.packet(id);
    image.wants_report = Transfer::kReports && with_data;
    if (!with_data) image.fetch_bytes = 0;
    if (!with_data) ni_.charge(Step::forward);
    ni_.post(id, with_data ? Transfer::kDescriptorLines : 1);
  }
  void pass_from(const NiPacket& from, PacketId id) {
    auto& buffer = ni_.packet(id);
    copy_packet(from, buffer);
    post_to_children(buffer, 0);
  }
  PacketId copy_aside(const NiPacket& packet) {
    const PacketId id = ni_.alloc_local(packet.header.client.size);
    copy_packet(packet, ni_.packet(id));
    return id;
  }
  static void copy_packet(const NiPacket& from, NiPacket& to) {
    to.header = from.header;
    to.for_group = 1;
    std::memcpy(to.payload(), from.payload(), from.header.client.size);
  }

  Ni& ni_;
  HostFlowOf& flow_;
  const GroupTable& groups_;
  PortCounters& counters_;
  // The children, beyond this node, of the packet that is being sent; then their images.
  std::vector<std::uint32_t> children_;
  BacklogQueue<PacketId> forwards_;
  BacklogQueue<Near> near_waiting_;
  std::unordered_map<std::uint32_t, std::vector<PacketId>> early_;  // by group not yet named
};

}  // namespace fairlead::lci
