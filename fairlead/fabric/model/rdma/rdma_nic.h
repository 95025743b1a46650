// The lower waist on an RDMA machine: a rank's library, which writes work queue entries and rings
// doorbells, and looks into completion queues in host memory. It runs on the rank's task, whose
// clock may be ahead of the engine's until something is posted or looked at.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "fairlead/base/ring.h"
#include "fairlead/base/trace.h"
#include "fairlead/fabric/model/rdma/rdma_ni.h"
#include "fairlead/fabric/nic.h"
#include "fairlead/hw/host_cost.h"
#include "fairlead/sim/task.h"

namespace fairlead::fabric::model {

class RdmaNic final : public Nic {
 public:
  // All of them outlive it.
  RdmaNic(const RdmaParts& parts, const hw::HostRates& rates, RdmaNi& ni, PortCounters& counters);
  RdmaNic(const RdmaNic&) = delete;
  RdmaNic& operator=(const RdmaNic&) = delete;

  // The task whose time the calls below take; before the first of them.
  void run_on(sim::Task& task) { task_ = &task; }
  // Of the machine's nodes, from node 0 on, those that have a rank; before its port is made.
  void set_ranks(Rank ranks) { ranks_ = ranks; }
  // What sleep() shows when the job hangs; a string that outlives the wait.
  void set_wait(const char* what) { wait_ = what[0] != '\0' ? what : kWait; }
  // Shows on the host's line when it sleeps.
  void trace(TraceLane lane) { trace_ = lane; }

  // --- The rank's clock.
  Ps now() const { return std::max(local_, parts_.engine.now()); }
  void work(const hw::HostWork& work) { local_ = now() + hw::work_time(rates_, work); }
  // Lets the rest of the machine catch up with it.
  void sync();
  // What the calls took so far, without the client's own work().
  Ps library_busy() const { return library_busy_; }

  // --- Nic.
  Peer self() const override { return ni_.self(); }
  Peer peers() const override { return ranks_; }
  const NicCaps& caps(Peer) const override { return caps_; }
  void attach(Sink sink) override { sink_ = sink; }
  Post post(Peer dest, const PacketHeader& header, std::span<const Piece> payload) override;
  std::byte* buffer(Peer dest, std::size_t size) override;
  Post post_buffer(Peer dest, const PacketHeader& header, std::byte* buffer) override;
  void cancel_buffer(Peer dest, std::byte* buffer) override;
  int reap(int budget, LaneMask lanes) override;
  void release(std::uint64_t token) override;
  void sleep(Ps timeout) override;
  Post read_peer(Peer, std::uint64_t, void*, std::size_t) override { return Post::not_delivered; }
  Post write_peer(Peer, std::uint64_t, const void*, std::size_t) override {
    return Post::not_delivered;
  }
  std::optional<RemoteKey> register_memory(std::span<std::byte> memory, bool read,
                                           bool write) override;
  void forget_memory(const RemoteKey& key) override { ni_.keys().remove(key.key); }
  Post copy_remote(const RemoteCopy& copy) override;
  Post change_remote(const RemoteChange& change) override;
  std::span<std::byte> region(Peer) override { return {}; }
  PortCounters& counters() override { return counters_; }

 private:
  // Of one copy or atomic operation.
  struct Operation {
    std::uint64_t token = 0;
    std::uint64_t* old = nullptr;
  };
  // Of one peer and lane.
  struct Flow {
    std::uint32_t posted = 0;  // and not completed
    std::uint32_t since_signal = 0;
    std::uint32_t freed = 0;  // receive buffers that the NI has not been told of
  };

  void spend(Ps time) {
    local_ = now() + time;
    library_busy_ += time;
  }
  void spend(Cycles cycles) { spend(time_for(cycles, rates_.host_clock)); }
  Post admit(Peer dest, const PacketHeader& header);
  void send(std::uint32_t packet, Peer dest, const PacketHeader& header);
  std::uint32_t take_operation(std::uint64_t token, std::uint64_t* old);
  void post_copy(std::uint32_t packet);
  void deliver(std::uint32_t packet);
  void take_completion(const RdmaCompletion& completion);
  void return_buffer(Peer source, std::uint8_t lane);
  void wake();
  std::vector<Flow>& flows(Peer peer);

  const RdmaParts& parts_;
  const hw::HostRates& rates_;
  RdmaNi& ni_;
  PortCounters& counters_;
  NicCaps caps_;
  Rank ranks_;
  Sink sink_;
  sim::Task* task_ = nullptr;
  TraceLane trace_;
  Ps local_{};
  Ps library_busy_{};
  bool waiting_ = false;
  static constexpr const char* kWait = "a wait for the network";
  const char* wait_ = kWait;
  bool news_ = false;  // something came since it slept last
  std::uint32_t kept_ = 0;
  Ring<std::uint32_t> received_[kLanes];
  Ring<RdmaCompletion> completed_;
  std::vector<std::vector<Flow>> flows_;  // by peer, from the first packet on
  std::vector<Operation> operations_;
  std::vector<std::uint32_t> free_operations_;
  std::unordered_map<const std::byte*, std::uint32_t> buffers_;  // lent
};

}  // namespace fairlead::fabric::model
