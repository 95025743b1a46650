// The host-NI interface of a rank that is a process of its own (concept lci::HostNi): what
// ModelHostNi is to a fiber, through the rank's gate. The host's own work is timed here; what
// touches the modelled machine is queued and handed over with the next call that needs an answer,
// so that a message takes two or three hand-overs.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "fairlead/base/step.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/model/gate.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/hw/host_cost.h"
#include "fairlead/hw/packet_pool.h"

namespace fairlead::fabric::model {

class RemoteHostNi {
 public:
  using Answer = HostAnswer;
  using Work = hw::HostWork;

  // `memory` outlives it. Joins: returns once the simulator gives this rank its first turn. From
  // then on this process runs in virtual time. `measured`: the calling thread's processor time,
  // this machine's, counts as the host's work.
  RemoteHostNi(const GateMemory& memory, Rank rank, bool measured = false);
  RemoteHostNi(const RemoteHostNi&) = delete;
  RemoteHostNi& operator=(const RemoteHostNi&) = delete;

  // Meanings as in ModelHostNi; those marked * hand control over.
  Ps now() {
    if (measured_) count_processor_time();
    if (!clock_known_) hand_over(GateOp::observe);  // *
    return clock_;
  }
  const hw::HostRates& rates() const { return rates_; }
  void charge(Step step) { advance(rates_.step[static_cast<std::size_t>(step)]); }
  void work(const hw::HostWork& work) { advance(hw::work_time(rates_, work)); }
  Ps compute(Ps time, Ps watchdog);  // *
  Ps time_of(const hw::HostWork& work) const { return hw::work_time(rates_, work); }
  void interrupt() { advance(rates_.interrupt); }
  Ps default_watchdog() const { return rates_.watchdog; }
  void copy(std::size_t size) { work(hw::HostWork{0, 0, 0, size}); }

  [[nodiscard]] bool alloc(std::size_t payload_bytes, std::uint32_t reserve, PacketId* id);  // *
  bool has_buffer(std::uint32_t reserve) const { return send_buffers_ > reserve; }
  PacketId alloc_local(std::size_t payload_bytes);                                             // *
  PacketId image(PacketId buffer) { return hand_over(GateOp::image, buffer).id; }              // *
  PacketId detached_image(PacketId buffer) { return hand_over(GateOp::image, buffer, 1).id; }  // *
  NiPacket& packet(PacketId id) {
    return *reinterpret_cast<NiPacket*>(packets_ + std::size_t{id} * hw::PacketPool::kUnit);
  }
  void cancel(PacketId id) {
    queue(GateOp::cancel, id);
    ++send_buffers_;
  }
  void write(std::size_t size) {
    if (size == 0) return;
    queue(GateOp::write, 0, size);
    time_passes();
  }
  void post(PacketId id, std::size_t descriptor_lines) {
    queue(GateOp::post, id, descriptor_lines);
    time_passes();
  }

  [[nodiscard]] bool reap_receive(PacketId* id);
  [[nodiscard]] bool reap_completion(std::uint64_t* cookie) { return take(completed_, cookie); }
  [[nodiscard]] bool reap_answer(Answer* answer) { return take(answered_, answer); }
  void release(PacketId id) {
    queue(GateOp::release, id);
    host_buffer_returned();
  }
  void return_host_buffer(PacketId id) {
    queue(GateOp::return_host_buffer, id);
    host_buffer_returned();
  }
  void release_local(PacketId id) { queue(GateOp::release_local, id); }

  // Host time that passes without work, whatever comes in: a program's sleep.
  void sleep(Ps time) {
    advance(time);
    sync();  // *
  }
  // now() as of the last time this rank looked; from any thread.
  Ps shown() const { return Ps{shown_ps_.load(std::memory_order_relaxed)}; }

  void sync() {
    if (ahead_) hand_over(GateOp::sync);  // *
  }
  void retire() { hand_over(GateOp::retire); }  // *
  // Once it is true nothing is handed over any more.
  bool dismissed() const { return dismissed_; }
  void block(Ps deadline, const char* what);           // *
  void block_for_more(Ps deadline, const char* what);  // *
  bool anything_visible() const {
    return !received_.empty() || !completed_.empty() || !answered_.empty();
  }
  [[nodiscard]] bool add_ni_words(std::uint32_t segment, std::uint32_t count);  // *
  std::uint64_t* ni_word(std::uint32_t segment, std::uint64_t offset);

 private:
  struct Segment {
    std::uint32_t segment;
    std::uint32_t first;
    std::uint32_t count;
  };

  // The host sees what comes in while a queued command takes its time.
  template <class T>
  bool take(std::deque<T>& from, T* to) {
    if (from.empty() && !clock_known_) hand_over(GateOp::observe);
    if (from.empty()) return false;
    *to = from.front();
    from.pop_front();
    return true;
  }
  void advance(Ps time) {
    unsent_ += time;
    clock_ += time;
    shown_ps_.store(clock_.count, std::memory_order_relaxed);
    if (time > Ps{0}) ahead_ = true;
  }
  // The last command touches the bus: how long that takes the simulator knows.
  void time_passes() {
    clock_known_ = false;
    ahead_ = true;
  }
  void host_buffer_returned() {
    if (++released_ < host_ring_batch_) return;
    released_ = 0;
    time_passes();
  }
  void queue(GateOp op, PacketId id, std::uint64_t a = 0);
  void put(GateOp op, std::uint32_t id, std::uint64_t a, std::uint64_t b);
  const GateAnswer& hand_over(GateOp op, std::uint32_t id = 0, std::uint64_t a = 0,
                              std::uint64_t b = 0);
  void wait_for_turn();
  void count_processor_time();
  void take_answer();

  GateSlot& slot_;
  std::byte* packets_;
  std::uint64_t* words_;  // of this node
  hw::HostRates rates_;
  const bool measured_;
  Ps counted_{};  // processor time up to here is in the clock
  Ps clock_{};    // now(), while clock_known_
  Ps unsent_{};   // work since the last command
  bool clock_known_ = true;
  bool ahead_ = false;  // sync() has something to do
  bool dismissed_ = false;
  std::atomic<std::int64_t> shown_ps_{0};
  std::uint32_t send_buffers_;
  std::uint32_t host_ring_batch_;
  std::uint32_t released_ = 0;  // host buffers since the last batch
  std::deque<PacketId> received_;
  std::uint32_t calling_ = 0;  // of received_ that are to be looked at
  Ps visible_since_{};         // the oldest of these, or the last look at them
  std::deque<std::uint64_t> completed_;
  std::deque<Answer> answered_;
  std::vector<Segment> segments_;
};

}  // namespace fairlead::fabric::model
