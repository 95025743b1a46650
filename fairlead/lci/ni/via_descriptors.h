// What a control program for virtual interfaces does beside moving packets (VIA 1.0; Split-C paper,
// section 2): it reads descriptors from host memory, finds addresses in its TLB, and writes the
// status of what is complete. To the rest of the program (ni_program.h) it is the hardware.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/base/counters.h"
#include "fairlead/base/ring.h"
#include "fairlead/base/step.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/fabric/packet.h"
#include "fairlead/fabric/vi_rdma.h"
#include "fairlead/lci/ni/page_transfer.h"
#include "fairlead/proto/translation_cache.h"

namespace fairlead::lci {

// A rank sends from, and receives into, buffers of a page each that it has registered, in turn.
struct ViaDescriptorOptions {
  std::uint32_t tlb_entries;
  std::uint32_t send_pages;
  std::uint32_t receive_pages;
  std::uint32_t ranks_here;  // of this NI's node
};

// Hardware also has deliver_described(), complete(), read_now() and what via_message_parts.h asks
// of it (fabric/model/lanai/ni_hardware.h).
template <class Hardware>
class ViaDescriptors {
 public:
  using PacketId = std::uint32_t;
  // VIA 1.0: a control segment and two data segments of 16 bytes each, on a boundary of 64.
  static constexpr std::uint16_t kDescriptorBytes = 64;

  // What the NI has read from host memory: for a packet of the Port's, or, of a message of a
  // virtual interface (via_messages.h), a descriptor or a fragment.
  enum class Read : std::uint8_t {
    send_descriptor,
    data,
    receive_descriptor,
    message_descriptor,
    fragment
  };

  ViaDescriptors(Hardware& ni, const ViaDescriptorOptions& options)
      : ni_(ni), options_(options), tlb_(options.tlb_entries, proto::kNoPage) {
    places_.resize(options.ranks_here == 0 ? 1 : options.ranks_here);
    // Registering them writes their entries, as far as there is room.
    const std::uint64_t pages =
        places_.size() * std::uint64_t{options.send_pages + options.receive_pages};
    for (std::uint64_t page = 0; page < pages; ++page) {
      tlb_[proto::tlb_slot(page, options.tlb_entries)] = page;
    }
  }

  // A doorbell says that the rank has posted this send: reads its descriptor.
  void posted(PacketId id) {
    auto& packet = ni_.packet(id);
    read(id, Read::send_descriptor, packet.fetch_bytes);
  }

  // What was asked for first has come. A send descriptor leaves packet.fetch_bytes what its data
  // has; after a receive descriptor the packet is on its way to the host.
  Read fetched(PacketId id) {
    FAIRLEAD_DCHECK(!reads_.empty() && reads_.front().id == id, "NI {}: packet {} out of order",
                    ni_.self(), id);
    const Reading done = reads_.front();
    reads_.pop_front();
    if (done.what == Read::data) return done.what;
    ni_.charge(Step::dma_complete);
    if (done.what == Read::fragment) return done.what;
    if (done.what == Read::message_descriptor) {
      const std::uint32_t bytes = ni_.packet(id).fetch_bytes;
      for (std::uint32_t at = 0; at < bytes; at += kDescriptorBytes) ni_.charge(Step::descriptor);
      return done.what;
    }
    ni_.charge(Step::descriptor);
    auto& packet = ni_.packet(id);
    packet.fetch_bytes = done.data_bytes;
    if (done.what == Read::send_descriptor) {
      translate_source(packet);
    } else {
      translate(next_page(packet.to, places_[packet.to].received, options_.send_pages,
                          options_.receive_pages));
      ni_.charge(Step::status);
      ni_.deliver_described(id);
    }
    return done.what;
  }

  std::uint64_t tlb_misses() const { return misses_; }

  // --- For messages and RDMA (via_messages.h).
  // The next packet of another NI's of that kind that has come; false: there is none.
  bool take_message(PacketId* id) {
    if (messages_.empty()) return false;
    *id = messages_.front();
    messages_.pop_front();
    return true;
  }
  // Reads a descriptor, a further part of one, or a fragment: packet.fetch_bytes from where the
  // packet says (NiHardware::make_scratch).
  void read_for_message(PacketId id, Read what) {
    ni_.charge(Step::dma_program);
    ni_.charge(Step::dma_queue);
    reads_.push_back({id, what, 0});
    ni_.fetch(id);
  }
  // --- For puts of the Port's (via_puts.h), which are RDMA writes on its own virtual interfaces.
  // One has come: to where it belongs in memory that its rank has opened to every peer; what goes
  // elsewhere is the host's to look at.
  void place_put(PacketId id) {
    ni_.charge(Step::descriptor);
    auto& packet = ni_.packet(id);
    const PageTarget target = PageTarget::read(packet.header.client);
    const std::uint32_t bytes = packet.header.client.size;
    const auto* const memory = ni_.vi_table().segment(packet.to, target.segment);
    const bool good = memory != nullptr && memory->writes && target.offset <= memory->bytes &&
                      bytes <= memory->bytes - target.offset;
    if (!good) return hand_over(id);
    packet.cookie = memory->base + target.offset;
    packet.page_bytes = 0;
    translate_registered(*memory, packet.cookie, bytes);
    ni_.charge(Step::dma_program);
    ni_.charge(Step::dma_queue);
    ni_.land_rdma(id);
  }
  // The transfer of a packet to its rank's memory is over. True: it was a put, which is in memory.
  // `handed_over`: it is not, and has gone to the host.
  bool put_landed(PacketId id, bool* handed_over) {
    const auto& packet = ni_.packet(id);
    if (packet.header.client.kind != fabric::PacketKind::page_transfer) return false;
    *handed_over = packet.redirected;
    if (packet.redirected) hand_over(id);
    return true;
  }

  // Pieces of what was read that have gone to the network since the last call.
  std::uint32_t take_left() { return std::exchange(left_, 0); }
  // The pages of registered memory that those bytes of it lie on.
  template <class Memory>
  void translate_registered(const Memory& memory, std::uint64_t address, std::uint32_t bytes) {
    const std::uint64_t last = memory.page_of(address + std::max(bytes, 1U) - 1);
    for (std::uint64_t page = memory.page_of(address); page <= last; ++page) {
      translate(kRegistered + page);
    }
  }

  // --- The hardware of NiProgram.
  Peer self() const { return ni_.self(); }
  Peer node_of(Rank rank) const { return ni_.node_of(rank); }
  Ps now() const { return ni_.now(); }
  void charge(Step step) { ni_.charge(step); }
  auto& packet(PacketId id) { return ni_.packet(id); }
  PortCounters& counters() { return ni_.counters(); }
  void fetch(PacketId id) {
    reads_.push_back({id, Read::data, 0});
    ni_.fetch(id);
  }
  // A packet of the Port's belongs where the next receive descriptor says.
  void deliver(PacketId id) {
    auto& packet = ni_.packet(id);
    switch (op_of(packet)) {
      default:
        // What only a host and its own interface say to each other is a message like any other.
        packet.source = static_cast<std::uint8_t>(fabric::ViOp::none);
        return read(id, Read::receive_descriptor, 0);
      case fabric::ViOp::message:
      case fabric::ViOp::message_write:
      case fabric::ViOp::message_done:
      case fabric::ViOp::read:
      case fabric::ViOp::read_data:
      case fabric::ViOp::broken:
        return messages_.push_back(id);
    }
  }
  void land(PacketId id) { ni_.land(id); }
  // The data of that send have been read: the next status that is written for the rank says so.
  void report(std::uint32_t place, std::uint64_t cookie) {
    places_[place].were_read.push_back(cookie);
  }
  void answer(PacketId id) { ni_.answer(id); }
  void transmit(Peer peer, PacketId id) {
    auto& packet = ni_.packet(id);
    const fabric::ViOp op = op_of(packet);
    if (op == fabric::ViOp::read_data) ++left_;
    const bool is_piece = op == fabric::ViOp::message || op == fabric::ViOp::message_write ||
                          op == fabric::ViOp::read_data;
    if (is_piece && (!is_connected(packet) || is_lost(peer, packet))) nobodys(packet);
    if (packet.header.client.kind != fabric::PacketKind::ack &&
        packet.header.client.kind != fabric::PacketKind::resend) {
      note_sent(peer, packet);
    }
    ni_.transmit(peer, id);
  }
  PacketId image(PacketId id) { return ni_.image(id); }
  void submit_forward(PacketId id, Peer child) { ni_.submit_forward(id, child); }
  // A send is complete: its descriptor says so, and its buffer is the rank's again.
  void send_buffer_free(std::uint32_t place) {
    ni_.send_buffer_free(place);
    ni_.charge(Step::status);
    auto& were_read = places_[place].were_read;
    std::uint64_t cookie = 0;
    if (!were_read.empty()) {
      cookie = were_read.front();
      were_read.pop_front();
    }
    ni_.complete(place, cookie);
  }
  PacketId make_control(fabric::PacketKind kind, Peer peer) { return ni_.make_control(kind, peer); }
  void free_packet(PacketId id) { ni_.free_packet(id); }
  std::uint64_t* find_word(Rank rank, std::uint32_t segment, std::uint64_t offset) {
    return ni_.find_word(rank, segment, offset);
  }

 private:
  struct Reading {
    PacketId id;
    Read what;
    std::uint16_t data_bytes;
  };
  // Numbers of packets that went to a peer.
  struct Sent {
    std::uint32_t newest = 0;
    std::uint32_t last = 0;
    bool any = false;
  };
  struct Place {
    std::uint32_t sent = 0;
    std::uint32_t received = 0;
    Ring<std::uint64_t> were_read;  // cookies of sends whose data were, as no status has said yet
  };

  // Numbers of pages of registered memory are above all others.
  static constexpr proto::VirtualPage kRegistered = proto::VirtualPage{1} << 33;

  template <class Packet>
  static fabric::ViOp op_of(const Packet& packet) {
    const bool known = packet.header.client.kind == fabric::PacketKind::data &&
                       packet.source <= static_cast<std::uint8_t>(fabric::ViOp::broken);
    return known ? static_cast<fabric::ViOp>(packet.source) : fabric::ViOp::none;
  }

  // A piece of a message whose connection goes on at this end, which header.job names.
  template <class Packet>
  bool is_connected(const Packet& packet) {
    const std::uint32_t name = packet.header.job;
    auto* const end = ni_.vi_table().end(name & 0xffff);
    return end != nullptr && end->is(packet.place, static_cast<std::uint8_t>(name >> 16));
  }
  // A flow sends it again, as it was lost or its acknowledgment was: the first one of those that
  // it sends again together, which the receiver, if it has not got it, waits for. Unreliable
  // virtual interfaces lose it.
  template <class Packet>
  bool is_lost(Peer peer, const Packet& packet) {
    if (peer >= sent_.size()) return false;
    const Sent& sent = sent_[peer];
    const std::uint32_t sequence = packet.header.sequence;
    const bool again = static_cast<std::int32_t>(sequence - sent.newest) <= 0;
    auto* const end = ni_.vi_table().end(packet.header.job & 0xffff);
    return sent.any && again && sequence != sent.last + 1 && end != nullptr &&
           end->place == packet.place && !end->breaks;
  }
  template <class Packet>
  void note_sent(Peer peer, const Packet& packet) {
    if (peer >= sent_.size()) sent_.resize(peer + 1);
    Sent& sent = sent_[peer];
    sent.last = packet.header.sequence;
    if (!sent.any || static_cast<std::int32_t>(sent.last - sent.newest) > 0) {
      sent.newest = sent.last;
    }
    sent.any = true;
  }
  // Its host has flushed the send, and may have changed the data before they were read. It has its
  // number, and is for no virtual interface.
  template <class Packet>
  static void nobodys(Packet& packet) {
    packet.header.client.size = 0;
    packet.header.client.words[0] = 0xffff;
  }

  void hand_over(PacketId id) {
    auto& packet = ni_.packet(id);
    packet.redirected = true;
    packet.source = static_cast<std::uint8_t>(fabric::ViOp::none);
    packet.page_bytes = 0;
    read(id, Read::receive_descriptor, 0);
  }
  void read(PacketId id, Read what, std::uint16_t data_bytes) {
    ni_.charge(Step::dma_program);
    ni_.charge(Step::dma_queue);
    reads_.push_back({id, what, data_bytes});
    ni_.packet(id).fetch_bytes = kDescriptorBytes;
    ni_.fetch(id);
  }

  // The pages that a send's data lie on: of registered memory, where a put names some, else one of
  // the rank's buffers.
  template <class Packet>
  void translate_source(const Packet& packet) {
    if (packet.header.client.kind == fabric::PacketKind::page_transfer) {
      const PutSource source = PutSource::read(packet);
      const auto* const memory =
          source.exposed ? ni_.vi_table().segment(packet.place, source.segment) : nullptr;
      if (memory != nullptr && source.offset <= memory->bytes &&
          packet.fetch_bytes <= memory->bytes - source.offset) {
        return translate_registered(*memory, memory->base + source.offset, packet.fetch_bytes);
      }
    }
    translate(next_page(packet.place, places_[packet.place].sent, 0, options_.send_pages));
  }
  // Pages of the ranks of a node lie behind each other.
  proto::VirtualPage next_page(std::uint32_t place, std::uint32_t& turn, std::uint32_t first,
                               std::uint32_t pages) {
    const std::uint32_t at = turn;
    turn = turn + 1 == pages ? 0 : turn + 1;
    return std::uint64_t{place} * (options_.send_pages + options_.receive_pages) + first + at;
  }

  // The program waits for an entry that is not there: what comes next may need it.
  void translate(proto::VirtualPage page) {
    ni_.charge(Step::ntlb_lookup);
    proto::VirtualPage& entry = tlb_[proto::tlb_slot(page, options_.tlb_entries)];
    if (entry == page) return;
    ++misses_;
    entry = page;
    ni_.charge(Step::dma_program);
    ni_.read_now();
    ni_.charge(Step::ntlb_update);
  }

  Hardware& ni_;
  const ViaDescriptorOptions options_;
  Ring<Reading> reads_;  // the host DMA engine works first in, first out
  std::vector<proto::VirtualPage> tlb_;
  std::vector<Place> places_;
  std::vector<Sent> sent_;  // by peer, as they were met
  std::uint64_t misses_ = 0;
  Ring<PacketId> messages_;
  std::uint32_t left_ = 0;
};

}  // namespace fairlead::lci
