// The host of an RDMA engine for a rank that is a process of its own: what RdmaHost is to a fiber,
// through the rank's gate.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>

#include "fairlead/base/units.h"
#include "fairlead/fabric/model/gate_client.h"
#include "fairlead/fabric/model/rdma/rdma_gate.h"

namespace fairlead::fabric::model {

class RemoteRdmaHost {
 public:
  // Both outlive it.
  RemoteRdmaHost(GateClient& gate, const GateMemory& memory);
  RemoteRdmaHost(const RemoteRdmaHost&) = delete;
  RemoteRdmaHost& operator=(const RemoteRdmaHost&) = delete;

  // Meanings as in RdmaHost; those marked * hand control over.
  Peer self() const { return gate_.rank(); }
  const RdmaTerms& terms() const { return terms_; }
  Ps now() { return gate_.now(); }
  void work(const hw::HostWork& work) {
    const Ps alone = hw::work_time(terms_.host, work);
    const std::uint64_t bytes = several_ ? hw::moved_bytes(terms_.host, work) : 0;
    if (bytes == 0) return gate_.advance(alone);
    catch_up(RdmaOp::move, 0, static_cast<std::uint64_t>(alone.count), bytes);
    gate_.time_passes();
  }
  void spend(Ps time) { gate_.advance(time); }
  void sync() { gate_.sync(); }                           // *
  void sleep(Ps deadline, bool news, const char* what) {  // *
    if (!news) return gate_.block(deadline, what);
    gate_.hand_over(RdmaOp::stay_awake);
  }
  Ps time_of(const hw::HostWork& work) {  // *
    const Ps alone = hw::work_time(terms_.host, work);
    const std::uint64_t bytes = several_ ? hw::moved_bytes(terms_.host, work) : 0;
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
  std::uint32_t take() { return gate_.hand_over(RdmaOp::take).id; }  // *
  void give(std::uint32_t packet) { gate_.queue(RdmaOp::give, packet); }
  RdmaFront& front(std::uint32_t packet) { return *reinterpret_cast<RdmaFront*>(at(packet)); }
  std::byte* payload(std::uint32_t packet) { return at(packet) + sizeof(RdmaFront); }
  void ring(std::uint32_t packet) { catch_up(RdmaOp::ring, packet, 0, 0); }
  void return_buffers(Peer source, std::uint8_t lane, std::uint32_t count) {
    catch_up(RdmaOp::return_buffers, source, lane, count);
  }
  bool next_received(std::uint32_t* packet) { return take_first(received_, packet); }
  bool next_completion(RdmaCompletion* completion) { return take_first(completed_, completion); }
  std::uint64_t add_key(std::uint64_t base, std::uint64_t size, bool read, bool write) {  // *
    const std::uint32_t rights = (read ? kRdmaKeyRead : 0) | (write ? kRdmaKeyWrite : 0);
    return gate_.hand_over(RdmaOp::add_key, rights, base, size).value;
  }
  void remove_key(std::uint64_t key) { gate_.queue(RdmaOp::remove_key, 0, key); }
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
  std::byte* at(std::uint32_t packet) { return packets_ + packet * stride_; }
  // A command that lets the machine catch up: what comes in meanwhile is visible after it.
  void catch_up(RdmaOp op, std::uint32_t id, std::uint64_t a, std::uint64_t b) {
    gate_.queue(op, id, a, b);
    stale_ = true;
  }
  Ps answered(RdmaOp op, std::uint32_t id, Ps a, std::uint64_t b) {  // *
    const GateAnswer& answer = gate_.hand_over(op, id, static_cast<std::uint64_t>(a.count), b);
    return Ps{static_cast<std::int64_t>(answer.value)};
  }
  template <class T>
  bool take_first(std::deque<T>& from, T* to) {
    if (from.empty() && stale_) gate_.hand_over(GateOp::observe);  // *
    if (from.empty()) return false;
    *to = from.front();
    from.pop_front();
    return true;
  }
  void take_visible();

  GateClient& gate_;
  std::byte* packets_;
  const RdmaTerms terms_;
  std::size_t stride_;
  bool several_;  // ranks share the node's memory
  bool stale_ = false;
  Ps served_until_{-1};
  std::deque<std::uint32_t> received_;
  std::deque<RdmaCompletion> completed_;
};

}  // namespace fairlead::fabric::model
