// Wormhole-switched links: a packet's head takes one channel after the other; a blocked packet
// holds what it occupies until its tail has passed (LCI paper section 3: back-pressure, no loss).
// By its parameters a network has other links in their place: circuits.h, buffered_links.h.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fairlead/base/trace.h"
#include "fairlead/base/units.h"
#include "fairlead/hw/buffered_links.h"
#include "fairlead/hw/circuits.h"
#include "fairlead/hw/network_params.h"
#include "fairlead/hw/switch_reductions.h"
#include "fairlead/hw/topology.h"
#include "fairlead/sim/engine.h"

namespace fairlead::hw {

struct NetworkSink {
  // The whole packet is in the destination's memory; runs in the event of its tail.
  void (*arrived)(void* context, Peer destination, std::uint32_t packet) = nullptr;
  // The packet has left the source's memory.
  void (*transmitted)(void* context, Peer source, std::uint32_t packet) = nullptr;
  // Where trace(): the packet is on a line of the trace at `at`.
  void (*passed)(void* context, std::uint32_t packet, TracePlace line, Ps at) = nullptr;
  // Some events before one of these at `node` (sim::Engine::Prepare).
  void (*prepare)(void* context, Peer node, std::uint32_t packet, unsigned stage) = nullptr;
  void* context = nullptr;
};

class Network {
 public:
  // `engine` and `params` outlive the network. Events have the sending node as their source.
  Network(sim::Engine& engine, const NetworkParams& params, std::uint32_t nodes);

  void attach(NetworkSink sink) { sink_ = sink; }
  // Where packets hold circuits until they are acknowledged (NetworkParams::held_circuits):
  // inject() is not for such a network. nullptr: elsewhere.
  Circuits* circuits() { return circuits_.get(); }
  // Where switches combine operands (NetworkParams::reduction_bytes). nullptr: elsewhere.
  SwitchReductions* reductions() { return reductions_.get(); }
  const Topology& topology() const { return topology_; }

  // `bytes` of payload and LCI header leave the source's send DMA engine from `at` on, one packet
  // after the other. source != destination.
  void inject(Ps at, std::uint32_t packet, Peer source, Peer destination, std::uint64_t bytes);

  // Shows on each node's lines when its links and the network's DMA engines are taken. `writer`
  // outlives the network.
  void trace(TraceWriter& writer) { trace_ = &writer; }

  // Before the first packet: counts how long each link carries packets.
  void count();
  struct BusyLink {
    std::string name;  // empty: none carried anything, or none is counted
    Ps time{};
  };
  BusyLink busiest() const;

  // Engine::Prepare of kHeadEvent, kTailEvent.
  static void prepare_head(void* self, std::uint64_t packet, std::uint64_t worm, unsigned stage);
  static void prepare_tail(void* self, std::uint64_t packet, std::uint64_t end, unsigned stage);
  static void prepare_left(void* self, std::uint64_t packet, std::uint64_t source, unsigned stage);

  // Time heads spent blocked, all together: contention in the network.
  Ps blocked() const {
    if (buffered_ != nullptr) return buffered_->blocked();
    return circuits_ == nullptr ? blocked_ : circuits_->blocked();
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Worm {
    std::uint32_t packet = 0;
    Peer source = 0;
    Peer destination = 0;
    std::uint32_t hop = 0;
    std::uint32_t next_waiting = kNone;
    Ps wire_time{};
    Ps asked{};
    Ps entered{};   // its head is in the first channel
    Ps injected{};  // its send DMA engine has it, or, traced, began with it
    std::vector<ChannelId> path;
  };
  // Which worm has come where, in one word: whose tail comes need not be read again.
  class End {
   public:
    End(std::uint32_t worm, Peer destination) : word_(std::uint64_t{destination} << 32 | worm) {}
    explicit End(std::uint64_t word) : word_(word) {}
    std::uint64_t word() const { return word_; }
    std::uint32_t worm() const { return static_cast<std::uint32_t>(word_); }
    Peer destination() const { return static_cast<Peer>(word_ >> 32); }

   private:
    std::uint64_t word_;
  };
  struct Channel {
    Ps free_at{};
    std::uint32_t holder = kNone;
    std::uint32_t first_waiting = kNone;
    std::uint32_t last_waiting = kNone;
  };

  static void on_head(void* self, std::uint64_t packet, std::uint64_t worm);
  static void on_tail(void* self, std::uint64_t packet, std::uint64_t end);
  static void on_left(void* self, std::uint64_t packet, std::uint64_t source);
  void ask(std::uint32_t worm);
  void granted(std::uint32_t worm, Ps when);
  void head_arrived(Worm& worm, Ps when);
  void show(const Worm& worm, Ps left, Ps arriving);
  void on_line(std::uint32_t packet, TracePlace line, Ps from, Ps to, TraceDetail other);
  void show(const LinkPassage& passage);
  void buffer();
  void reduce();
  void release(ChannelId channel, Ps when);
  void free_channel(ChannelId channel, Ps when);
  std::uint32_t take_worm();
  Ps slowest_wire_time(const Worm& worm, std::uint64_t bytes) const;
  // What one channel adds to the network's switch_delay.
  Ps own_delay(ChannelId channel) const {
    return topology_.has_traits() ? topology_.traits(channel).delay : Ps{0};
  }

  sim::Engine& engine_;
  const NetworkParams& params_;
  Topology topology_;
  NetworkSink sink_;
  std::vector<Channel> channels_;
  std::vector<Worm> worms_;
  std::vector<std::uint32_t> free_worms_;
  Ps blocked_{};
  std::vector<Ps> link_busy_;  // by channel; empty: not counted
  TraceWriter* trace_ = nullptr;
  std::unique_ptr<Circuits> circuits_;
  std::unique_ptr<BufferedLinks> buffered_;  // in place of wormholes
  std::unique_ptr<SwitchReductions> reductions_;
};

}  // namespace fairlead::hw
