// The host-NI interface of a real rank (concept lci::HostNi): what its library does to the NI
// engine of its node, through queues in shared memory (queues.h). Time passes by itself here, so
// charges are empty. Thread: the rank's.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "fairlead/base/counters.h"
#include "fairlead/base/ring.h"
#include "fairlead/base/step.h"
#include "fairlead/base/units.h"
#include "fairlead/base/wait_ladder.h"
#include "fairlead/fabric/bell.h"
#include "fairlead/fabric/deaths.h"
#include "fairlead/fabric/engine/queues.h"
#include "fairlead/fabric/ni_packet.h"

namespace fairlead::fabric::engine {

struct HostOptions {
  NodeMap nodes;
  Rank self = 0;
  Ps epoch{};  // CLOCK_MONOTONIC at the start of the World
  WaitPlan wait;
  std::uint32_t first = 0;  // what the counts in its queues begin with; they wrap
  int bell = -1;            // eventfd of the node's engine; the caller's
  // The engine is gone: ends the job. Called from whatever waits; may not return.
  void (*fatal)(void* context, const std::string& reason) = nullptr;
  void* context = nullptr;
};

class EngineHostNi {
 public:
  using Answer = HostAnswer;
  struct Work {
    std::uint64_t ops, bytes, working_set_bytes, copied_bytes, page_faults, protections;
  };

  // `job` outlives it. Once for a rank.
  EngineHostNi(const ShmJob& job, const HostOptions& options);
  EngineHostNi(const EngineHostNi&) = delete;
  EngineHostNi& operator=(const EngineHostNi&) = delete;

  // The engine is at work; blocks until it is. False: it has gone, or is not there after `limit`.
  [[nodiscard]] bool await_engine(Ps limit);
  // The payload of a packet, the same for every engine of the job; known once the engine is at
  // work.
  std::uint32_t payload_bytes() const { return status_.payload_bytes.load(); }
  // Networks that lead to other engines; known from then on, too.
  std::uint32_t rails() const { return status_.rails.load(); }
  // The engine hands over in memory what is for that rank.
  bool same_node(Rank rank) const {
    return options_.nodes.node_of(rank) == options_.nodes.node_of(options_.self);
  }
  // Memory of this rank that its engine reaches too; lci's.
  std::span<std::byte> region() const { return area_.rest(); }

  // --- Site of the host. Work that is done needs no time added.
  Ps now() const { return nanoseconds(monotonic_ns()) - options_.epoch; }
  void charge(Step) {}
  void work(const Work&) {}
  Ps time_of(const Work&) const { return Ps{0}; }
  void copy(std::size_t) {}
  Ps compute(Ps time, Ps) { return time; }
  void interrupt() {}
  Ps default_watchdog() const { return kNever; }

  // --- Sending (as ModelHostNi, which says more). With no reserve left to others there is always a
  // buffer: what the send buffers have no room for waits in this process's memory.
  [[nodiscard]] bool alloc(std::size_t payload_bytes, std::uint32_t reserve, PacketId* id);
  bool has_buffer(std::uint32_t reserve);
  NiPacket& packet(PacketId id) {
    return id < kLocal ? area_.slot(id) : *reinterpret_cast<NiPacket*>(locals_[id - kLocal].get());
  }
  PacketId image(PacketId buffer);
  PacketId detached_image(PacketId buffer) { return image(buffer); }
  void cancel(PacketId id);
  void write(std::size_t) {}
  void post(PacketId id, std::size_t descriptor_lines);

  // --- Receiving.
  [[nodiscard]] bool reap_receive(PacketId* id);
  // The engine copies what is posted: its data is the caller's again at once.
  [[nodiscard]] bool reap_completion(std::uint64_t*) { return false; }
  [[nodiscard]] bool reap_answer(Answer* answer);
  void release(PacketId id);
  void return_host_buffer(PacketId id);
  void release_local(PacketId id);
  PacketId alloc_local(std::size_t payload_bytes);

  void sync();
  bool dismissed() const { return true; }
  // One step of the wait ladder, unless something is visible; the client looks at what else it
  // waits for and calls again.
  void block(Ps deadline, const char* what);
  void block_for_more(Ps deadline, const char* what) { wait_a_little(deadline, what); }
  // As Nic::listen(): what the engine does from now on rings.
  bool listen(Bell& bell);
  // Everything posted is with the engine.
  bool settled() const { return unposted_.empty() && queues_.posted_taken.load() == posted_; }
  // Blocks until it is, or the engine is gone.
  void settle();

  // --- Other ranks' deaths, as whoever watches them says.
  // Calls died(rank) for each that was not known; from then on dead() says so.
  template <class Died>
  void look_at_deaths(Died&& died) {
    deaths_.look(options_.nodes.ranks(), [this, &died](Rank rank) {
      if (dead_[rank]) return;
      dead_[rank] = true;
      died(rank);
    });
  }
  bool dead(Rank rank) const { return dead_[rank]; }
  // Calls changed(rank, lost) for each network to that rank that was lost or came back since.
  template <class Changed>
  void look_at_paths(Changed&& changed) {
    const std::uint32_t changes = status_.path_changes.load(std::memory_order_acquire);
    if (changes == path_changes_seen_) [[likely]]
      return;
    path_changes_seen_ = changes;
    const std::size_t nodes = std::min<std::size_t>(options_.nodes.count(), status_.kPathNodes);
    paths_seen_.resize(nodes);
    for (Peer node = 0; node < nodes; ++node) {
      const std::uint32_t now = status_.paths[node].load(std::memory_order_relaxed);
      // The engine is not believed: of more than a client can have missed the newest are told.
      std::uint32_t& seen = paths_seen_[node];
      if (now - seen > kPathChangesTold) seen = now - kPathChangesTold;
      while (seen != now) {
        const bool lost = ++seen % 2 != 0;
        for (const Rank rank : options_.nodes.ranks_of(node)) changed(rank, lost);
      }
    }
  }

  // --- Words of the NI.
  [[nodiscard]] bool add_ni_words(std::uint32_t segment, std::uint32_t count);
  std::uint64_t* ni_word(std::uint32_t segment, std::uint64_t offset);
  // All that there may be.
  std::span<std::byte> words() const { return std::as_writable_bytes(std::span(queues_.words)); }

 private:
  static constexpr PacketId kSlots = kSendBuffers + kReceiveSlots;
  static constexpr PacketId kLocal = kSlots;  // from here on: packets in this process's own memory

  static constexpr std::uint32_t kPathChangesTold = 1024;  // at once; even

  static bool is_send(PacketId id) { return id < kSendBuffers; }
  bool anything_visible() const {
    return queues_.received.load(std::memory_order_acquire) != received_taken_ ||
           queues_.answered.load(std::memory_order_acquire) != answers_taken_;
  }
  void wait_a_little(Ps deadline, const char* what);
  void sleep(Ps deadline);
  void check_engine(const char* what);
  void reset_packet(PacketId id, std::size_t bytes);
  void take_back_sent();
  void push_descriptor(const Descriptor& descriptor);
  bool try_descriptor(Descriptor descriptor);
  void offer(std::uint32_t slot);
  PacketId copied_out(PacketId id);
  void use_over(PacketId buffer);
  // Descriptors and images of it.
  std::uint32_t& uses(PacketId buffer) {
    return is_send(buffer) ? send_uses_[buffer] : local_uses_[buffer - kLocal];
  }

  QueueArea area_;
  RankQueues& queues_;
  EngineStatus& status_;
  ShmDoorbell& doorbell_;
  PortCounters& counters_;
  HostOptions options_;
  WaitLadder ladder_;
  DeathWatch deaths_;
  std::vector<bool> dead_;
  std::vector<std::uint32_t> paths_seen_;  // by node, once one has changed
  std::uint32_t path_changes_seen_ = 0;

  // This rank's own view: what it reads in shared memory is the engine's part only.
  std::uint32_t posted_;
  std::uint32_t taken_back_;
  std::uint32_t offered_;
  std::uint32_t received_taken_;
  std::uint32_t answers_taken_;
  std::uint32_t touched_seen_ = 0;
  std::uint32_t in_ring_[kDescriptors];  // buffer of each entry
  std::uint32_t send_uses_[kSendBuffers] = {};
  std::vector<std::uint32_t> local_uses_;
  std::vector<std::uint32_t> free_;   // send buffers
  std::vector<std::uint32_t> spare_;  // receive slots, neither offered nor with the client
  Ring<Descriptor> unposted_;         // found no room
  struct FreeBytes {
    void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{64}); }
  };
  std::vector<std::unique_ptr<std::byte, FreeBytes>> locals_;
  std::vector<PacketId> free_locals_;
  std::uint32_t word_segments_ = 0;
  std::uint32_t words_used_ = 0;
};

}  // namespace fairlead::fabric::engine
