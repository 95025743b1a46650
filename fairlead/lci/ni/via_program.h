// A control program for virtual interfaces, beside NiProgram on the same hardware (VIA 1.0; Split-C
// paper, section 6.1): it looks at the doorbells of its virtual interfaces in turn and handles
// network traffic in between. What a send waits for its doorbell is no constant: it is the looks at
// the other doorbells before it, and the work that comes between.
//
//   doorbell found -> descriptor read by DMA -> addresses found in the TLB -> data read by DMA
//   -> sent -> status written
//   packet received -> receive descriptor read -> addresses found -> data, status and
//   completion queue entry written
//   RDMA received -> looked up, data written or read by DMA, and answered
// The packets of the Port go so, each by a descriptor of its own, its puts as RDMA writes, whose
// order among the packets is that of their descriptors, and the messages that programs
// send by virtual interfaces of their own, and their RDMA, by the descriptors that they have posted
// (via_messages.h).
//
// Between NIs a flow of proto/flow.h, so that nothing is lost: reliable delivery. Where the network
// loses packets that flow sends them again (GoBackN), but those of unreliable virtual interfaces
// (via_descriptors.h).
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "fairlead/base/step.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/fabric/vi_rdma.h"
#include "fairlead/lci/ni/doorbell_scan.h"
#include "fairlead/lci/ni/ni_program.h"
#include "fairlead/lci/ni/via_descriptors.h"
#include "fairlead/lci/ni/via_messages.h"

namespace fairlead::lci {

// Every entry but rung() is a turn of the NI's processor; each begins with what is left of its
// looks, and serves the doorbell that they find.
template <class Hardware, class Flow>
class ViaProgram {
 public:
  using PacketId = std::uint32_t;
  static constexpr bool kRetransmits = Flow::kRetransmits;

  // `ni` outlives it. Of `options`: fetches is true, forwards and translates are false.
  ViaProgram(Hardware& ni, Flow flow, const NiProgramOptions& options,
             const ViaDescriptorOptions& descriptors)
      : ni_(ni),
        options_(options),
        scan_(ni.time_of(Step::doorbell)),
        descriptors_(ni, descriptors),
        packets_(descriptors_, std::move(flow), options),
        messages_(ni, descriptors_, packets_) {}

  // At `at`, which may be in a turn, a host has written this send into the doorbell packet.operand.
  void rung(PacketId id, Ps at) {
    const auto& packet = ni_.packet(id);
    const auto number = static_cast<std::uint32_t>(packet.operand);
    if (!ni_.doorbells().has(number) || ni_.doorbells().place_of(number) != packet.place) {
      return options_.violated(options_.context, ni_.self(), ni_.self(),
                               "its host rang a doorbell that it does not have");
    }
    grow();
    tokens_[number] = id;
    scan_.rang(number, at);
    ni_.look_at(scan_.due());
  }

  void on_look() {
    turn([] {});
  }
  void on_fetched(PacketId id) {
    turn([&] {
      switch (descriptors_.fetched(id)) {
        case Descriptors::Read::send_descriptor:
          return packets_.on_descriptor(id);
        case Descriptors::Read::data:
          return packets_.on_fetched(id);
        case Descriptors::Read::receive_descriptor:
          return;
        case Descriptors::Read::message_descriptor:
          return messages_.on_descriptor(id);
        case Descriptors::Read::fragment:
          return messages_.on_fragment(id);
      }
    });
  }
  void on_transmitted(PacketId origin, std::uint32_t place) {
    turn([&] {
      if (origin != fabric::kNoPacket && messages_.on_transmitted(origin)) return;
      packets_.on_transmitted(origin, place);
    });
  }
  void on_received(PacketId id) {
    turn([&] { packets_.on_received(id); });
  }
  void on_delivered(PacketId origin, Peer peer) {
    turn([&] { packets_.on_delivered(origin, peer); });
  }
  // The data of an RDMA write, of a message or of a put has gone to its rank's memory.
  void on_landed(PacketId id, Peer peer) {
    turn([&] {
      bool handed_over = false;
      if (!descriptors_.put_landed(id, &handed_over)) return messages_.on_landed(id);
      if (handed_over) return;
      ni_.free_packet(id);
      packets_.on_landed(fabric::kNoPacket, peer);
    });
  }
  void on_corrupt(PacketId id) {
    turn([&] { packets_.on_corrupt(id); });
  }
  void on_timer() {
    turn([&] { packets_.on_timer(); });
  }
  // The host DMA engine wants to be started.
  void on_hardware() {
    turn([&] { ni_.start_dma(); });
  }
  // Something of another job's: the hardware's, in a turn like any other.
  template <class Work>
  void on_other(const Work& work) {
    turn([&] { ni_.other_turn(work); });
  }

  Ps next_due() const { return packets_.next_due(); }
  void prepare(Peer peer) const { packets_.prepare(peer); }
  void prepare_due() const { packets_.prepare_due(); }
  std::uint64_t tlb_misses() const { return descriptors_.tlb_misses(); }

 private:
  using Descriptors = ViaDescriptors<Hardware>;

  template <class Work>
  void turn(Work&& work) {
    grow();
    const DoorbellScan::Look look = scan_.turn(ni_.now());
    ni_.busy_until(look.until);
    if (look.found != DoorbellScan::kNone) serve(look.found);
    work();
    messages_.go_on();
    scan_.resume(ni_.now());
    ni_.look_at(scan_.due());
  }
  void serve(std::uint32_t number) {
    ni_.take_doorbell(number);
    const PacketId token = tokens_[number];
    const bool is_described =
        ni_.packet(token).source == static_cast<std::uint8_t>(fabric::ViOp::send_token);
    is_described ? messages_.posted(token) : descriptors_.posted(token);
  }
  // Hosts have made further virtual interfaces.
  void grow() {
    if (scan_.count() == ni_.doorbells().count()) return;
    scan_.grow(ni_.doorbells().count());
    tokens_.resize(scan_.count());
  }

  Hardware& ni_;
  const NiProgramOptions options_;
  DoorbellScan scan_;
  std::vector<PacketId> tokens_;  // what was written into each doorbell
  Descriptors descriptors_;
  NiProgram<Descriptors, Flow> packets_;
  ViaMessages<Hardware, NiProgram<Descriptors, Flow>> messages_;
};

}  // namespace fairlead::lci
