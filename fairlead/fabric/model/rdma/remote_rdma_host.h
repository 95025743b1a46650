// The host of an RDMA engine for a rank that is a process of its own: what RdmaHost is to a fiber,
// through the rank's gate.
#pragma once
#include <cstdint>
#include <deque>
#include <span>

#include "fairlead/base/even_nodes.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/model/node_regions.h"
#include "fairlead/fabric/model/rdma/rdma_gate.h"
#include "fairlead/fabric/model/remote_host.h"

namespace fairlead::fabric::model {

class RemoteRdmaHost : public RemoteHost<RdmaOp, RdmaFront, RdmaTerms> {
 public:
  // Both outlive it.
  RemoteRdmaHost(GateClient& gate, const GateMemory& memory);

  // Meanings as in RdmaHost; those marked * hand control over.
  Ps time_of(const hw::HostWork& work) {  // *
    const Ps alone = hw::work_time(terms_.host, work);
    const std::uint64_t bytes = shared_bytes(work);
    return bytes == 0 ? alone : answered(RdmaOp::slowed, 0, alone, bytes);
  }
  Ps compute(Ps time, Ps watchdog, bool completions);  // *
  bool serve(Ps asked, bool interrupted) {             // *
    return answered(RdmaOp::serve, interrupted ? 1 : 0, asked, 0) != Ps{0};
  }
  void served(bool waits) {  // *
    served_until_ = answered(RdmaOp::served, waits ? 1 : 0, Ps{0}, 0);
  }
  void take_turn() {
    if (terms_.handler_beside && served_until_ > now()) gate_.advance(served_until_ - now());
  }
  void ring(std::uint32_t packet) { catch_up(RdmaOp::ring, packet, 0, 0); }
  void return_buffers(Peer source, std::uint8_t lane, std::uint32_t count) {
    catch_up(RdmaOp::return_buffers, source, lane, count);
  }
  bool next_completion(RdmaCompletion* completion) { return take_first(completed_, completion); }
  std::span<std::byte> region(Rank rank) const {
    return ranks_.node_of(rank) == ranks_.node_of(gate_.rank()) ? region_of(regions_, rank)
                                                                : std::span<std::byte>{};
  }
  void show(Rank rank) { catch_up(RdmaOp::show, rank, 0, 0); }
  const EvenNodes& placement() const { return ranks_; }
  void name_memory(std::uint32_t segment, std::uint64_t base, std::uint64_t size) {
    gate_.queue(RdmaOp::name_memory, segment, base, size);
  }
  void permit(std::uint32_t segment, std::uint32_t permissions, std::uint64_t who) {
    gate_.queue(RdmaOp::permit, segment, permissions, who);
  }
  void forget_memory(std::uint32_t segment) { gate_.queue(RdmaOp::forget_memory, segment); }
  void name_counter(std::uint32_t id, std::uint64_t address) {
    gate_.queue(RdmaOp::name_counter, id, address);
  }
  void place(std::uint64_t base, std::uint64_t size) { gate_.queue(RdmaOp::place, 0, base, size); }

 private:
  Ps answered(RdmaOp op, std::uint32_t id, Ps a, std::uint64_t b) {  // *
    const GateAnswer& answer = gate_.hand_over(op, id, static_cast<std::uint64_t>(a.count), b);
    return Ps{static_cast<std::int64_t>(answer.value)};
  }
  void take_visible();

  const EvenNodes ranks_;
  const std::span<std::byte> regions_;
  Ps served_until_{-1};
  std::deque<RdmaCompletion> completed_;
};

}  // namespace fairlead::fabric::model
