// The host's side of I-rcpy (LCI paper section 5.2): carries the bytes of puts in page transfers,
// keeps the host's TLB, and takes what comes that way. Runs in the rank's thread, from its port.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "fairlead/base/counters.h"
#include "fairlead/base/ring.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/lci/memory/remote_memory.h"
#include "fairlead/lci/ni/host_ni.h"
#include "fairlead/lci/ni/page_transfer.h"
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

  // --- What this rank has exposed. `open`: every peer may write it.
  void exposed(SegId segment, const void* base, std::uint64_t size, bool open) {
    const auto address = reinterpret_cast<std::uintptr_t>(base);
    segments_[segment] = {address, size, open};
    by_address_[{address, segment}] = size;
  }
  // The NI forgets its pages as soon as nothing under way needs them; what comes until then is
  // refused by the host.
  void withdrawn(SegId segment) {
    const auto found = segments_.find(segment);
    if (found == segments_.end()) return;
    by_address_.erase({found->second.base, segment});
    segments_.erase(found);
    if (tlb_ == nullptr) return;
    for (std::uint32_t slot = 0; slot < kTlbEntries; ++slot) {
      const proto::HostTlb::Entry& entry = tlb_->entry(slot);
      for (const proto::VirtualPage page : {entry.mapped, entry.coming, entry.wanted}) {
        if (page != proto::kNoPage && segment_of(page) == segment) leaving_.push_back(page);
      }
    }
    drop_leaving();
  }
  void regranted(SegId segment, bool open) {
    const auto found = segments_.find(segment);
    if (found == segments_.end() || found->second.open == open) return;
    const auto [base, size, was_open] = found->second;
    withdrawn(segment);
    exposed(segment, reinterpret_cast<const void*>(base), size, open);
  }

  // --- PutCarrier.
  bool carries(Rank rank, const PutPiece& piece) const override {
    // The engine moves words; and a page's number has 31 bits.
    return rank != options_.self && !is_near(ni_, rank) && piece.size > 0 &&
           piece.offset % 4 == 0 && piece.offset < kSegmentBytesMax &&
           piece.size <= kSegmentBytesMax - piece.offset;
  }
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
  void count_when_left(Counter* done) override {
    if (done == nullptr) return;
    if (posted_.empty()) return count(done);
    posted_.push_back({{}, done, true});
  }

  // Puts that were counted since the start.
  std::uint64_t ended() const { return ended_; }

  // --- From the port's progress.
  // A send completion has come; the NI's name for what it is about.
  void completed(std::uint64_t cookie) {
    ni_.charge(Step::reap_completion);
    if (cookie == 0) return;  // a packet's
    Posted& posted = posted_[cookie - first_];
    posted.over = true;
    Site site{*this};
    tlb().completed(site, posted.use);
    for (; !posted_.empty() && posted_.front().over; ++first_) {
      Counter* done = posted_.front().done;
      posted_.pop_front();
      if (done != nullptr) count(done);
    }
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
      const auto found = segments_.find(target.segment);
      Site site{*this};
      tlb().redirected(site, target.page(),
                       accepted && found != segments_.end() && found->second.open);
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

  struct Segment {
    std::uintptr_t base;
    std::uint64_t size;
    bool open;
  };
  struct Source {
    proto::VirtualPage page;
    std::uint64_t offset;
  };
  // What the NI will report, oldest first, and between them the counters that wait for those
  // before.
  struct Posted {
    proto::SourceUse use;
    Counter* done = nullptr;
    bool over = false;
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
  void count(Counter* done) {
    ++ended_;
    done->ok.fetch_add(1, std::memory_order_relaxed);
  }

  proto::HostTlb& tlb() {
    if (tlb_ == nullptr) tlb_ = std::make_unique<proto::HostTlb>(kTlbEntries, kPinnedMax);
    return *tlb_;
  }
  // Asks the system (paper section 5.2.3: a small kernel extension).
  proto::Frame pin(proto::VirtualPage page) {
    ni_.charge(Step::pin);
    const auto found = segments_.find(segment_of(page));
    if (found == segments_.end()) return {};
    const std::uint64_t begin = number_of(page) * kPageBytes;
    if (begin >= found->second.size) return {};
    return frame_of(page, static_cast<std::uint32_t>(
                              std::min<std::uint64_t>(kPageBytes, found->second.size - begin)));
  }

  // Where in exposed memory the data lie: the first page of them; nowhere, or not at a word.
  std::optional<Source> source_of(const void* data, std::size_t size) const {
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    auto after = by_address_.upper_bound({address, UINT32_MAX});
    if (after == by_address_.begin()) return {};
    const auto& [key, bytes] = *--after;
    const std::uint64_t offset = address - key.first;
    if (offset > bytes || size > bytes - offset || offset % 4 != 0) return {};
    if (offset + size > kSegmentBytesMax) return {};
    const proto::VirtualPage page = page_of(key.second, offset);
    return Source{segments_.find(key.second)->second.open ? page : page | kPrivatePage, offset};
  }

  void take_completions() {
    std::uint64_t cookie = 0;
    while (ni_.reap_completion(&cookie)) completed(cookie);
  }
  void await_completion(NiPacket& packet, const proto::SourceUse& use) {
    packet.wants_report = true;
    packet.cookie = first_ + posted_.size();
    posted_.push_back({use, nullptr, false});
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
  std::map<SegId, Segment> segments_;
  std::map<std::pair<std::uintptr_t, SegId>, std::uint64_t> by_address_;  // -> bytes
  std::vector<proto::VirtualPage> leaving_;  // of withdrawn segments, still known to the NI
  Ring<Posted> posted_;
  std::uint64_t first_ = 1;  // the cookie of posted_.front()
  int noticed_ = 0;
  std::uint64_t ended_ = 0;
};

// For a port whose puts are packets.
template <class Ni>
class NoPageCopies {
 public:
  NoPageCopies(Ni& ni, RemoteMemory&, const PageCopyOptions&, PortCounters&) : ni_(ni) {}
  static void exposed(SegId, const void*, std::uint64_t, bool) {}
  static void withdrawn(SegId) {}
  static void regranted(SegId, bool) {}
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
