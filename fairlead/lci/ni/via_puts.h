// The host's side of puts over virtual interfaces (VIA 1.0): the Port's puts as RDMA writes, which
// the receiving network interface performs without its host. Runs in the rank's thread, from its
// port.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "fairlead/base/counters.h"
#include "fairlead/base/step.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/fabric/packet.h"
#include "fairlead/fabric/vi_rdma.h"
#include "fairlead/lci/memory/remote_memory.h"
#include "fairlead/lci/ni/exposed_places.h"
#include "fairlead/lci/ni/host_ni.h"
#include "fairlead/lci/ni/page_transfer.h"
#include "fairlead/lci/ni/parts_left.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

struct ViaPutOptions {
  Rank self;
  std::uint32_t part_bytes_max;  // of one write
  std::uint32_t reserve;         // sends that are not for puts
};

// A write is a descriptor of the virtual interface that the Port has to that peer, so that it keeps
// its place among the Port's packets there. It names the segment and an offset in it, as the Port's
// clients do: what a rank exposes, its interface knows by that name. It may write what is open to
// every peer and whose owner is not told of stores (kTold); what goes elsewhere it hands to its
// host, which checks it as it checks the puts that come as packets.
//
// Data that lie in memory which this rank has exposed, and with that registered, are read from
// there; others are copied into a registered buffer first.
template <HostNi Ni>
class ViaPuts final : public PutCarrier {
 public:
  using PacketId = fabric::PacketId;
  using NiPacket = fabric::NiPacket;

  // All references outlive it.
  ViaPuts(Ni& ni, RemoteMemory& memory, const ViaPutOptions& options, PortCounters& counters)
      : ni_(ni), memory_(memory), options_(options), counters_(counters) {}

  // --- What this rank has exposed, at `base`; peers' puts go to `served`, where another address of
  // it is for them.
  void exposed(SegId segment, const void* base, const void* served, std::uint64_t size,
               ExposedGrant grant) {
    const bool writes = grant.open && !grant.told;
    exposed_.add(segment, base, size, writes);
    served_[segment] = reinterpret_cast<std::uintptr_t>(served);
    if (writes) tell(segment, size);
  }
  void withdrawn(SegId segment) {
    const ExposedPlaces::Segment* const found = exposed_.find(segment);
    if (found == nullptr) return;
    if (found->open) tell(segment, 0);
    exposed_.remove(segment);
    served_.erase(segment);
  }
  void regranted(SegId segment, ExposedGrant grant) {
    const ExposedPlaces::Segment* const found = exposed_.find(segment);
    const bool writes = grant.open && !grant.told;
    if (found == nullptr || found->open == writes) return;
    const auto [base, size, wrote] = *found;
    exposed_.add(segment, reinterpret_cast<const void*>(base), size, writes);
    tell(segment, writes ? size : 0);
  }
  // This rank's memory may go.
  void program_ended() { ni_.forget_vis(); }

  // --- PutCarrier.

  // Not what must come behind earlier puts: these may be the host's to serve. Small pieces of one
  // put share a packet, which costs less than a descriptor for each.
  bool carries(const PutAsk& put, const PutPiece& piece) const override {
    return put.rank != options_.self && !is_near(ni_, put.rank) && !put.after &&
           piece.size >= (put.alone ? 1 : kSharedBytes);
  }
  bool bumps() const override { return false; }
  std::size_t carry(const PutPart& part) override {
    take_completions();
    const std::size_t size = std::min<std::size_t>(part.size, options_.part_bytes_max);
    PacketId id = 0;
    if (!ni_.alloc(size, options_.reserve, &id)) {
      ++counters_.buffer_stalls;
      return 0;
    }
    ni_.charge(Step::send);
    NiPacket& packet = ni_.packet(id);
    PageTarget{part.segment, part.offset}.write(packet.header.client);
    packet.header.client.kind = fabric::PacketKind::page_transfer;
    packet.header.client.source = options_.self;
    packet.header.client.size = static_cast<std::uint32_t>(size);
    packet.header.dest_rank = part.rank;
    packet.peer = part.rank;
    packet.operand = 0;  // the virtual interface to that peer
    packet.fetch_bytes = static_cast<std::uint16_t>(size);
    // The model moves what the NI will read now: the memory is the port's until `done` counts.
    std::memcpy(packet.payload(), part.data, size);
    const std::optional<ExposedPlaces::Place> source = exposed_.place_of(part.data, size);
    PutSource{source.has_value(), source ? source->segment : 0, source ? source->offset : 0}.write(
        packet);
    packet.wants_report = source.has_value();
    if (source) {
      packet.cookie = posted_.add({});
    } else {
      ni_.copy(size);
    }
    ++counters_.page_transfers;
    ni_.post(id, 1);
    return size;
  }
  void count_when_left(Counter* done) override { posted_.count_when_left(done); }

  // Puts that were counted since the start.
  std::uint64_t ended() const { return posted_.counted(); }

  // --- From the port's progress.
  // A descriptor's status has been written; the number of a put's whose data were read by then.
  void completed(std::uint64_t cookie) {
    ni_.charge(Step::reap_completion);
    if (cookie != 0) posted_.over(cookie);
  }
  // False: it is no put. Else it is one that the interface left to its host.
  bool take(NiPacket& packet) {
    const fabric::ClientHeader& header = packet.header.client;
    if (header.kind != fabric::PacketKind::page_transfer) return false;
    ni_.charge(Step::receive);
    ni_.copy(header.size);
    const PageTarget target = PageTarget::read(header);
    (void)memory_.put_came(header.source, target.segment, target.offset,
                           {packet.payload(), header.size});
    ni_.release(packet.id);
    ++noticed_;
    return true;
  }
  // Puts that the host served since the last call.
  int noticed() { return std::exchange(noticed_, 0); }
  static void settle() {}

 private:
  // A guess: a packet of a page takes eight such pieces.
  static constexpr std::size_t kSharedBytes = 512;

  // The interface may write so much of the segment from now on.
  void tell(SegId segment, std::uint64_t bytes) {
    fabric::ViMemory memory{};
    memory.handle = segment;
    memory.base = served_.at(segment);
    memory.bytes = bytes;
    memory.writes = true;
    memory.segment = true;
    ni_.allow(memory);
  }
  void take_completions() {
    std::uint64_t cookie = 0;
    while (ni_.reap_completion(&cookie)) completed(cookie);
  }

  struct Nothing {};

  Ni& ni_;
  RemoteMemory& memory_;
  ViaPutOptions options_;
  PortCounters& counters_;
  ExposedPlaces exposed_;  // open: the interface may write it
  std::map<SegId, std::uintptr_t> served_;
  PartsLeft<Nothing> posted_;
  int noticed_ = 0;
};

}  // namespace fairlead::lci
