// An Elan3 in virtual time (Quadrics paper, section 2.1): its microcode's threads of execution and
// the thread processor are units of their own, each of which does one step after another, as long
// as the platform's cycles for it say.
//
//  command processor  takes up what the host wrote: a DMA descriptor, a query, freed slots
//  DMA thread         cuts DMAs into packets, some of one DMA, then of the next; keeps so many
//                     circuits open; sends again what was refused for want of a slot, or broke on
//                     the wires, until it gives up
//  inputter           serves what arrives and answers it (write blocks as their last byte comes,
//                     other transactions when they are done): write blocks, slots of queues,
//                     test-and-write, fetch-and-add, requests for a DMA; counts events
//  thread processor   runs the thread of a query: builds its packet, looks at its acknowledgment;
//                     runs the program that matches messages with receives (elan_tports.h);
//                     combines operands of reductions in a tree of interfaces (elan_reduce.cc)
//
// Data between the interface and host memory cross the bus in bursts; memory that lies in the
// interface (place()) needs none. The bus keeps writes of each direction in order and the
// interface's reads behind its writes, as PCI does: what is acknowledged when it has come is
// therefore seen before all that follows it. An event counts in the interface, starts what waits
// for it, and writes a word to host memory.
//
// Its MMU translates a page at a time what peers name. What its TLB lacks is found by a walk, which
// the unit that needs it waits for.
//
// The interface's memory serves one reader or writer after the other, at its rate. As it is faster
// than a link, a packet's bytes are there when they are to go on, once their turn has come.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "fairlead/base/ring.h"
#include "fairlead/fabric/model/background_traffic.h"
#include "fairlead/fabric/model/elan/elan_faults.h"
#include "fairlead/fabric/model/elan/elan_tports.h"
#include "fairlead/fabric/model/rdma/rdma_engine.h"
#include "fairlead/hw/circuits.h"
#include "fairlead/hw/elan/burst_bus.h"
#include "fairlead/hw/elan/elan_params.h"
#include "fairlead/hw/host_memory.h"
#include "fairlead/hw/network_params.h"
#include "fairlead/hw/rdma/table_cache.h"
#include "fairlead/hw/switch_reductions.h"
#include "fairlead/proto/peer_table.h"
#include "fairlead/sim/resource.h"

namespace fairlead::fabric::model {

struct ElanParts : RdmaShared {
  const hw::ElanParams& params;
  const hw::PciParams& pci;
  const hw::NetworkParams& network_params;
  hw::Circuits& circuits;
  hw::SwitchReductions* reductions;  // nullptr: switches combine nothing
  BytesPerSec memory_rate;           // of a node's memory, where several ranks share it
  ElanFaults* faults = nullptr;      // nullptr: nothing goes wrong on the wires
};

class ElanNi final : public RdmaEngine {
 public:
  ElanNi(const ElanParts& parts, Peer self);
  ~ElanNi() override;
  ElanNi(const ElanNi&) = delete;
  ElanNi& operator=(const ElanNi&) = delete;

  void attach_host(Rank rank, const RdmaHostSink& sink) override { of(rank).host = sink; }
  const RdmaHostSink& host_of(Rank rank) override { return of(rank).host; }
  void use_memory(Rank rank, RankMemory& memory) override { of(rank).memory = &memory; }
  void ring(Rank rank, std::uint32_t packet) override;
  void return_buffers(Rank rank, Rank source, std::uint8_t lane, std::uint32_t count) override;
  hw::KeyTable& keys(Rank rank) override { return of(rank).keys; }
  Ps slowed(Rank rank, Ps alone, std::uint64_t bytes) override {
    return memory_ == nullptr ? alone
                              : memory_->use(parts_.ranks.place_of(rank), now(), alone, bytes);
  }
  bool shares_memory() const override { return memory_ != nullptr; }
  void name_memory(Rank rank, std::uint32_t segment, std::uint64_t base,
                   std::uint64_t size) override;
  void permit(Rank rank, std::uint32_t segment, std::uint32_t permissions,
              std::uint64_t who) override;
  void forget_memory(Rank rank, std::uint32_t segment) override;
  void name_counter(Rank rank, std::uint32_t id, std::uint64_t address) override;
  void place(Rank rank, std::uint64_t base, std::uint64_t size) override;

  // --- By the network.
  void arrived(std::uint32_t packet);
  void acknowledged(std::uint32_t packet, hw::Outcome outcome);
  void ended(std::uint32_t packet, hw::Outcome outcome);
  // After the last destination's ended().
  void closed(std::uint32_t packet) { let_go(packet); }

  // What finds no slot there is dropped from now on; it would be sent again for ever.
  void rank_ended(Rank rank) { of(rank).ended = true; }
  // Sends another job's messages until end_background(). Before the first event.
  void begin_background();
  void end_background() { background_.end(); }

  Ps units_busy() const;
  Ps path_busy() const override { return bus_.busy(); }

 private:
  struct Segment {
    std::uint64_t base = 0;
    std::uint64_t size = 0;
    std::uint32_t permissions = 0;
    bool everybody = false;
    std::vector<Rank> allowed;
  };
  // A counter of a host's, and what waits for it.
  struct Event {
    std::uint64_t address = 0;
    std::uint64_t on_the_way = 0;        // counted here, not yet in host memory
    std::vector<std::uint32_t> waiting;  // messages, the one that begins first in front
  };
  struct Range {
    std::uint64_t base;
    std::uint64_t size;
  };
  // Queue DMAs of a rank to one peer's lane: one at a time, in order.
  struct Lane {
    Ring<std::uint32_t> waiting;
    bool busy = false;
  };
  struct Way {
    Lane lanes[kLanes];
  };
  static constexpr std::uint32_t kNoWay = UINT32_MAX;
  class Tport;
  // Bytes of a message that the thread has asked its sender's interface for.
  struct Fetch {
    Tport* tport = nullptr;
    TportReceive* receive = nullptr;
  };
  // What it knows of a rank of its node.
  struct Own {
    Own(Rank rank, std::uint32_t slots_each);
    ~Own();
    RdmaHostSink host;
    LocalMemory own_memory;
    RankMemory* memory = &own_memory;
    hw::KeyTable keys;
    std::uint32_t slots[kLanes];
    bool ended = false;  // nobody will free a slot
    std::unordered_map<std::uint32_t, Segment> segments;
    std::unordered_map<std::uint32_t, Event> events;
    std::vector<Range> placed;
    std::unordered_map<std::uint16_t, std::unique_ptr<Tport>> tports;  // by channel
    proto::PeerTable<std::uint32_t> way_of{kNoWay};                    // by peer
    std::vector<std::unique_ptr<Way>> ways;  // from the first packet to one on
  };
  // A copy that comes in, of several packets.
  struct Coming {
    std::uint64_t bytes = 0;
    bool refused = false;
  };
  enum class Access : std::uint8_t { read, write, atomic };
  using Handler = void (ElanNi::*)(std::uint32_t packet);

  template <Handler handler>
  void at(Ps when, sim::EventKind kind, std::uint32_t packet) {
    parts_.engine.at(
        when, self_, kind,
        [](void* self, std::uint64_t id, std::uint64_t) {
          (static_cast<ElanNi*>(self)->*handler)(static_cast<std::uint32_t>(id));
        },
        this, packet);
  }
  Ps now() const { return parts_.engine.now(); }
  Ps time(Cycles cycles) const { return time_for(cycles, ni_.clock); }
  // When a unit that takes up such a step now has done it.
  Ps after(sim::Server& unit, Cycles cycles) {
    return unit.acquire(now(), time(cycles)) + time(cycles);
  }
  RdmaPacket& packet(std::uint32_t id) { return parts_.packets.at(id); }
  void let_go(std::uint32_t id) {
    if (--packet(id).users == 0) parts_.packets.give(id);
  }
  Own& of(Rank rank) { return *ranks_[parts_.ranks.place_of(rank)]; }
  Lane& lane(Rank own, Rank peer, std::uint8_t number);
  // Whose memory a packet is for, here.
  Rank target(const RdmaPacket& in) const {
    return in.named.members > 1 ? parts_.ranks.rank_at(self_, 0) : in.dest;
  }
  static bool is_placed(const Own& own, std::uint64_t address);
  // From now on `bytes` go to the host's memory: when a processor sees them, which is after all
  // that went there before.
  Ps write(std::uint64_t bytes) {
    written_ = std::max(written_, held_up(bus_.write(now(), bytes), bytes));
    return written_;
  }
  // `bytes` of the host's memory are asked for now: when they are here. What went to memory before
  // is among them.
  Ps read(std::uint64_t bytes) {
    return std::max(written_, held_up(bus_.read(now(), bytes), bytes));
  }
  // A host stores `bytes` into the interface now: when they are there, which is after all that
  // hosts stored before.
  Ps store(std::uint64_t bytes) {
    stored_ = std::max(stored_, bus_.store(now(), bytes));
    return stored_;
  }
  // What needs no transfer: when all that went to memory before is seen there.
  Ps behind_writes() const { return std::max(written_, now()); }
  // `bytes` of the interface's own memory are read or written: when that begins.
  Ps own_memory(std::uint64_t bytes) {
    if (ni_.memory_rate.count == 0) return now();
    return sdram_.acquire(now(), time_for(Bytes{bytes}, ni_.memory_rate));
  }
  // As write(), but for memory that lies in the interface.
  Ps to_memory(const Own& own, std::uint64_t address, std::uint64_t bytes);
  // As read(), likewise.
  Ps from_memory(const Own& own, std::uint64_t address, std::uint64_t bytes);
  Ps held_up(Ps end, std::uint64_t bytes);
  bool locate(Rank rank, const RdmaPacket& in, std::uint64_t key, std::uint64_t offset,
              std::uint64_t size, Access access, std::uint64_t* address);
  // Its memory's owner counts what is written there.
  static bool is_told(const Own& own, const RdmaPacket& in);
  std::uint64_t word(Own& own, std::uint64_t address, std::uint32_t bytes);

  // --- Command processor (elan_ni.cc).
  void on_command(std::uint32_t id);
  void on_descriptor(std::uint32_t id);
  void begin(std::uint32_t message);
  void on_thread(std::uint32_t id);
  void on_slots(std::uint32_t id);

  // --- DMA thread.
  void next_of(Rank own, Rank peer, std::uint8_t number);
  void run(std::uint32_t message);
  void pump();
  std::uint32_t cut(std::uint32_t message);
  void on_started(std::uint32_t id);
  void on_fetched(std::uint32_t id);
  void open_some();
  void on_looped(std::uint32_t id);
  void on_retry(std::uint32_t id);
  void sent_to_queue(std::uint32_t id);
  bool try_again(std::uint32_t id);
  void on_again(std::uint32_t id);
  void give_up(std::uint32_t id);
  void on_looked(std::uint32_t id);
  void part_done(std::uint32_t id, hw::Outcome outcome);
  void complete(std::uint32_t message, bool ok);
  void tell(Rank rank, const RdmaCompletion& completion, std::uint64_t bytes);
  void on_told(std::uint32_t id);

  // --- Thread processor: messages (elan_thread.cc).
  Tport& tport(Rank rank, std::uint16_t chan);
  bool is_message(const RdmaPacket& sent);
  void open_tport(const RdmaPacket& asked);
  void take_message(std::uint32_t id);
  void to_thread(std::uint32_t id);
  void next_of_thread();
  void on_matched(std::uint32_t id);
  void do_request(const RdmaPacket& asked);
  void on_delivering(std::uint32_t id);
  void on_delivered(std::uint32_t id);
  void on_telling(std::uint32_t id);
  void on_matching_told(std::uint32_t id);
  // False: it is none of the thread's.
  bool end_fetch(std::uint32_t operation, bool ok);

  // --- Reductions (elan_reduce.cc): part of the DMA thread and of the inputter, and, where
  // interfaces combine, of the thread processor.
  std::uint32_t operand_bytes_max(const RdmaPacket& message) const;
  void pump_reduction(std::uint32_t message);
  std::uint32_t cut_operand(std::uint32_t message);
  void open_operand(std::uint32_t id);
  std::uint32_t copy_of(std::uint32_t id);
  void take_reduced(std::uint32_t id);
  void on_result(std::uint32_t id);
  void on_reduced(std::uint32_t id);
  void take_operand(std::uint32_t id);
  void on_operand(std::uint32_t id);
  void all_operands(std::uint32_t id);
  void on_built(std::uint32_t id);
  void on_result_below(std::uint32_t id);
  void send_below(std::uint32_t id);

  // --- The other job (elan_background.cc).
  void background_done(std::uint32_t message);
  void on_background_posted(std::uint32_t message);
  void on_background(std::uint32_t message);

  // --- MMU (elan_mmu.cc): the walks for pages that its TLB lacks.
  Cycles walks(Rank rank, const RdmaPacket& names, std::uint64_t key, std::uint64_t offset,
               std::uint64_t bytes, Access access);
  // For what an arrived packet reads or writes here; a get's pages are looked up as its data leave.
  Cycles walks_for(const RdmaPacket& in);
  Cycles walks_of_source(const RdmaPacket& leaving);

  // --- Inputter (elan_input.cc).
  void answer(std::uint32_t id, hw::Outcome outcome);
  void answer_again(std::uint32_t id);
  void on_input(std::uint32_t id);
  void take_slot(std::uint32_t id);
  void on_received(std::uint32_t id);
  bool take_block(std::uint32_t id);
  void on_block(std::uint32_t id);
  void on_written(std::uint32_t id);
  void all_came(Rank rank, std::uint32_t id, std::uint64_t address, bool refused);
  void serve_read(std::uint32_t id);
  void serve_atomic(std::uint32_t id);
  void on_atomic(std::uint32_t id);
  void serve_query(std::uint32_t id);
  void on_test(std::uint32_t id);
  void on_commit(std::uint32_t id);
  void on_stored(std::uint32_t id);

  // --- Events.
  void bump(Rank rank, std::uint16_t id);
  void on_counted(std::uint32_t id);
  void on_event_word(std::uint32_t id);
  void on_seen(std::uint32_t id);
  void look(Rank rank, Event& event);
  std::uint64_t value(Own& own, const Event& event);

  const ElanParts& parts_;
  const hw::ElanParams& ni_;
  Peer self_;
  hw::BurstBus bus_;
  Ps stored_{};   // when the last of what hosts stored so far is in the interface
  Ps written_{};  // when the last of what went to the host's memory so far is seen there
  sim::Server command_;
  sim::Server dma_;
  sim::Server input_;
  sim::Server thread_;
  sim::Server sdram_;  // its own memory
  hw::TableCache tlb_;
  sim::Server loop_;  // what goes from rank to rank of this node, one after another
  std::vector<std::unique_ptr<Own>> ranks_;
  std::unique_ptr<hw::HostMemory> memory_;  // where several ranks share it
  Ring<std::uint32_t> thread_takes_;        // what the program that matches is to take up
  bool thread_matches_ = false;
  std::vector<Fetch> fetches_;
  std::vector<std::uint32_t> free_fetches_;
  Ring<std::uint32_t> runnable_;  // messages with packets to send
  Ring<std::uint32_t> ready_;     // packets that wait for a circuit
  std::uint32_t fetching_ = 0;    // packets between runnable_ and their circuits
  std::uint32_t sliced_ = 0;      // of the first of runnable_, in a row
  std::uint32_t open_ = 0;        // circuits
  std::unordered_map<std::uint32_t, Coming> coming_;  // by message
  // Parts of reductions that are in the network, by their names.
  struct Reducing {
    std::uint32_t message;
    std::uint64_t offset;
    std::uint32_t bytes;
  };
  std::unordered_map<std::uint64_t, Reducing> reducing_;
  // Operands of a part that this interface combines: its own host's, then its children's.
  static constexpr std::uint32_t kReductionChildren = 4;
  struct Gathering {
    std::uint32_t operands[1 + kReductionChildren] = {};
    bool has[1 + kReductionChildren] = {};
    std::uint32_t come = 0;
  };
  std::unordered_map<std::uint64_t, Gathering> gathering_;
  BackgroundTraffic background_;
};

}  // namespace fairlead::fabric::model
