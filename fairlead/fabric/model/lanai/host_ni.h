// The host-NI interface on the model (concept lci::HostNi): what a rank's library does to its
// network interface, with the time each access takes on the host and on the bus. Runs on the
// rank's task; the rank's clock may be ahead of the engine's until something must be observed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/base/prefetch.h"
#include "fairlead/base/ring.h"
#include "fairlead/base/step.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/model/lanai/ni_hardware.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/hw/lanai/library_rates.h"
#include "fairlead/hw/resource.h"
#include "fairlead/hw/trace_lines.h"
#include "fairlead/sim/task.h"

namespace fairlead::fabric::model {

class ModelHostNi;

// The hosts of a machine's ranks; its owner outlives them.
struct RankHosts {
  void* owner;
  ModelHostNi& (*find)(void* owner, Rank rank);
};

class alignas(kCacheLine) ModelHostNi {
 public:
  // The rank's at `place` of the NI's node. The references outlive it.
  ModelHostNi(const LanaiParts& parts, NiHardware& ni, std::uint32_t place, RankHosts hosts);
  ModelHostNi(const ModelHostNi&) = delete;
  ModelHostNi& operator=(const ModelHostNi&) = delete;

  // The task whose time the calls below take; before the first of them.
  void run_on(sim::Task& task) { task_ = &task; }

  // Shows on the host's line when it sleeps.
  void trace(TraceLane lane) { trace_ = lane; }

  // --- Site of the host.
  Ps now() const { return local_ > parts_.engine.now() ? local_ : parts_.engine.now(); }
  const hw::LibraryRates& rates() const { return parts_.host_rates; }
  void charge(Step step) {
    const Ps time = parts_.host_rates.step[static_cast<std::size_t>(step)];
    spend(time);
    count(part_of(step), time);
  }
  void work(const hw::HostWork& work) {
    work_for(hw::work_time(parts_.host_rates, work), hw::moved_bytes(parts_.host_rates, work));
  }
  // The client's work that takes `alone` and moves `bytes`.
  void work_for(Ps alone, std::uint64_t bytes) {
    const Ps time = slowed(alone, bytes);
    advance(time);
    count(HostPart::compute, time);
  }
  // Work that was timed elsewhere.
  void advance(Ps time) { local_ = now() + time; }
  // The rank's clock is ahead of what it has seen of others: sync() would take time.
  bool ahead() const { return local_ > parts_.engine.now(); }

  // Polling watchdog (LCI paper section 4.1): as much of `time` passes as is over when a packet has
  // been visible for `watchdog` without a look at it, or all of it. Returns how much; an interrupt
  // is due if it is less.
  Ps compute(Ps time, Ps watchdog);
  Ps time_of(const hw::HostWork& work) {
    const Ps alone = hw::work_time(parts_.host_rates, work);
    return slowed(alone, hw::moved_bytes(parts_.host_rates, work));
  }
  // What `alone` becomes, of the work that moves `bytes` to or from memory, from now on, where the
  // node's other ranks and its NI use that too: all of them have caught up then.
  Ps slowed(Ps alone, std::uint64_t bytes) {
    if (ni_.memory() == nullptr || bytes == 0) [[likely]]
      return alone;
    sync();
    return ni_.memory()->use(number_, now(), alone, bytes);
  }
  // Taking the interrupt, until its handler polls.
  void interrupt() {
    advance(parts_.host_rates.interrupt);
    count(HostPart::receive, parts_.host_rates.interrupt);
  }
  Ps default_watchdog() const { return parts_.host_rates.watchdog; }
  // The data of a remote copy that nobody is told of: what comes so is no reason to interrupt.
  static bool silent(const NiPacket& packet) {
    return packet.header.client.kind == PacketKind::page_transfer && !packet.notifies;
  }
  // Since when the oldest of what is to be looked at is there, or the last look.
  Ps visible_since() const { return visible_since_; }

  // A memcpy within the L2 cache.
  void copy(std::size_t size) {
    const Ps time = hw::work_time(parts_.host_rates, hw::HostWork{0, 0, 0, size});
    spend(time);
    count(HostPart::receive, time);
  }
  // Work of the library's own that moves `bytes` to or from memory.
  void move(Ps alone, std::uint64_t bytes, HostPart part) {
    const Ps time = slowed(alone, bytes);
    spend(time);
    count(part, time);
  }
  // What the calls took so far, without the client's own work().
  Ps library_busy() const { return library_busy_; }

  // --- Sending. The payload of a packet may be filled by the caller as soon as it is allocated;
  // write() and post() take the time.
  // False: no more than `reserve` send buffers of the NI are free; block() until more may be.
  [[nodiscard]] bool alloc(std::size_t payload_bytes, std::uint32_t reserve, PacketId* id);
  NiPacket& packet(PacketId id) { return ni_.packet(id); }
  // One more send of the data in a send buffer, to a peer of its own: the host posts images of the
  // buffer instead of the buffer, which is free again when all of them have left.
  PacketId image(PacketId buffer);
  // One more send of the data in a send buffer that stays the host's, which sends from it as often
  // as it likes and says when it is free: cancel().
  PacketId detached_image(PacketId buffer);
  // Gives back a packet that was allocated and not posted itself.
  void cancel(PacketId id);
  // Programmed copy of `size` bytes into NI memory.
  void write(std::size_t size);
  // Hands the packet over: one programmed write per descriptor line, which rings the doorbell.
  // Where the NI has doorbells, the host waits until the packet's is empty: packet.operand is a
  // number of open_vi(), or 0 for the one that its peer has.
  void post(PacketId id, std::size_t descriptor_lines);
  // A further virtual interface, beside the one that each peer has: a number above 0. 0: the NI has
  // none, or no more.
  std::uint32_t open_vi();
  // Nothing more is sent by it.
  void close_vi(std::uint32_t number);
  // Hands a send of that interface's connection to the NI: its descriptor lies where the token
  // says. Waits until the doorbell is empty.
  void post_vi_send(std::uint32_t number, const ViToken& token);
  // As before for a receive, whose doorbell has room for all of them.
  void post_vi_receive(std::uint32_t number, const ViToken& token);
  // What the NI may do to this rank's memory for its virtual interfaces.
  void allow(const ViMemory& memory);
  void forbid(std::uint32_t handle);
  void connect_vi(const ViEnd& end);
  void disconnect_vi(std::uint32_t number);
  void count_entries(std::uint32_t number, bool of_receives, const ViEntries& entries);
  void forget_vis();  // takes no time

  // --- To other ranks of this node: by host memory, without the NI.
  bool near(Rank rank) const {
    return parts_.nodes.several() && parts_.nodes.node_of(rank) == ni_.self() && rank != rank_;
  }
  // As alloc(), of the buffers for such packets.
  [[nodiscard]] bool alloc_near(std::size_t payload_bytes, std::uint32_t reserve, PacketId* id);
  bool has_near_buffer(std::uint32_t reserve) const { return near_buffers_ > reserve; }
  std::uint32_t near_buffers_free() const { return near_buffers_; }
  // Hands the packet to the rank packet.peer; of its data `copied` bytes are copied into it now.
  void post_near(PacketId id, std::size_t copied);
  // The lines of such a packet come to the processor that received it.
  void read_near(PacketId id);

  // --- Receiving: what the host can see at its own now; call sync() first.
  [[nodiscard]] bool reap_receive(PacketId* id);
  [[nodiscard]] bool reap_completion(std::uint64_t* cookie);
  using Answer = HostAnswer;
  using Work = hw::HostWork;
  [[nodiscard]] bool reap_answer(Answer* answer);
  // The packet's host buffer may be filled again.
  void release(PacketId id);
  // The packet stays, the NI gets another host buffer in its place.
  void return_host_buffer(PacketId id);
  // Frees a packet of alloc_local(), or one whose buffer was returned.
  void release_local(PacketId id) { ni_.free_packet(id); }

  // Lets the rest of the machine catch up with this rank's clock.
  void sync();
  // Nobody can need this host any more. On the model a task that waits then is left where it is.
  bool dismissed() const { return false; }
  // Sleeps until something becomes visible or `deadline`. `what` is shown when the job hangs.
  void block(Ps deadline, const char* what);
  // Sleeps until `deadline` or something more becomes visible, whatever is visible already.
  void block_for_more(Ps deadline, const char* what);
  bool anything_visible() const {
    return !received_.empty() || !completed_.empty() || !answered_.empty();
  }
  std::uint32_t send_buffers_free() const { return send_buffers_; }
  // alloc() would find a buffer.
  bool has_buffer(std::uint32_t reserve) const { return send_buffers_ > reserve; }
  // A packet that stays on this host (a rank's message to itself): no send buffer, no NI.
  PacketId alloc_local(std::size_t payload_bytes);
  // Memory of the NI: `count` zeroed words, set up before use.
  [[nodiscard]] bool add_ni_words(std::uint32_t segment, std::uint32_t count) {
    return ni_.add_words(rank_, segment, count);
  }
  std::uint64_t* ni_word(std::uint32_t segment, std::uint64_t offset) {
    return ni_.find_word(rank_, segment, offset);
  }
  const EvenNodes& nodes() const { return parts_.nodes; }
  // Its share of the NI's.
  const LanaiShares& shares() const { return parts_.shares; }

 private:
  void spend(Ps time) {
    local_ = now() + time;
    library_busy_ += time;
  }
  void spend_until(Ps end, HostPart part) {
    count(part, end - now());
    library_busy_ += end - now();
    local_ = end;
  }
  // Time that is in the clock already.
  void count(HostPart part, Ps time) {
    if (parts_.figures != nullptr) [[unlikely]]
      add_time(parts_.figures->running[rank_], part, time);
  }
  void count_level(Figures::Queue queue, std::uint32_t level) {
    if (parts_.figures != nullptr) [[unlikely]]
      parts_.figures->level(queue, rank_, parts_.engine.now(), level);
  }
  void count_buffers() {
    count_level(Figures::kSendBuffers, parts_.shares.send_buffers - send_buffers_);
  }
  void count_received() {
    count_level(Figures::kReceiveQueue, static_cast<std::uint32_t>(received_.size()));
  }
  void count_end(PacketId id);
  void return_host_buffer();
  void await_doorbell(NiPacket& packet);
  // Posted writes of a descriptor or token, the last of which reaches the NI at the time returned.
  Ps write_descriptor(std::size_t lines);
  std::uint32_t vi_of(Rank peer);
  void address(NiPacket& packet) const;
  void came(PacketId id);
  void return_near_buffer(PacketId id);
  // The rank's clock has come to where it is by work of `spent_on`: for the critical path.
  void spent(hw::Resource spent_on) {
    if (parts_.engine.path() != nullptr) [[unlikely]]
      parts_.engine.path()->reach(local_, spent_on);
  }
  template <class Change>
  static void changed(void* self, Change change) {
    auto* host = static_cast<ModelHostNi*>(self);
    change(*host);
    if (host->waiting_) host->task_->wake(host->parts_.engine.now());
  }

  // The client is done with a received packet.
  void show_end(PacketId id) {
    if (parts_.figures != nullptr) [[unlikely]]
      count_end(id);
    if (parts_.journeys != nullptr) [[unlikely]]
      parts_.journeys->end(id, ni_.self(), packet(id).header.client.size, now());
  }

  const LanaiParts& parts_;
  NiHardware& ni_;
  sim::Task* task_ = nullptr;
  Ps local_{};
  Ps library_busy_{};
  std::uint32_t send_buffers_;
  bool waiting_ = false;
  sim::Task::Place place_;      // of the task when it last waited
  std::uint32_t released_ = 0;  // host buffers not yet given back to the NI
  std::uint32_t calling_ = 0;   // of received_ that are to be looked at
  Ps visible_since_{};          // the oldest of these, or the last look at them
  Ring<PacketId, 4> received_;
  Ring<std::uint64_t> completed_;
  Ring<Answer> answered_;
  std::uint32_t number_;  // among the ranks of its node
  Rank rank_;
  std::uint32_t near_buffers_;
  bool near_returned_ = false;  // one of them, since this rank last waited
  RankHosts hosts_;
  TraceLane trace_;
};

}  // namespace fairlead::fabric::model
