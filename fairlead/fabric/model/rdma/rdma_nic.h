// The lower waist on an RDMA machine: a rank's library, which writes work queue entries and rings
// doorbells, and looks into completion queues in host memory. One text for both bodies of a rank:
// `Host` is RdmaHost, or RemoteRdmaHost where the rank is a process of its own.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "fairlead/base/even_nodes.h"
#include "fairlead/fabric/model/node_regions.h"
#include "fairlead/fabric/model/packet_nic.h"
#include "fairlead/fabric/model/rdma/rdma_packet.h"
#include "fairlead/fabric/model/rdma/rdma_terms.h"
#include "fairlead/fabric/network_reduction.h"
#include "fairlead/hw/host_cost.h"
#include "fairlead/proto/peer_table.h"

namespace fairlead::fabric::model {

template <class Host>
class RdmaNic : public PacketNic<Host>, public ReducingNic {
 public:
  // Both outlive it.
  RdmaNic(Host& host, PortCounters& counters);

  // --- ModelNic.
  bool interrupts() const override { return host_.terms().interrupts; }
  bool atomics_are_apart() const override { return host_.terms().two_atomics; }
  Ps default_watchdog() const override { return host_.terms().host.watchdog; }
  void wake(Ps watchdog) override { watchdog_ = watchdog; }
  Ps time_of(const hw::HostWork& work) override { return host_.time_of(work); }
  Ps compute(Ps time, bool completions) override {
    return host_.compute(time, watchdog_, completions);
  }
  void serve(bool interrupted) override { begin_serving(host_.now(), interrupted); }
  void allocates(std::uint64_t bytes) override { shares_ = bytes <= kRegionMemoryBytes; }
  bool shows() const override { return shares_; }
  void catch_up() override { host_.sync(); }
  void show(Rank rank) override { host_.show(rank); }
  void served() override { end_serving(false); }

  // --- Nic.
  const NicCaps& caps(Peer) const override { return caps_; }
  bool has_one_path() const override { return true; }
  std::span<std::byte> region(Peer peer) override {
    return shares_ ? host_.region(peer) : std::span<std::byte>{};
  }
  int reap(int budget, LaneMask lanes) override;
  void sleep(Ps timeout) override;
  Post copy_remote(const RemoteCopy& copy) override;
  Post change_remote(const RemoteChange& change) override;
  NetworkReductions* network_reductions(ReduceWhere where) override {
    Reducer& there = where == ReduceWhere::switches ? in_switches_ : in_interfaces_;
    return there.packet_bytes() > 0 ? &there : nullptr;
  }

 protected:
  using PacketNic<Host>::host_;
  using PacketNic<Host>::counters_;
  using PacketNic<Host>::ranks_;
  using PacketNic<Host>::sink_;
  using PacketNic<Host>::copied;

  // One copy or atomic operation under way.
  struct Operation {
    std::uint64_t token = 0;
    std::uint64_t* old = nullptr;
    bool loops = false;  // `change` by compare-and-swaps, the last of which expected `expected`
    std::uint64_t expected = 0;
    RemoteChange change{};
    Counter* reduced = nullptr;  // of a reduction, which has no token
  };
  // What is kept for each peer and lane.
  struct Flow {
    std::uint32_t posted = 0;  // and not completed
    std::uint32_t since_signal = 0;
    std::uint32_t freed = 0;  // receive buffers that the NI has not been told of
  };

  Post admit(Peer dest, const PacketHeader& header) override;
  void send(std::uint32_t packet, Peer dest, const PacketHeader& header) override;
  // To where the NI fetches it from; what is small goes with its entry.
  void gathered(const PacketHeader& header) override {
    if (header.client.size <= caps_.inline_bytes_max) return;
    host_.spend(hw::work_time(host_.terms().host, {0, 0, 0, header.client.size}), HostPart::send);
  }
  void receive(std::uint32_t packet) override;
  std::uint32_t take_operation(std::uint64_t token, std::uint64_t* old);
  RdmaEntry& copy_entry(std::uint32_t packet, RdmaKind kind, Peer dest, std::uint64_t token,
                        std::uint64_t* old);
  // `payload`: so many bytes go with the entry.
  void post_copy(std::uint32_t packet, std::uint64_t payload = 0);
  void post_change(std::uint32_t packet, const RemoteChange& change);
  bool goes_round(std::uint32_t operation, std::uint64_t found);
  bool has_operation() const {
    return !free_operations_.empty() || operations_.size() < host_.terms().copies;
  }
  // One whose lane is kTportLane.
  virtual void tport_completed(std::uint32_t /*request*/) {}
  // What woke the host was found by a look, which takes its time; the next one, if at once, is the
  // same look.
  void look() {
    host_.spend(host_.terms().poll, HostPart::poll);
    looked_at_ = host_.now();
  }

 private:
  // Reductions that those combine.
  class Reducer final : public NetworkReductions {
   public:
    Reducer(RdmaNic& nic, ReduceWhere where) : nic_(nic), where_(where) {}
    std::uint32_t packet_bytes() const {
      const RdmaTerms& terms = nic_.host_.terms();
      return where_ == ReduceWhere::switches ? terms.reduction_bytes
                                             : terms.interface_reduction_bytes;
    }

    std::uint32_t apart() const override { return nic_.host_.placement().each; }
    bool reaches(Peer first, std::uint32_t count) const override {
      const EvenNodes& placed = nic_.host_.placement();
      const auto leads = [&](Rank rank) { return placed.place_of(rank) == 0; };
      if (count < 2 || first >= nic_.ranks_ || !leads(first) || !leads(nic_.self())) return false;
      const Peer from = placed.node_of(first);
      const Peer own = placed.node_of(nic_.self());
      return count <= placed.count() - from && placed.count() <= kReductionRanksMax &&
             own >= from && own - from < count;
    }
    // An interface's thread processor has no unit for floating-point numbers.
    bool combines(ReduceOp op, ReduceType type) const override {
      return is_defined(op, type) && (where_ == ReduceWhere::switches || !is_floating(type));
    }
    std::size_t bytes_max() const override {
      return std::size_t{packet_bytes()} * (kReductionPartsMax - 1);
    }
    Post reduce(const NetworkReduction& reduction, Counter* done) override;

   private:
    RdmaNic& nic_;
    ReduceWhere where_;
    std::map<std::pair<Peer, std::uint32_t>, std::uint64_t> begun_;  // of those ranks
  };

  void begin_serving(Ps asked, bool interrupted);
  void end_serving(bool waits);
  // Before the rank itself, not what serves it, looks or posts.
  void take_turn() {
    if (watchdog_ != kNever && !serving_) host_.take_turn();
  }
  void take_completion(const RdmaCompletion& completion);
  void return_buffer(Peer source, std::uint8_t lane);
  using Flows = std::array<Flow, kLanes>;
  Flows& flows(Peer peer) { return flows_.of(peer); }

  NicCaps caps_;
  bool shares_ = true;  // memory, with ranks of its node
  bool news_ = false;   // room was found since it slept last
  Ps looked_at_ = kNever;
  Ps watchdog_ = kNever;  // kNever: nothing interrupts the rank
  bool serving_ = false;
  proto::PeerTable<Flows> flows_;
  std::vector<Operation> operations_;  // as many as there were at once
  std::vector<std::uint32_t> free_operations_;
  Reducer in_switches_{*this, ReduceWhere::switches};
  Reducer in_interfaces_{*this, ReduceWhere::interfaces};
};

}  // namespace fairlead::fabric::model
