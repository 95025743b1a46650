// The host of an interface for a rank that is a process of its own: what the kind's host is to a
// fiber, through the rank's gate. What all kinds of the rdma family have in common; a kind adds its
// own commands and what its host sees.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

#include "fairlead/base/counters.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/model/gate_client.h"
#include "fairlead/fabric/model/host_times.h"
#include "fairlead/fabric/model/take_first.h"
#include "fairlead/hw/host_cost.h"

namespace fairlead::fabric::model {

// Op: the kind's commands, among them take, give, finish, move, add_key, remove_key and stay_awake;
// Front: what lies before a packet's payload; Terms: what the rank knows of host and interface.
template <class Op, class Front, class Terms>
class RemoteHost {
 public:
  RemoteHost(const RemoteHost&) = delete;
  RemoteHost& operator=(const RemoteHost&) = delete;

  // Meanings as in the kind's host; those marked * hand control over.
  Peer self() const { return gate_.rank(); }
  const Terms& terms() const { return terms_; }
  Ps now() { return gate_.now(); }
  void work(const hw::HostWork& work) {
    const Ps alone = hw::work_time(terms_.host, work);
    const std::uint64_t bytes = shared_bytes(work);
    if (bytes == 0) return spend(alone, HostPart::compute);
    catch_up(Op::move, 0, static_cast<std::uint64_t>(alone.count), bytes);
    gate_.time_passes();
  }
  void spend(Ps time, HostPart part) {
    gate_.advance(time);
    add_time(gate_.slot().tally.host, part, time);
  }
  void sync() { gate_.sync(); }                           // *
  void sleep(Ps deadline, bool news, const char* what) {  // *
    if (!news) return gate_.block(deadline, what);
    gate_.hand_over(Op::stay_awake);
  }
  std::uint32_t take() { return gate_.hand_over(Op::take).id; }  // *
  void give(std::uint32_t packet) { gate_.queue(Op::give, packet); }
  void finish(std::uint32_t packet) { gate_.queue(Op::finish, packet); }
  Front& front(std::uint32_t packet) { return *reinterpret_cast<Front*>(at(packet)); }
  std::byte* payload(std::uint32_t packet) { return at(packet) + sizeof(Front); }
  bool next_received(std::uint32_t* packet) { return take_first(received_, packet); }
  std::uint64_t add_key(std::uint64_t base, std::uint64_t size, bool read, bool write) {  // *
    const std::uint32_t rights = (read ? kGateKeyRead : 0) | (write ? kGateKeyWrite : 0);
    return gate_.hand_over(Op::add_key, rights, base, size).value;
  }
  void remove_key(std::uint64_t key) { gate_.queue(Op::remove_key, 0, key); }

 protected:
  // Packets lie `stride` bytes apart. Both outlive it.
  RemoteHost(GateClient& gate, const GateMemory& memory, const Terms& terms, std::size_t stride)
      : gate_(gate),
        packets_(memory.packets().data()),
        terms_(terms),
        stride_(stride),
        several_(memory.ranks().several()) {}

  // Bytes to or from the memory that ranks of the node share, where they are several.
  std::uint64_t shared_bytes(const hw::HostWork& work) const {
    return several_ ? hw::moved_bytes(terms_.host, work) : 0;
  }
  // A command that lets the machine catch up: what comes in meanwhile is visible after it.
  void catch_up(Op op, std::uint32_t id, std::uint64_t a, std::uint64_t b) {
    gate_.queue(op, id, a, b);
    stale_ = true;
  }
  template <class T>
  bool take_first(std::deque<T>& from, T* to) {
    if (from.empty() && stale_) gate_.hand_over(GateOp::observe);  // *
    return model::take_first(from, to);
  }

  GateClient& gate_;
  std::byte* packets_;
  const Terms terms_;
  std::size_t stride_;
  bool several_;  // ranks share the node's memory
  bool stale_ = false;
  std::deque<std::uint32_t> received_;

 private:
  std::byte* at(std::uint32_t packet) { return packets_ + packet * stride_; }
};

// A rank's library in its own process, with its way to the host: `Nic` on a `Host`, which is made
// of gate and memory.
template <class Host>
struct HostOfRemoteNic {
  HostOfRemoteNic(GateClient& gate, const GateMemory& memory) : host(gate, memory) {}
  Host host;
};
template <class Host, class Nic>
class RemoteNic final : private HostOfRemoteNic<Host>, public Nic {
 public:
  // `more`: what the kind's Nic is told beside host and counters.
  template <class... More>
  RemoteNic(GateClient& gate, const GateMemory& memory, PortCounters& counters, More&&... more)
      : HostOfRemoteNic<Host>(gate, memory),
        Nic(HostOfRemoteNic<Host>::host, counters, std::forward<More>(more)...) {}
};

}  // namespace fairlead::fabric::model
