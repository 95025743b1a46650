// The host of Fire Link interfaces for a rank that is a process of its own: what FirelinkHost is to
// a fiber, through the rank's gate.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>

#include "fairlead/base/even_nodes.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/model/firelink/firelink_gate.h"
#include "fairlead/fabric/model/gate_client.h"

namespace fairlead::fabric::model {

class RemoteFirelinkHost {
 public:
  // Both outlive it.
  RemoteFirelinkHost(GateClient& gate, const GateMemory& memory);
  RemoteFirelinkHost(const RemoteFirelinkHost&) = delete;
  RemoteFirelinkHost& operator=(const RemoteFirelinkHost&) = delete;

  // Meanings as in FirelinkHost; those marked * hand control over.
  Peer self() const { return gate_.rank(); }
  const FirelinkTerms& terms() const { return terms_; }
  Peer node_of(Rank rank) const { return ranks_.node_of(rank); }
  bool near(Rank peer) const { return node_of(peer) == node_of(gate_.rank()); }
  Ps now() { return gate_.now(); }
  void work(const hw::HostWork& work) {
    const Ps alone = hw::work_time(terms_.host, work);
    const std::uint64_t bytes = ranks_.several() ? hw::moved_bytes(terms_.host, work) : 0;
    if (bytes == 0) return gate_.advance(alone);
    catch_up(FirelinkOp::move, 0, static_cast<std::uint64_t>(alone.count), bytes);
    gate_.time_passes();
  }
  void spend(Ps time) { gate_.advance(time); }
  void sync() { gate_.sync(); }                           // *
  void sleep(Ps deadline, bool news, const char* what) {  // *
    if (!news) return gate_.block(deadline, what);
    gate_.hand_over(FirelinkOp::stay_awake);
  }
  std::uint32_t take() { return gate_.hand_over(FirelinkOp::take).id; }  // *
  void give(std::uint32_t run) { gate_.queue(FirelinkOp::give, run); }
  RunFront& front(std::uint32_t run) { return *reinterpret_cast<RunFront*>(at(run)); }
  std::byte* payload(std::uint32_t run) { return at(run) + sizeof(RunFront); }
  void store(std::uint32_t run) {
    catch_up(FirelinkOp::store, run, 0, 0);
    gate_.time_passes();
  }
  void drain() {
    catch_up(FirelinkOp::drain, 0, 0, 0);
    gate_.time_passes();
  }
  LoadEnd load(std::uint32_t run) {  // *
    stale_ = true;
    return static_cast<LoadEnd>(gate_.hand_over(FirelinkOp::load, run).value);
  }
  void pass_near(std::uint32_t run) { catch_up(FirelinkOp::pass_near, run, 0, 0); }
  bool settled() {  // *
    return gate_.hand_over(FirelinkOp::settled).value != 0 && news_.empty();
  }
  bool next_received(std::uint32_t* run) { return take_first(received_, run); }
  bool next_news(FirelinkNews* news) { return take_first(news_, news); }
  std::uint64_t add_key(std::uint64_t base, std::uint64_t size, bool read, bool write) {  // *
    const std::uint32_t rights = (read ? kFirelinkKeyRead : 0) | (write ? kFirelinkKeyWrite : 0);
    return gate_.hand_over(FirelinkOp::add_key, rights, base, size).value;
  }
  void remove_key(std::uint64_t key) { gate_.queue(FirelinkOp::remove_key, 0, key); }

 private:
  std::byte* at(std::uint32_t run) { return runs_ + run * LineRuns::stride(kRunBytesMax); }
  // A command that lets the machine catch up: what comes in meanwhile is visible after it.
  void catch_up(FirelinkOp op, std::uint32_t id, std::uint64_t a, std::uint64_t b) {
    gate_.queue(op, id, a, b);
    stale_ = true;
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
  std::byte* runs_;
  const FirelinkTerms terms_;
  const EvenNodes ranks_;
  bool stale_ = false;
  std::deque<std::uint32_t> received_;
  std::deque<FirelinkNews> news_;
};

}  // namespace fairlead::fabric::model
