// What the NI's control program (lci/ni/ni_program.h) runs on in the real world: the clock, packets
// in the engine's own memory, a Nic between the NIs, and the queues of the ranks it serves. Copies
// what a rank posted before it looks at it, and decides no protocol.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "fairlead/base/counters.h"
#include "fairlead/base/ring.h"
#include "fairlead/base/step.h"
#include "fairlead/base/units.h"
#include "fairlead/base/wait_ladder.h"
#include "fairlead/fabric/engine/queues.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/fabric/nic.h"

namespace fairlead::fabric::engine {

struct HardwareOptions {
  NodeMap nodes;
  Peer self = 0;
  Ps epoch{};  // CLOCK_MONOTONIC at the start of the World
  // What the counts in the ranks' queues begin with; they wrap.
  std::uint32_t first = 0;
};

// Who is called with what happens; all from poll().
struct HardwareSink {
  // A packet is the program's: one of a rank's, or from another NI.
  void (*posted)(void* context, PacketId id) = nullptr;
  void (*received)(void* context, PacketId id) = nullptr;
  // NiProgram::on_delivered, on_forward.
  void (*delivered)(void* context, PacketId origin, Peer peer) = nullptr;
  void (*forward)(void* context, PacketId id, Peer child) = nullptr;
  // A data packet for `rank`. True: that was all, no host buffer is needed.
  bool (*serves)(void* context, Rank rank, NiPacket& packet,
                 std::span<const std::byte> payload) = nullptr;
  // A rank's queues hold what no library of ours writes: it is served no more.
  void (*broken)(void* context, Rank rank, const char* what) = nullptr;
  void* context = nullptr;
};

class EngineHardware {
 public:
  // `job` and `wire` outlive it; `wire` moves whole headers, and its peers are the NIs.
  EngineHardware(ShmJob& job, Nic& wire, const HardwareOptions& options);
  ~EngineHardware();
  EngineHardware(const EngineHardware&) = delete;
  EngineHardware& operator=(const EngineHardware&) = delete;

  void attach(const HardwareSink& sink) { sink_ = sink; }

  // --- For the main loop.
  // Looks at the wire, at every queue, at what follows from both; returns how much there was.
  int poll_wire();
  int poll_ranks();
  int poll_events();
  // Hands over what waits for the wire and wakes who sleeps.
  void flush();
  // Until a rank rings, something comes in or `until`.
  void sleep(Ps until);
  // Tells the ranks that the engine is at work.
  void ready();
  // The clock moves by these only.
  void look_at_clock() { now_ = nanoseconds(monotonic_ns()) - options_.epoch; }

  // --- For the control program.
  Peer self() const { return options_.self; }
  Peer node_of(Rank rank) const { return options_.nodes.node_of(rank); }
  Ps now() const { return now_; }
  void charge(Step) {}
  NiPacket& packet(PacketId id) { return slot(id).packet; }
  PortCounters& counters() { return status_.counters; }
  void deliver(PacketId id);
  void answer(PacketId id);
  // `flow`: a node; or, by each further rail of those that lead there, node + nodes * i.
  void transmit(Peer flow, PacketId id);
  std::uint32_t rails() const { return rails_; }
  // The flow that goes by that rail to the node, while the pair's own one works.
  Peer flow_by(Peer node, std::uint32_t rail) const {
    return node + options_.nodes.count() * wire_.stripe_of(node, rail);
  }
  // A packet for a flow to `node` of which nothing is delivered: a piece of that number.
  PacketId make_nothing(Peer node, std::uint64_t number);
  PacketId image(PacketId id);
  void submit_forward(PacketId id, Peer child) { events_.push_back({true, id, child}); }
  PacketId make_control(PacketKind kind, Peer peer);
  void free_packet(PacketId id);
  std::uint64_t* find_word(Rank rank, std::uint32_t segment, std::uint64_t offset);
  void send_buffer_free(std::uint32_t) {}
  // What posts no data to be fetched, asks for no report and knows no pages needs none of these.
  void fetch(PacketId) {}
  void report(std::uint32_t, std::uint64_t) {}
  void land(PacketId) {}

  // --- For the engine's own replies.
  // A packet of `rank` to `to` with a copy of `payload`, not yet sent; the caller fills in the rest
  // of its header.
  PacketId make_packet(Rank rank, Rank to, std::span<const std::byte> payload);
  // Sends it: to a rank of this node, or by the program.
  void send(PacketId id);
  // The rank's memory has changed.
  void touched(Rank rank);
  // Those it serves, ascending.
  std::span<const Rank> ranks() const { return options_.nodes.ranks_of(options_.self); }
  // Number of one of them among them.
  std::uint32_t place_of(Rank rank) const { return options_.nodes.place_of(rank); }
  // The part of the rank's region that lci uses.
  std::span<std::byte> region(Rank rank) const { return queue_area(job_, rank).rest(); }
  // The rank's words of the NI, those that it has not set aside included.
  std::span<std::byte> words(Rank rank) const {
    return std::as_writable_bytes(std::span(queue_area(job_, rank).queues().words));
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // A payload, shared by the images of a packet. In front of it is room for WireExtra.
  struct Block {
    std::unique_ptr<std::byte[]> memory;
    const std::byte* data = nullptr;  // while it comes in: the wire's
    std::uint32_t uses = 0;
  };
  struct Slot {
    NiPacket packet;
    std::uint32_t block = kNone;
    Rank poster = kNone;            // the local rank whose descriptor it is of
    Rank target = kNone;            // rank, or kEveryRank; of a multicast that hosts forward too
    std::uint32_t copies_left = 0;  // ranks that have not got it
    bool local = false;             // delivery concerns this engine alone
  };
  struct LocalRank {
    LocalRank(const QueueArea& at, std::uint32_t first)
        : area(at), taken(first), offers(first), received(first), answered(first) {}
    QueueArea area;
    ShmDoorbell* doorbell = nullptr;
    std::uint32_t taken;     // descriptors
    std::uint32_t offers;    // receive buffers taken
    std::uint32_t received;  // filled
    std::uint32_t answered;
    std::uint32_t copies = 0;  // of its packets in the engine
    Ring<PacketId> waiting;    // for a receive buffer
    Ring<HostAnswer> answers;  // for room
    bool broken = false;
    bool ring = false;  // there is news
  };
  struct Event {
    bool forward;
    PacketId id;  // origin of a delivered one
    Peer peer;
  };
  // What of an NI packet is not in the header that Nics carry; before the payload of all but data.
  // A piece of a copy has its number as the operand.
  struct WireExtra {
    std::uint64_t operand;
    std::uint64_t cookie;
    std::uint32_t target;
    std::uint32_t lane;  // of a piece of a copy: the client's, as a further rail has one of its own
  };
  static_assert(sizeof(WireExtra) == 24);

  Slot& slot(PacketId id) { return (*slots_[id / kChunk])[id % kChunk]; }
  PacketId take_slot();
  std::uint32_t take_block(std::span<const std::byte> payload);
  void own(Block& block, std::size_t size);
  void drop_block(std::uint32_t block);
  std::byte* writable(std::uint32_t block) { return blocks_[block].memory.get() + kHeadroom; }

  LocalRank& local(Rank rank) { return ranks_[place_of(rank)]; }
  bool is_local(Rank rank) const {
    return rank < options_.nodes.ranks() && node_of(rank) == self();
  }
  int take_posted(Rank rank, LocalRank& from);
  bool take_descriptor(Rank rank, LocalRank& from, const Descriptor& descriptor);
  void break_off(Rank rank, const char* what);
  bool served(Slot& one);
  void hand_out(PacketId id, Rank source);
  void hand_to(LocalRank& to, Rank rank, PacketId id);
  bool copy_to(LocalRank& to, Rank rank, PacketId id);
  void one_copy_over(PacketId id);
  void serve_local_add(PacketId id);
  void give_answer(Rank rank, const HostAnswer& answer);
  bool put_answer(LocalRank& to, const HostAnswer& answer);
  bool gone(Rank rank) const;

  static Keep on_arrived(void* self, const Incoming& incoming);
  static void on_path_changed(void* self, Peer node, bool lost);
  void arrived(const Incoming& incoming);
  bool unpack(const Incoming& incoming, NiPacket& packet, Rank* target,
              std::span<const std::byte>* payload);
  void flush_flow(Peer flow);

  static constexpr std::size_t kChunk = 256;
  static constexpr std::size_t kHeadroom = 64;

  ShmJob& job_;
  Nic& wire_;
  HardwareOptions options_;
  const std::uint32_t rails_;
  EngineStatus& status_;
  HardwareSink sink_;
  Ps now_{};
  std::deque<LocalRank> ranks_;
  std::vector<std::unique_ptr<std::array<Slot, kChunk>>> slots_;
  std::vector<PacketId> free_slots_;
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> free_blocks_;
  Ring<Event> events_;
  std::vector<Ring<PacketId>> leaving_;  // by flow
  std::vector<Peer> leaving_flows_;      // of those some are not empty
  std::vector<Outgoing> batch_;
};

}  // namespace fairlead::fabric::engine
