// What a control program finds on a modelled network interface: its processor (a Site), the host
// DMA engine, the network's send and receive DMA, packet buffers and fetch-and-add words. The
// program itself is lci/ni/ni_program.h; nothing here decides a protocol.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fairlead/base/counters.h"
#include "fairlead/base/post.h"
#include "fairlead/base/prefetch.h"
#include "fairlead/base/reserved_memory.h"
#include "fairlead/base/ring.h"
#include "fairlead/base/step.h"
#include "fairlead/base/trace.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/model/background_traffic.h"
#include "fairlead/fabric/model/journeys.h"
#include "fairlead/fabric/model/lanai/doorbells.h"
#include "fairlead/fabric/model/lanai/lanai_parts.h"
#include "fairlead/fabric/model/lanai/vi_table.h"
#include "fairlead/fabric/model/rank_memory.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/hw/host_memory.h"
#include "fairlead/hw/lanai/ni_processor.h"
#include "fairlead/hw/network.h"
#include "fairlead/hw/packet_pool.h"
#include "fairlead/hw/pci/io_bus.h"
#include "fairlead/sim/engine.h"

namespace fairlead::fabric::model {

// What the control program is called with (NiWork::kind), and NiWork::packet: a packet's id, or as
// said here (by then the packet may be gone).
enum NiEvent : std::uint32_t {
  kDescriptor,   // the host posted this packet
  kFetched,      // its data is in NI memory
  kForward,      // this packet is to go on to the NI `peer`: submit_forward()
  kTransmitted,  // a packet has left: an image of `packet`, or itself one of the host's (kNoPacket)
  kReceived,     // a packet from the network
  kDelivered,    // one from the NI `peer` has been copied to the host: an image of `packet`, or
                 // itself (kNoPacket)
  kLanded,       // the same of a page transfer; of an RDMA write, with its packet, which stays
  kCorrupt,      // a packet from the network failed its CRC check
  kTimer,        // the time of wake_at() has come
  kHardware,     // not the program's: the DMA engine wants to be started
  kCopied,       // nor this: a rank of several has its copy of a packet
  kLook,         // the time of look_at() has come
  // None of the program's either: a packet of another job was posted, is in NI memory, came from
  // the network, has been copied to the host.
  kOtherPosted,
  kOtherFetched,
  kOtherReceived,
  kOtherDelivered,
};

// Where the transfers to hosts end; their side (host_ni.h) implements it.
struct HostSink {
  void (*received)(void* context, PacketId packet) = nullptr;
  void (*completed)(void* context, std::uint64_t cookie) = nullptr;
  void (*answered)(void* context, std::uint64_t cookie, std::uint64_t value) = nullptr;
  void (*buffers_free)(void* context, std::uint32_t count) = nullptr;
  // One of these will be called soon: brings what it touches into the cache. Reads only.
  void (*prepare)(const void* context) = nullptr;
  // The NI has taken what was in one of this rank's doorbells.
  void (*doorbell_free)(void* context) = nullptr;
};

// What of the control program to bring into the cache; `itself` some events before the others.
enum class Ahead : std::uint8_t {
  itself,
  packet_of_peer,  // what a packet of `peer` needs
  timers,          // what kTimer needs
};

// A control program: what runs on an NI, its state being the context.
struct NiProgramCalls {
  void (*turn)(void* context, hw::NiWork work) = nullptr;
  // Brings into the cache what the program needs; reads only.
  void (*prepare)(const void* context, Peer peer, Ahead what) = [](const void*, Peer, Ahead) {};
  // Where the NI has doorbells (doorbells.h): the one that packet.operand names has been written;
  // no turn of the processor's. Such a program gets kLook in place of kDescriptor, and kHardware
  // too, for which it calls start_dma(), and what is another job's, for other_turn(). nullptr:
  // descriptors go to the program as they come.
  void (*rung)(void* context, PacketId packet, Ps at) = nullptr;
};

class alignas(kCacheLine) NiHardware {
 public:
  // The references outlive it. `self` is the node and the source of its events; its ranks share
  // the NI's buffers (LanaiShares). `words`: kWords zeroed words where another process shares the
  // NI's memory; nullptr: of its own.
  NiHardware(const LanaiParts& parts, Peer self, PortCounters& counters,
             std::uint64_t* words = nullptr);
  // hw::NiFirmware's; its context is an NI.
  static void on_work(void* self, hw::NiWork work);
  NiHardware(const NiHardware&) = delete;
  NiHardware& operator=(const NiHardware&) = delete;

  // `calls` and `context` outlive the machine's events.
  void load(const NiProgramCalls& calls, void* context) {
    program_ = &calls;
    program_context_ = context;
  }
  // Some events before one about packet `id` here (sim::Engine::Prepare).
  void prepare(PacketId id, unsigned stage) const;
  // Connects the node's rank at `place`.
  void attach_host(std::uint32_t place, const HostSink& sink, void* context) {
    side(place).host = &sink;
    side(place).context = context;
  }

  // --- For the control program, inside its turn.
  Peer self() const { return processor_.node(); }
  Peer node_of(Rank rank) const { return parts_.nodes.node_of(rank); }
  std::uint32_t place_of(Rank rank) const { return parts_.nodes.place_of(rank); }
  Rank rank_at(std::uint32_t place) const { return parts_.nodes.rank_at(self(), place); }
  Ps now() const { return processor_.now(); }
  void charge(Step step) { processor_.charge(step); }
  NiPacket& packet(PacketId id) { return *reinterpret_cast<NiPacket*>(parts_.pool.at(id)); }
  PortCounters& counters() { return counters_; }

  // Copies the packet's data from host memory; kFetched follows.
  void fetch(PacketId id) {
    leaves_turn(id, Stage::ni_send);
    request(DmaKind::fetch, 0, id);
  }
  // Copies the packet to a host receive buffer of the rank that it is for, or of each of them; the
  // host sees it, kDelivered follows. The packet is the host's then.
  void deliver(PacketId id) {
    leaves_turn(id, Stage::ni_receive);
    const std::uint32_t to = packet(id).to;
    if (to == kEveryPlace) [[unlikely]]
      return deliver_to_all(id);
    request(DmaKind::deliver, to, id);
  }
  // As deliver(), for a packet with a descriptor of its own: the descriptor's status and an entry
  // of a completion queue follow the data, and the host sees the packet by that entry.
  void deliver_described(PacketId id) {
    packet(id).notifies = true;
    const std::uint32_t to = packet(id).to;
    deliver(id);
    request(DmaKind::status, to, id);
    request(DmaKind::notify, to, id);
  }
  // Copies the data of a page transfer to where they belong in host memory, or to an anonymous
  // page; where packet.notifies, a word that says so follows them. kLanded follows. The packet is
  // the host's then.
  void land(PacketId id) {
    leaves_turn(id, Stage::ni_receive);
    const std::uint32_t to = packet(id).to;
    request(DmaKind::land, to, id);
    if (packet(id).notifies) request(DmaKind::notify, to, id);
  }
  // Copies a packet's data behind its first packet.page_bytes to the address packet.cookie of its
  // rank's memory. kLanded follows. What belongs to a message (fabric/vi_message.h) goes to the
  // memory packet.operand, and nowhere where that or the connection is no more; a put of the Port's
  // (PacketKind::page_transfer) to the segment that its first word names, or packet.redirected says
  // that this is not exposed there any more.
  void land_rdma(PacketId id) {
    leaves_turn(id, Stage::ni_receive);
    request(DmaKind::rdma, packet(id).to, id);
  }
  // Tells the rank at packet.to what the packet's words say (fabric::ViEvent), and writes the three
  // words of its payload (immediate data, length and status) behind the fifth word of the control
  // segment at packet.cookie, in memory packet.operand; cookie 0: there is none. `has_entry`: of a
  // completion queue, behind the status. The packet is the host's then.
  void tell(PacketId id, bool has_entry) {
    const std::uint32_t to = packet(id).to;
    if (has_entry) request(DmaKind::status, to, id);
    request(DmaKind::notify, to, id);
  }
  // Tells the rank at `place` that the data of its packet `cookie` may be reused; batched.
  void report(std::uint32_t place, std::uint64_t cookie);
  // Writes a fetch-and-add's result to the host word that waits for it; the packet is freed.
  void answer(PacketId id) {
    leaves_turn(id, Stage::ni_receive);
    request(DmaKind::answer, packet(id).to, id);
  }
  // To the network; kReceived follows at the other NI, and kTransmitted at this one where the
  // packet held a send buffer or has an origin. The packet is the network's then.
  void transmit(Peer peer, PacketId id);
  // What the send DMA reads from a buffer that stays as it is: a packet of its own with the same
  // header and data, which holds no buffer.
  PacketId image(PacketId id);
  // So many more of the program's packets wait for a peer's window.
  void waiting(int by) {
    if (parts_.figures != nullptr) [[unlikely]]
      parts_.figures->change(Figures::kNoCredit, self(), parts_.engine.now(), by);
  }
  // kForward for this packet and that NI follows, in a turn of its own.
  void submit_forward(PacketId id, Peer child) { processor_.submit({kForward, id, child}); }
  // kTimer follows at `at` or soon after; the earliest of several counts.
  void wake_at(Ps at);
  // One of the send buffers of the rank at `place` is free; it learns of it with the next transfer.
  void send_buffer_free(std::uint32_t place);
  // To the rank at `place`: the status of its descriptor, whose data may be reused. Not batched.
  // `cookie`: as report()'s, or 0.
  void complete(std::uint32_t place, std::uint64_t cookie);
  // An NI-made packet without payload.
  PacketId make_control(PacketKind kind, Peer peer) { return make(kind, peer, 0); }
  // One with room for `bytes`, for the network. fetch() fills a piece of a message or of RDMA as it
  // fills a fragment (make_scratch()).
  PacketId make_data(std::uint32_t bytes);
  // One with room for `bytes` that is no message's, for the program's own use; as fetch() fills a
  // descriptor (ViOp::send_token, receive_token) or a fragment: packet.fetch_bytes from the address
  // packet.cookie of memory packet.operand, behind its first packet.page_bytes.
  PacketId make_scratch(std::uint32_t bytes) { return make(PacketKind::data, self(), bytes); }
  std::uint32_t payload_max() const {
    return static_cast<std::uint32_t>(parts_.pool.largest_bytes() - sizeof(NiPacket));
  }
  void free_packet(PacketId id) {
    if (parts_.journeys != nullptr) [[unlikely]]
      parts_.journeys->drop(id);
    parts_.pool.give(id, packet(id).slot_bytes);
  }
  // --- For one that looks at doorbells.
  Doorbells& doorbells() {
    if (doorbells_ == nullptr) doorbells_ = std::make_unique<Doorbells>();
    return *doorbells_;
  }
  ViTable& vi_table() {
    if (vi_table_ == nullptr) vi_table_ = std::make_unique<ViTable>();
    return *vi_table_;
  }
  Ps time_of(Step step) const { return parts_.firmware.step[static_cast<std::size_t>(step)]; }
  // The processor does nothing else until `until`.
  void busy_until(Ps until) { processor_.hold(until - processor_.now()); }
  // kLook follows at `at`, unless this is called again before; kNever: none does.
  void look_at(Ps at);
  // Empties the doorbell, which its host sees.
  void take_doorbell(std::uint32_t doorbell);
  // Reads a few bytes of host memory while the processor waits, behind the transfer that is under
  // way.
  void read_now();
  // As before: the 4 bytes at an address of the memory of the rank at `place`, which its system
  // software has named. False: the rank is gone.
  bool read_word_now(std::uint32_t place, std::uint64_t address, std::uint32_t* word);
  // Starts the host DMA engine where it has something to do.
  void start_dma() { start_next(); }
  // What is another job's (kOtherPosted, ..), in a turn of the program's.
  void other_turn(hw::NiWork work);

  // An 8-byte word of NI memory that `rank` of this node set aside (paper section 4.3), or nullptr.
  std::uint64_t* find_word(Rank rank, std::uint32_t segment, std::uint64_t offset);

  // sim::Engine::Prepare of the NI's own kinds of events.
  static void prepare_event(void* self, std::uint64_t id, std::uint64_t, unsigned stage) {
    static_cast<const NiHardware*>(self)->prepare(static_cast<PacketId>(id), stage);
  }
  static void prepare_visible(void* self, std::uint64_t id, std::uint64_t, unsigned stage);
  static void prepare_timer(void* self, std::uint64_t at, std::uint64_t, unsigned stage);
  static void prepare_turn(void* processor, std::uint64_t id, std::uint64_t, unsigned stage);

  // --- For the host side, in an event or the rank's turn at the engine's now.
  hw::IoBus& bus() { return bus_; }
  hw::PacketPool& pool() { return parts_.pool; }
  // Sets aside `count` zeroed words under the rank's `segment`. False: no room left.
  [[nodiscard]] bool add_words(Rank rank, std::uint32_t segment, std::uint32_t count);
  std::uint32_t words_used() const { return words_used_; }
  bool has_doorbells() const { return program_ != nullptr && program_->rung != nullptr; }
  // How many words all ranks of a node have together, and how many segments of words each has.
  static constexpr std::uint32_t kWords = 8192;  // what buffers and program leave: 64 KB
  static constexpr std::uint32_t kWordSegments = 256;
  // A receive reaches the receive doorbell of a virtual interface at `at`.
  void ring_receive_doorbell(Ps at, std::uint32_t place, std::uint32_t queue, const ViToken& token);
  // The rank's memory is reached through `memory`, which outlives the machine's events.
  void use_memory(std::uint32_t place, RankMemory& memory) { side(place).memory = &memory; }
  // A descriptor reaches NI memory at `at`.
  void ring_doorbell(Ps at, PacketId id);
  // The rank at `place` has put `count` receive buffers into its receive completions queue; the NI
  // sees them from `at` on.
  void return_host_buffers(std::uint32_t place, Ps at, std::uint32_t count);
  // The memory that the node's processors and DMA share; nullptr: one processor has it for itself.
  hw::HostMemory* memory() { return memory_.get(); }

  // --- Traffic of another job (ni_hardware_background.cc), until end_background(). Begun before
  // the first event, on all nodes or on none.
  void begin_background(const hw::NetworkParams& network);
  void end_background() {
    if (other_job_ != nullptr) other_job_->traffic.end();
  }

  // --- For the network.
  void arrived(PacketId id) {
    if (parts_.journeys != nullptr) [[unlikely]]
      parts_.journeys->mark(id, Stage::link, parts_.engine.now());
    processor_.submit({kReceived, id});
  }
  // As arrived(), where there is traffic of another job.
  void arrived_beside(PacketId id) {
    if (packet(id).place == kOtherJob) return processor_.submit({kOtherReceived, id});
    arrived(id);
  }
  void arrived_corrupt(PacketId id) { processor_.submit({kCorrupt, id}); }
  void transmitted(PacketId id) {
    NiPacket& left = packet(id);
    if (left.holds != Holds::send_buffer && left.origin == kNoPacket) return;
    processor_.submit({kTransmitted, left.origin, left.place});
    left.holds = Holds::nothing;
    left.origin = kNoPacket;
  }

  // Shows the processor's turns, DMA and the bus on the node's lines. `writer` outlives the NI.
  void trace(TraceWriter& writer);

  // What the control program handles, by NiEvent, as traces and tables name it.
  static std::span<const char* const> handlers();

  Ps processor_busy() const { return processor_.busy(); }
  Ps bus_busy() const { return bus_.busy(); }

 private:
  enum class DmaKind : std::uint8_t {
    fetch,
    deliver,
    completion,
    answer,
    buffers,
    land,
    notify,
    status,
    rdma,
    other_fetch,  // another job's
    other_deliver
  };
  struct DmaRequest {
    DmaKind kind;
    std::uint8_t place;  // of the rank that it is about
    PacketId id;
  };
  // What the NI keeps of one rank of its node.
  struct Side {
    const HostSink* host = nullptr;
    void* context = nullptr;
    std::uint32_t host_buffers = 0;
    std::uint32_t unreported = 0;       // completions that wait for their batch
    std::uint32_t free_unreported = 0;  // send buffers the host does not know to be free
    // Batches under way to the host, oldest first, and behind them the unreported.
    Ring<std::uint64_t, 4> completions;
    Ring<std::uint32_t, 2> batches;  // sizes of those under way
    // For a host buffer, where the other ranks' transfers are not to wait.
    Ring<DmaRequest> held;
    RankMemory* memory = nullptr;  // nullptr: this process's own
  };
  // NiPacket::place of another job's packets; cookie: which of its messages it is of.
  static constexpr std::uint8_t kOtherJob = kEveryPlace - 1;
  // Another job's process: messages under way, of each of which one packet is.
  struct OtherJob {
    OtherJob(const hw::BackgroundParams& params, const hw::NetworkParams& network, Peer self)
        : traffic(params, network, self) {}
    struct Message {
      Peer to = 0;
      std::uint32_t left = 0;  // bytes that no packet has taken
      bool under_way = false;  // a packet of it is
    };
    BackgroundTraffic traffic;
    std::vector<Message> messages;
  };
  // A packet of which every rank here gets a copy.
  struct Spread {
    PacketId id;
    std::uint32_t left;  // copies that are not with their hosts
  };

  static void on_dma_end(void* self, std::uint64_t packet, std::uint64_t);
  static void on_fetched(void* self, std::uint64_t packet, std::uint64_t);
  static void on_visible(void* self, std::uint64_t packet, std::uint64_t what);
  static void on_doorbell(void* self, std::uint64_t packet, std::uint64_t);
  static void on_timer(void* self, std::uint64_t at, std::uint64_t);
  static void on_look(void* self, std::uint64_t at, std::uint64_t);
  static void on_doorbell_free(void* self, std::uint64_t doorbell, std::uint64_t);
  static void on_receive_doorbell(void* self, std::uint64_t where, std::uint64_t handle);
  static void on_host_buffers(void* self, std::uint64_t count, std::uint64_t place);

  Side& side(std::uint32_t place) {
    return place == 0 || place >= ranks_here_ ? first_side_ : more_sides_[place - 1];
  }
  const Side& side(std::uint32_t place) const { return const_cast<NiHardware*>(this)->side(place); }
  PacketId make(PacketKind kind, Peer peer, std::size_t payload_bytes);
  RankMemory& memory_of(std::uint32_t place);
  // What was read by RDMA is in NI memory, what is written in the host's.
  void move_rdma(const DmaRequest& done);
  // Where a descriptor's packet that is written here stands in order.
  Figures::Stream stream_of(const NiPacket& moved) const;
  // Checks of what belongs to messages, and the status of their descriptors.
  bool is_registered(const NiPacket& moved, std::uint32_t place, std::uint64_t bytes);
  // `name`: a queue of the rank's and which of its connections, as in the words of a message.
  bool is_connected(std::uint32_t place, std::uint32_t name);
  bool is_exposed(const NiPacket& put, std::uint64_t bytes);
  void write_status(PacketId id);
  void deliver_to_all(PacketId id);
  void copy_delivered(PacketId origin);
  void request(DmaKind kind, std::uint32_t place, PacketId id);
  void report_all();
  void request_batch(std::uint32_t place);
  bool may_start() const;
  static void on_other_message(void* self, std::uint64_t message, std::uint64_t);
  void post_other(std::uint32_t message);
  void send_other(PacketId id);
  void other_acknowledged(PacketId id);
  void other_copied(const DmaRequest& done, Ps seen);
  void hold_back();
  void take_back(Side& side);
  void start_next();
  // The processor will start the engine, where that has something to do.
  void wake();
  void dma_done();
  std::uint64_t transfer_bytes(const DmaRequest& request);
  void count_dma() {
    if (parts_.figures != nullptr) [[unlikely]]
      parts_.figures->level(Figures::kDmaQueue, self(), parts_.engine.now(),
                            static_cast<std::uint32_t>(dma_queue_.size()));
  }
  void count_turn(std::uint32_t kind, Ps began) const;
  void show_turn_begin(hw::NiWork work);
  void show_turn_end(hw::NiWork work);
  void show_transmit(PacketId id);
  void show_dma(const DmaRequest& done, Ps seen);
  void show_visible(DmaKind kind, PacketId id);
  // The program has handed the packet on: the turn's rest is not its.
  void leaves_turn(PacketId id, Stage stage) {
    if (parts_.journeys == nullptr) [[likely]]
      return;
    parts_.journeys->mark(id, stage, processor_.now());
    if (id == turn_packet_) turn_packet_ = kNoPacket;
  }

  // For prepare(): what a packet's events touch, of this and of the host side.
  static constexpr std::size_t kHotBytes = 5 * kCacheLine;
  static constexpr std::size_t kHostBytes = 3 * kCacheLine;

  const LanaiParts& parts_;
  PortCounters& counters_;
  hw::NiProcessor processor_;
  hw::IoBus bus_;
  Ring<DmaRequest, 4> dma_queue_;  // its first is under way, where one is
  Ps timer_at_ = kNever;
  const NiProgramCalls* program_ = nullptr;
  void* program_context_ = nullptr;
  bool dma_running_ = false;
  bool wake_queued_ = false;
  std::uint32_t ranks_here_;
  Side first_side_;

  // Rarely touched from here on; these while traced only.
  TraceLane trace_processor_;
  TraceLane trace_dma_;
  Ps turn_began_{};
  PacketId turn_packet_ = kNoPacket;  // that the turn is about, until handed on

  std::unique_ptr<Doorbells> doorbells_;  // where there are any
  std::unique_ptr<ViTable> vi_table_;     // the same
  LocalMemory own_memory_;                // of ranks that are fibers
  Ps look_at_ = kNever;

  std::unique_ptr<OtherJob> other_job_;  // where there is traffic of one

  // What the node's further ranks see.
  std::unique_ptr<Side[]> more_sides_;
  std::vector<Spread> spreads_;
  std::unique_ptr<hw::HostMemory> memory_;

  struct WordSegment {
    Rank rank;
    std::uint32_t segment;
    std::uint32_t first;
    std::uint32_t count;
  };
  std::vector<WordSegment> word_segments_;
  std::uint32_t words_used_ = 0;
  std::unique_ptr<ReservedMemory> own_words_;  // made by the first add_words()
  std::uint64_t* words_;
};

}  // namespace fairlead::fabric::model
