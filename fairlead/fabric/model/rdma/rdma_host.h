// The host of an RDMA engine, on the rank's task: its clock, which may be ahead of the engine's
// until something is posted or looked at, and its part of the queues.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fairlead/base/ring.h"
#include "fairlead/base/trace.h"
#include "fairlead/fabric/model/host_times.h"
#include "fairlead/fabric/model/node_regions.h"
#include "fairlead/fabric/model/packet_nic.h"
#include "fairlead/fabric/model/rank_clock.h"
#include "fairlead/fabric/model/rdma/rdma_engine.h"
#include "fairlead/fabric/model/take_first.h"
#include "fairlead/hw/event_kinds.h"
#include "fairlead/hw/host_cost.h"
#include "fairlead/hw/host_noise.h"
#include "fairlead/hw/resource.h"
#include "fairlead/sim/critical_path.h"
#include "fairlead/sim/task.h"

namespace fairlead::fabric::model {

class RdmaHost {
 public:
  // Serves one of the ranks of the NI's node. The references outlive it.
  RdmaHost(const RdmaShared& parts, RdmaEngine& ni, Rank rank);
  RdmaHost(const RdmaHost&) = delete;
  RdmaHost& operator=(const RdmaHost&) = delete;

  // As in RankClock.
  void run_on(sim::Task& task) { clock_.run_on(task); }
  void trace(TraceLane lane) { clock_.trace(lane); }
  Rank self() const { return rank_; }
  const RdmaTerms& terms() const { return parts_.terms; }

  RdmaEngine& engine() { return ni_; }
  const EvenNodes& placement() const { return parts_.ranks; }

  // --- Memory that ranks of this node share. Empty: there is none, or the rank is elsewhere.
  std::span<std::byte> region(Rank rank) const {
    return parts_.ranks.node_of(rank) == parts_.ranks.node_of(rank_)
               ? region_of(parts_.regions, rank)
               : std::span<std::byte>{};
  }
  // This rank, which the machine has caught up with, has stored there: that rank, of its node,
  // looks if it waits.
  void show(Rank rank) {
    parts_.engine.at(
        parts_.engine.now(), parts_.ranks.node_of(rank_), hw::kNearEvent,
        [](void* sink, std::uint64_t, std::uint64_t) {
          const auto* const host = static_cast<const RdmaHostSink*>(sink);
          host->changed(host->context);
        },
        const_cast<RdmaHostSink*>(&ni_.host_of(rank)), 0, 0);
  }

  // --- The rank's clock; the handler's from serve() to served(), where that has a processor of its
  // own.
  Ps now() const { return serving_ ? std::max(handler_, parts_.engine.now()) : clock_.now(); }
  void advance(Ps time) {
    const Ps from = now();
    const Ps to = noise_.on() ? noise_.done(from, time) : from + time;
    if (serving_) {
      handler_ = to;
    } else {
      clock_.set(to);
    }
  }
  // The client's work.
  void work(const hw::HostWork& work) {
    const Ps alone = hw::work_time(parts_.terms.host, work);
    move(alone, hw::moved_bytes(parts_.terms.host, work));
  }
  // Work that takes `alone` and moves `bytes` to or from memory, where nobody else uses that.
  void move(Ps alone, std::uint64_t bytes) {
    const Ps time = slowed(alone, bytes);
    advance(time);
    count(HostPart::compute, time);
  }
  // What it takes then.
  Ps slowed(Ps alone, std::uint64_t bytes) {
    if (bytes == 0 || !ni_.shares_memory()) return alone;
    sync();
    return ni_.slowed(rank_, alone, bytes);
  }
  Ps time_of(const hw::HostWork& work) {
    return slowed(hw::work_time(parts_.terms.host, work), hw::moved_bytes(parts_.terms.host, work));
  }
  // The library's work.
  void spend(Ps time, HostPart part) {
    advance(time);
    library_busy_ += time;
    count(part, time);
  }
  bool ahead() const { return !serving_ && clock_.ahead(); }
  // Lets the rest of the machine catch up with it.
  void sync() {
    if (!serving_) clock_.sync();
  }
  Ps library_busy() const { return library_busy_; }
  // Until `deadline` or something new: a packet, a completion, a peer's write. Not at all where
  // `news`, or where something came since it slept last. `what` is shown when the job hangs.
  void sleep(Ps deadline, bool news, const char* what);

  // --- Interrupts (RdmaTerms::interrupts). Their handler is a thread of the rank's program that
  // sleeps until one comes, and takes what else came meanwhile before it sleeps again. On a
  // processor of its own it does not delay the rank's work; who calls the library while it is in
  // there waits until it is not.
  // As much of `time` passes as is over when a packet has been here for `watchdog`, or, with
  // `completions`, when one is; or all of it. Returns how much.
  Ps compute(Ps time, Ps watchdog, bool completions);
  // The handler is called at `asked`, which is not in the future, by an interrupt unless it is at
  // work or not `interrupted`. Returns whether there was one.
  bool serve(Ps asked, bool interrupted);
  // It sleeps. `waits`: the rank was in the library.
  void served(bool waits);
  bool serving() const { return serving_; }
  Ps served_until() const { return served_until_; }
  // The rank calls the library.
  void take_turn() {
    if (!serving_ && served_until_ > now()) clock_.set(served_until_);
  }

  // --- Packets. One is the host's from take() until ring(), and again from next_received() until
  // give().
  std::uint32_t take() {
    const std::uint32_t packet = parts_.packets.take();
    if (parts_.figures != nullptr) [[unlikely]]
      front(packet).taken = now();
    return packet;
  }
  void give(std::uint32_t packet) { parts_.packets.give(packet); }
  // It gives back a packet that it has received.
  void finish(std::uint32_t packet) {
    if (parts_.figures != nullptr) [[unlikely]]
      count_end(*parts_.figures, front(packet).header, rank_, now());
    give(packet);
  }
  RdmaFront& front(std::uint32_t packet) { return parts_.packets.front(packet); }
  std::byte* payload(std::uint32_t packet) { return parts_.packets.payload(packet); }
  // Its entry (front) and payload are written.
  void ring(std::uint32_t packet) {
    if (parts_.figures != nullptr) [[unlikely]]
      front(packet).header = with_begin(front(packet).header, front(packet).taken);
    if (serving_) [[unlikely]]
      return later<&RdmaHost::ring_now>(packet);
    sync();
    ni_.ring(rank_, packet);
  }
  // So many receive buffers for packets of `source` are free again.
  void return_buffers(Peer source, std::uint8_t lane, std::uint32_t count) {
    if (serving_) [[unlikely]]
      return later<&RdmaHost::return_now>(source, std::uint64_t{lane} << 32 | count);
    sync();
    ni_.return_buffers(rank_, source, lane, count);
  }
  // What is visible, oldest first. False: nothing more.
  bool next_received(std::uint32_t* packet) {
    const bool there = take_first(received_, packet);
    if (there) count_received();
    return there;
  }
  bool next_completion(RdmaCompletion* completion) { return take_first(completed_, completion); }

  // --- Memory that peers may name.
  std::uint64_t add_key(std::uint64_t base, std::uint64_t size, bool read, bool write) {
    return ni_.keys(rank_).add(base, size, read, write);
  }
  void remove_key(std::uint64_t key) { ni_.keys(rank_).remove(key); }
  // RdmaEngine's of these names.
  void name_memory(std::uint32_t segment, std::uint64_t base, std::uint64_t size) {
    ni_.name_memory(rank_, segment, base, size);
  }
  void permit(std::uint32_t segment, std::uint32_t permissions, std::uint64_t who) {
    ni_.permit(rank_, segment, permissions, who);
  }
  void forget_memory(std::uint32_t segment) { ni_.forget_memory(rank_, segment); }
  void name_counter(std::uint32_t id, std::uint64_t address) {
    ni_.name_counter(rank_, id, address);
  }
  void place(std::uint64_t base, std::uint64_t size) { ni_.place(rank_, base, size); }

 private:
  void count(HostPart part, Ps time) {
    if (parts_.figures != nullptr) [[unlikely]]
      add_time(parts_.figures->running[rank_], part, time);
  }
  void count_received() {
    if (parts_.figures != nullptr) [[unlikely]] {
      parts_.figures->level(Figures::kReceiveQueue, rank_, parts_.engine.now(),
                            static_cast<std::uint32_t>(received_.size()));
    }
  }
  void count_bus() {
    if (parts_.figures != nullptr) [[unlikely]] {
      parts_.figures->bus(parts_.ranks.node_of(rank_), parts_.engine.now(), ni_.path_busy());
    }
  }
  // At the handler's time, to which the rank's task need not come for it.
  template <void (RdmaHost::*kDo)(std::uint64_t, std::uint64_t)>
  void later(std::uint64_t a, std::uint64_t b = 0) {
    sim::CriticalPath* const path = parts_.engine.path();
    sim::CriticalPath::Path before;
    if (path != nullptr) [[unlikely]] {
      before = path->here();
      path->reach(now(), hw::kHostResource);
    }
    parts_.engine.at(
        now(), parts_.ranks.node_of(rank_), hw::kDoorbellEvent,
        [](void* self, std::uint64_t first, std::uint64_t second) {
          (static_cast<RdmaHost*>(self)->*kDo)(first, second);
        },
        this, a, b);
    if (path != nullptr) [[unlikely]]
      path->was_busy(before, parts_.engine.now(), hw::kHostResource);
  }
  void ring_now(std::uint64_t packet, std::uint64_t) {
    ni_.ring(rank_, static_cast<std::uint32_t>(packet));
  }
  void return_now(std::uint64_t source, std::uint64_t lane_and_count) {
    ni_.return_buffers(rank_, static_cast<Rank>(source),
                       static_cast<std::uint8_t>(lane_and_count >> 32),
                       static_cast<std::uint32_t>(lane_and_count));
  }

  const RdmaShared& parts_;
  RdmaEngine& ni_;
  Rank rank_;
  const hw::HostNoise noise_;
  RankClock clock_;
  Ps library_busy_{};
  bool serving_ = false;
  Ps handler_{};
  Ps served_until_{-1};
  Ring<std::uint32_t> received_;
  Ring<RdmaCompletion> completed_;
};

}  // namespace fairlead::fabric::model
