// The host of Fire Link interfaces, on the rank's task: its clock, which may be ahead of the
// engine's until something is stored or looked at, and its processor's stores and loads.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/base/ring.h"
#include "fairlead/base/trace.h"
#include "fairlead/fabric/model/firelink/firelink_terms.h"
#include "fairlead/fabric/model/firelink/line_network.h"
#include "fairlead/fabric/model/firelink/line_run.h"
#include "fairlead/fabric/model/host_times.h"
#include "fairlead/fabric/model/node_regions.h"
#include "fairlead/fabric/model/packet_nic.h"
#include "fairlead/fabric/model/rank_clock.h"
#include "fairlead/fabric/model/take_first.h"
#include "fairlead/sim/task.h"

namespace fairlead::fabric::model {

class FirelinkHost {
 public:
  // Serves one rank. The references outlive it.
  FirelinkHost(const FirelinkParts& parts, const FirelinkTerms& terms, LineNetwork& network,
               Rank rank);
  FirelinkHost(const FirelinkHost&) = delete;
  FirelinkHost& operator=(const FirelinkHost&) = delete;

  // As in RankClock.
  void run_on(sim::Task& task) { clock_.run_on(task); }
  void trace(TraceLane lane) { clock_.trace(lane); }
  Rank self() const { return rank_; }
  const FirelinkTerms& terms() const { return terms_; }
  Peer node_of(Rank rank) const { return parts_.ranks.node_of(rank); }
  bool near(Rank peer) const { return node_of(peer) == node_of(rank_); }
  std::span<std::byte> region(Rank peer) const { return region_of(parts_.regions, peer); }

  // --- The rank's clock.
  Ps now() const { return clock_.now(); }
  void advance(Ps time) { clock_.set(now() + time); }
  // The client's work.
  void work(const hw::HostWork& work) {
    move(hw::work_time(terms_.host, work), hw::moved_bytes(terms_.host, work));
  }
  // Work that takes `alone` and moves `bytes` to or from memory, where nobody else uses that.
  void move(Ps alone, std::uint64_t bytes) {
    Ps time = alone;
    if (bytes > 0 && network_.shares_memory()) {
      sync();
      time = network_.slowed(rank_, alone, bytes);
    }
    advance(time);
    count(HostPart::compute, time);
  }
  // The library's work.
  void spend(Ps time, HostPart part) {
    advance(time);
    library_busy_ += time;
    count(part, time);
  }
  bool ahead() const { return clock_.ahead(); }
  // Lets the rest of the machine catch up with it.
  void sync() { clock_.sync(); }
  Ps library_busy() const { return library_busy_; }
  // Until `deadline` or something new: a packet, news, a peer's write. Not at all where `news`, or
  // where something came since it slept last. `what` is shown when the job hangs.
  void sleep(Ps deadline, bool news, const char* what) {
    sync();
    const Ps from = now();
    clock_.sleep(deadline, news, what);
    count(HostPart::wait, now() - from);
  }

  // --- Runs of lines. One is the library's from take() until it is stored or passed, again when
  // news say that it was lost, and from next_received() until give().
  std::uint32_t take() {
    const std::uint32_t run = parts_.runs.take();
    if (parts_.figures != nullptr) [[unlikely]]
      front(run).taken = now();
    return run;
  }
  void give(std::uint32_t run) { parts_.runs.give(run); }
  // It gives back a packet that it has received.
  void finish(std::uint32_t run) {
    if (parts_.figures != nullptr) [[unlikely]]
      count_end(*parts_.figures, front(run).header, rank_, now());
    give(run);
  }
  RunFront& front(std::uint32_t run) { return parts_.runs.front(run); }
  std::byte* payload(std::uint32_t run) { return parts_.runs.payload(run); }
  // Its front and payload are written. The processor stores its lines, one after the other, and
  // waits before where as many as it may are not completed.
  void store(std::uint32_t run);
  // Waits until all that it stored is completed, or lost.
  void drain();
  // The processor loads one line and waits for it, which is then the payload; the run is the
  // library's again.
  LoadEnd load(std::uint32_t run);
  // A packet to a rank of this node, or its room: one line after another of its rings, which the
  // library has written.
  void pass_near(std::uint32_t run) {
    note_begin(run);
    sync();
    network_.pass_near(rank_, run, parts_.plane.near_line);
  }
  // All that it stored is known to be there, and no news says that something was lost.
  bool settled() const { return completed() && news_.empty(); }
  // What is visible, oldest first. False: nothing more.
  bool next_received(std::uint32_t* run) {
    const bool there = take_first(received_, run);
    if (there) count_received();
    return there;
  }
  bool next_news(FirelinkNews* news) { return take_first(news_, news); }

  // --- Memory that peers may name.
  std::uint64_t add_key(std::uint64_t base, std::uint64_t size, bool read, bool write) {
    return network_.keys(rank_).add(base, size, read, write);
  }
  void remove_key(std::uint64_t key) { network_.keys(rank_).remove(key); }

 private:
  bool completed() const { return network_.lines_ahead(rank_) == 0; }
  void stall_until(bool FirelinkHost::*flag, const char* what);
  void note_begin(std::uint32_t run) {
    if (parts_.figures != nullptr) [[unlikely]]
      front(run).header = with_begin(front(run).header, front(run).taken);
  }
  void count(HostPart part, Ps time) {
    if (parts_.figures != nullptr) [[unlikely]]
      add_time(parts_.figures->running[rank_], part, time);
  }
  void count_received() {
    if (parts_.figures != nullptr) [[unlikely]] {
      const Ps at = parts_.engine.now();
      const Peer node = node_of(rank_);
      parts_.figures->level(Figures::kReceiveQueue, rank_, at,
                            static_cast<std::uint32_t>(received_.size()));
      parts_.figures->bus(node, at, network_.interfaces_busy(node) / network_.interfaces());
    }
  }

  const FirelinkParts& parts_;
  const FirelinkTerms& terms_;
  LineNetwork& network_;
  Rank rank_;
  RankClock clock_;
  Ps library_busy_{};
  bool advanced_ = false;  // lines were completed since it looked last
  bool loaded_ = false;
  bool stalled_ = false;  // in the middle of stores or a load
  Ring<std::uint32_t> received_;
  Ring<FirelinkNews> news_;
};

}  // namespace fairlead::fabric::model
