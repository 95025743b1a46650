// The NI's side of I-rcpy's TLB in the control program (LCI paper section 5.2.3): what descriptors
// say of it, where arrivals go, and those that wait for an anonymous page.
#pragma once
#include <cstdint>
#include <cstring>
#include <memory>

#include "fairlead/fabric/packet.h"
#include "fairlead/lci/ni/page_transfer.h"
#include "fairlead/proto/item_lists.h"
#include "fairlead/proto/translation_cache.h"

namespace fairlead::lci {

template <class Hardware>
class NiPages {
 public:
  using PacketId = std::uint32_t;
  using PacketKind = fabric::PacketKind;

  // `anonymous_pages`: of its host's memory.
  NiPages(Hardware& ni, std::uint32_t anonymous_pages)
      : ni_(ni), anonymous_pages_(anonymous_pages) {}

  // wrong: the host named a page or an entry that the TLB does not have. written: that was all, the
  // packet is gone; call release().
  enum class Said : std::uint8_t { sends, written, wrong };
  // The parts of a descriptor, in order.
  template <class Packet>
  Said descriptor(Packet& packet) {
    const PacketKind kind = packet.header.client.kind;
    if (kind == PacketKind::tlb_write) return write(packet);
    if (kind != PacketKind::page_transfer) return Said::sends;
    const proto::SourceUse use = read_source(packet);
    if (use.kind == proto::SourceKind::copy) return Said::sends;
    // Where the page lies is what the transfer's DMA is given.
    if (use.kind == proto::SourceKind::hit) {
      return tlb().source(ni_, use.holds.page).bytes > 0 ? Said::sends : Said::wrong;
    }
    packet.wants_report = false;
    return change(use, packet.place, packet.cookie) ? Said::sends : Said::wrong;
  }

  // An arrival for the host. True: it waits, because there is no page for it or for one that came
  // before it.
  bool keeps(PacketId id) {
    const PacketKind kind = ni_.packet(id).header.client.kind;
    const bool for_host = kind == PacketKind::data || kind == PacketKind::multicast ||
                          kind == PacketKind::page_transfer;
    if (!for_host || (waiting_.empty() && find_place(id))) return false;
    arrivals_.push(waiting_, id);
    return true;
  }
  // `go` gets those that may go now.
  template <class Go>
  void release(Go&& go) {
    while (!waiting_.empty() && find_place(arrivals_.front(waiting_))) {
      const PacketId id = arrivals_.front(waiting_);
      arrivals_.pop(waiting_);
      go(id);
    }
  }

 private:
  proto::NiTlb& tlb() {
    if (tlb_ == nullptr) tlb_ = std::make_unique<proto::NiTlb>(kTlbEntries, anonymous_pages_);
    return *tlb_;
  }
  // The page of a page transfer, or an anonymous one. False: none is free.
  bool find_place(PacketId id) {
    auto& packet = ni_.packet(id);
    const fabric::ClientHeader& header = packet.header.client;
    if (header.kind != PacketKind::page_transfer) return true;
    if (!packet.redirected) {
      const PageTarget target = PageTarget::read(header);
      const auto begin = static_cast<std::uint32_t>(target.offset % kPageBytes);
      if (tlb().destination(ni_, target.page(), begin + header.size, target.after).bytes > 0) {
        return true;
      }
      packet.redirected = true;
      packet.notifies = true;
    }
    return tlb().take_anonymous();
  }
  template <class Packet>
  Said write(const Packet& packet) {
    TlbWrite to{};
    const bool whole = packet.header.client.size == sizeof to;
    if (whole) std::memcpy(&to, packet.payload(), sizeof to);
    const std::uint64_t cookie = packet.cookie;
    const std::uint32_t place = packet.place;
    ni_.free_packet(packet.id);
    if (!whole || to.slot >= kTlbEntries) return Said::wrong;
    if (to.drops != 0) {
      (void)change({proto::SourceKind::drop, to.slot, {}}, place, cookie);
      return Said::written;
    }
    ni_.charge(Step::ntlb_update);
    // Each arrival that the host is done with leaves an anonymous page.
    tlb().anonymous_free(to.handled - tlb().entry(to.slot).handled);
    tlb().write_entry(to.slot, {{to.page, frame_of(to.page, to.bytes)}, to.handled});
    return Said::written;
  }
  // When the report reaches the host, the DMA engine is done with what it was given before.
  bool change(const proto::SourceUse& use, std::uint32_t place, std::uint64_t cookie) {
    if (use.slot >= kTlbEntries) return false;
    tlb().change(ni_, use);
    ni_.report(place, cookie);
    return true;
  }

  Hardware& ni_;
  std::uint32_t anonymous_pages_;
  std::unique_ptr<proto::NiTlb> tlb_;  // made by the first use
  proto::ItemLists arrivals_;
  proto::ItemList waiting_;  // for an anonymous page or those before them, as they came
};

}  // namespace fairlead::lci
