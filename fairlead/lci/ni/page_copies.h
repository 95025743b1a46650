// The host's side of I-rcpy (LCI paper section 5.2): carries the bytes of puts in page transfers,
// keeps the host's TLB, and takes what comes that way. Runs in the rank's thread, from its port.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "fairlead/base/counters.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/lci/memory/remote_memory.h"
#include "fairlead/lci/ni/exposed_places.h"
#include "fairlead/lci/ni/host_ni.h"
#include "fairlead/lci/ni/page_transfer.h"
#include "fairlead/lci/ni/parts_left.h"
#include "fairlead/proto/translation_cache.h"

namespace fairlead::lci {

struct PageCopyOptions {
  Rank self;
  std::uint32_t part_bytes_max;  // of one page transfer, at most a page
  std::uint32_t reserve;         // send buffers that are not for page transfers
};

// Zero-copy is between memory that ranks have exposed: what peers may write takes arrivals, all of
// it is a source. A put from other memory is copied into NI memory by the host, as on a miss.
template <HostNi Ni>
class PageCopies final : public PutCarrier {
 public:
  using PacketId = fabric::PacketId;
  using NiPacket = fabric::NiPacket;

  // All references outlive it.
  PageCopies(Ni& ni, RemoteMemory& memory, const PageCopyOptions& options, PortCounters& counters)
      : ni_(ni), memory_(memory), options_(options), counters_(counters) {}

  // --- What this rank has exposed. Puts find it at `base`, whatever its host is served by.
  void exposed(SegId segment, const void* base, const void*, std::uint64_t size,
               ExposedGrant grant) {
    exposed_.add(segment, base, size, grant.open);
  }
  // The NI forgets its pages as soon as nothing under way needs them; what comes until then is
  // refused by the host.
  void withdrawn(SegId segment) {
    if (!exposed_.remove(segment) || tlb_ == nullptr) return;
    for (std::uint32_t slot = 0; slot < kTlbEntries; ++slot) {
      const proto::HostTlb::Entry& entry = tlb_->entry(slot);
      for (const proto::VirtualPage page : {entry.mapped, entry.coming, entry.wanted}) {
        if (page != proto::kNoPage && segment_of(page) == segment) leaving_.push_back(page);
      }
    }
    drop_leaving();
  }
  void regranted(SegId segment, ExposedGrant grant) {
    const ExposedPlaces::Segment* const found = exposed_.find(segment);
    if (found == nullptr || found->open == grant.open) return;
    const auto [base, size, was_open] = *found;
    withdrawn(segment);
    exposed_.add(segment, reinterpret_cast<const void*>(base), size, grant.open);
  }
  // Its NI writes pages of a rank's memory by that rank's own calls alone.
  static void program_ended() {}

  // --- PutCarrier.
  bool carries(const PutAsk& put, const PutPiece& piece) const override {
    // The engine moves words; and a page's number has 31 bits.
    return put.rank != options_.self && !is_near(ni_, put.rank) && piece.size > 0 &&
           piece.offset % 4 == 0 && piece.offset < kSegmentBytesMax &&
           piece.size <= kSegmentBytesMax - piece.offset;
  }
  bool bumps() const override { return true; }
  std::size_t carry(const PutPart& part) override {
    take_completions();
    const std::optional<Source> source = source_of(part.data, part.size);
    std::size_t size = std::min<std::size_t>(
        {part.size, options_.part_bytes_max, kPageBytes - part.offset % kPageBytes});
    if (source) size = std::min<std::size_t>(size, kPageBytes - source->offset % kPageBytes);
    PacketId id = 0;
    if (!ni_.alloc(size, options_.reserve, &id)) {
      ++counters_.buffer_stalls;
      return 0;
    }
    ni_.charge(Step::send);
    Site site{*this};
    const proto::SourceUse use = source ? tlb().source(site, source->page) : proto::SourceUse{};
    NiPacket& packet = ni_.packet(id);
    PageTarget target{part.segment, part.offset, kNoCounter, part.after};
    if (size == part.size) target.counter = part.counter;
    target.write(packet.header.client);
    packet.header.client.kind = fabric::PacketKind::page_transfer;
    packet.header.client.source = options_.self;
    packet.header.client.size = static_cast<std::uint32_t>(size);
    packet.header.dest_rank = part.rank;
    packet.peer = part.rank;
    packet.notifies = target.counter != kNoCounter;
    // The model moves what the NI will fetch now: the memory is the port's until `done` counts.
    std::memcpy(packet.payload(), part.data, size);
    write_source(packet, use);
    ++counters_.page_transfers;
    if (use.kind == proto::SourceKind::hit) {
      packet.fetch_bytes = static_cast<std::uint16_t>(size);
    } else {
      ++counters_.tlb_send_misses;
      ni_.write(size);
    }
    if (use.kind != proto::SourceKind::copy) await_completion(packet, use);
    ni_.post(id, descriptor_lines(use.kind));
    return size;
  }
  void count_when_left(Counter* done) override { posted_.count_when_left(done); }

  // Puts that were counted since the start.
  std::uint64_t ended() const { return posted_.counted(); }

  // --- From the port's progress.
  // A send completion has come; the NI's name for what it is about.
  void completed(std::uint64_t cookie) {
    ni_.charge(Step::reap_completion);
    if (cookie == 0) return;  // a packet's
    Site site{*this};
    tlb().completed(site, posted_.note(cookie));
    posted_.over(cookie);
  }
  // False: it is no page transfer. Else its data are where they belong.
  bool take(NiPacket& packet) {
    if (packet.header.client.kind != fabric::PacketKind::page_transfer) return false;
    const fabric::ClientHeader& header = packet.header.client;
    const PageTarget target = PageTarget::read(header);
    if (packet.notifies) {
      ni_.charge(Step::notified);
      ++noticed_;
    }
    if (packet.redirected) ni_.copy(header.size);
    const bool accepted = memory_.put_came(header.source, target.segment, target.offset,
                                           {packet.payload(), header.size});
    if (packet.redirected) {
      ++counters_.tlb_receive_misses;
      const ExposedPlaces::Segment* const found = exposed_.find(target.segment);
      Site site{*this};
      tlb().redirected(site, target.page(), accepted && found != nullptr && found->open);
    }
    if (target.counter != kNoCounter) memory_.bump_came(header.source, target.counter);
    ni_.release_local(packet.id);
    return true;
  }
  // Notifications since the last call.
  int noticed() { return std::exchange(noticed_, 0); }
  // What the TLB wants besides.
  void settle() {
    if (!leaving_.empty()) drop_leaving();
    if (tlb_ == nullptr) return;
    if (const proto::SourceUse use = tlb_->make_room(); use.kind == proto::SourceKind::drop) {
      drop(use);
    }
  }

 private:
  // More than one sending and one receiving program need; the paper gives no number.
  static constexpr std::uint32_t kPinnedMax = 2 * kTlbEntries;

  struct Source {
    proto::VirtualPage page;
    std::uint64_t offset;
  };

  // The host as the TLB sees it.
  struct Site {
    PageCopies& copies;
    Ps now() { return copies.ni_.now(); }
    void charge(Step step) { copies.ni_.charge(step); }
    proto::Frame pin(proto::VirtualPage page) { return copies.pin(page); }
    void unpin(proto::VirtualPage) { copies.ni_.charge(Step::pin); }
    void write_entry(std::uint32_t slot, const proto::EntryWrite& write) {
      copies.command({slot, write.holds.frame.bytes, write.holds.page, write.handled, 0}, nullptr);
    }
  };

  static std::size_t descriptor_lines(proto::SourceKind kind) {
    // Destination and size; its virtual address; the source's; the new mapping.
    switch (kind) {
      case proto::SourceKind::copy:
        return 2;
      case proto::SourceKind::hit:
        return 3;
      default:
        return 4;
    }
  }
  proto::HostTlb& tlb() {
    if (tlb_ == nullptr) tlb_ = std::make_unique<proto::HostTlb>(kTlbEntries, kPinnedMax);
    return *tlb_;
  }
  // Asks the system (paper section 5.2.3: a small kernel extension).
  proto::Frame pin(proto::VirtualPage page) {
    ni_.charge(Step::pin);
    const ExposedPlaces::Segment* const found = exposed_.find(segment_of(page));
    if (found == nullptr) return {};
    const std::uint64_t begin = number_of(page) * kPageBytes;
    if (begin >= found->size) return {};
    return frame_of(
        page, static_cast<std::uint32_t>(std::min<std::uint64_t>(kPageBytes, found->size - begin)));
  }

  // Where in exposed memory the data lie: the first page of them; nowhere, or not at a word.
  std::optional<Source> source_of(const void* data, std::size_t size) const {
    const std::optional<ExposedPlaces::Place> place = exposed_.place_of(data, size);
    if (!place || place->offset % 4 != 0) return {};
    if (place->offset + size > kSegmentBytesMax) return {};
    const proto::VirtualPage page = page_of(place->segment, place->offset);
    return Source{place->open ? page : page | kPrivatePage, place->offset};
  }

  void take_completions() {
    std::uint64_t cookie = 0;
    while (ni_.reap_completion(&cookie)) completed(cookie);
  }
  void await_completion(NiPacket& packet, const proto::SourceUse& use) {
    packet.wants_report = true;
    packet.cookie = posted_.add(use);
  }

  void drop_leaving() {
    for (std::size_t i = 0; i < leaving_.size();) {
      const proto::VirtualPage page = leaving_[i];
      if (const proto::SourceUse use = tlb_->withdraw(page); use.kind == proto::SourceKind::drop) {
        drop(use);
      }
      if (tlb_->maps(page)) {
        ++i;
      } else {
        leaving_.erase(leaving_.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }
  void drop(const proto::SourceUse& use) { command({use.slot, 0, proto::kNoPage, 0, 1}, &use); }
  // Written into NI memory behind the descriptors that are there.
  void command(const TlbWrite& write, const proto::SourceUse* use) {
    const PacketId id = ni_.alloc_local(sizeof write);
    NiPacket& packet = ni_.packet(id);
    packet.header.client.kind = fabric::PacketKind::tlb_write;
    packet.header.client.size = sizeof write;
    std::memcpy(packet.payload(), &write, sizeof write);
    if (use != nullptr) await_completion(packet, *use);
    ni_.post(id, descriptor_lines(proto::SourceKind::install));
  }

  Ni& ni_;
  RemoteMemory& memory_;
  PageCopyOptions options_;
  PortCounters& counters_;
  std::unique_ptr<proto::HostTlb> tlb_;  // made by the first use
  ExposedPlaces exposed_;
  std::vector<proto::VirtualPage> leaving_;  // of withdrawn segments, still known to the NI
  PartsLeft<proto::SourceUse> posted_;       // those that the NI will report
  int noticed_ = 0;
};

// For a port whose puts are packets.
template <class Ni>
class NoPageCopies {
 public:
  NoPageCopies(Ni& ni, RemoteMemory&, const PageCopyOptions&, PortCounters&) : ni_(ni) {}
  static void exposed(SegId, const void*, const void*, std::uint64_t, ExposedGrant) {}
  static void withdrawn(SegId) {}
  static void regranted(SegId, ExposedGrant) {}
  static void program_ended() {}
  void completed(std::uint64_t) { ni_.charge(Step::reap_completion); }
  template <class Packet>
  static bool take(Packet&) {
    return false;
  }
  static int noticed() { return 0; }
  static std::uint64_t ended() { return 0; }
  static void settle() {}

 private:
  Ni& ni_;
};

}  // namespace fairlead::lci
