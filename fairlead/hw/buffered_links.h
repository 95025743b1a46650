// Links with a buffer at the end of each, as InfiniBand's: a packet is cut through where the next
// link is free, and else stays in the switch, off the link it came by. Who sends over a link has
// credits for the buffer at its other end: a packet does not begin to leave before the whole of it
// has room there. Hosts take what comes at the link's rate, so that links to them need none.
//
// Those that wait for a link go in the order in which they asked; one that has no room holds up
// those behind it, as there is one virtual lane. A packet's room is free again when its tail has
// left the switch, and the sender knows at once.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "fairlead/base/ring.h"
#include "fairlead/base/units.h"
#include "fairlead/hw/branches.h"
#include "fairlead/hw/network_params.h"
#include "fairlead/hw/topology.h"
#include "fairlead/sim/engine.h"

namespace fairlead::hw {

// A packet was on its first link, or on its last, that long.
struct LinkPassage {
  std::uint32_t packet;
  Peer source;
  Peer destination;
  Ps from;
  Ps to;
  bool last;
};

struct BufferedSink {
  // The packet's tail is at its destination; it has left its source.
  void (*arrived)(void* context, Peer destination, std::uint32_t packet) = nullptr;
  void (*transmitted)(void* context, Peer source, std::uint32_t packet) = nullptr;
  // A packet that was lifted is in the switch at its link's end; one that was spread is at a host.
  void (*lifted)(void* context, std::uint32_t packet) = nullptr;
  void (*spread)(void* context, Peer destination, std::uint32_t packet) = nullptr;
  // Twice for each packet: on its first link, and on its last; where it is on a host's.
  void (*passed)(void* context, const LinkPassage& passage) = nullptr;
  void* context = nullptr;
};

class BufferedLinks {
 public:
  // All outlive it.
  BufferedLinks(sim::Engine& engine, const NetworkParams& params, const Topology& topology);

  void attach(BufferedSink sink) { sink_ = sink; }
  // As Network::inject(). What is longer than a buffer begins when that is empty.
  void inject(Ps at, std::uint32_t packet, Peer source, Peer destination, std::uint64_t bytes);
  // One link up a fat tree from `at` on, to the switch at its end, which has memory for what comes.
  void lift(Ps at, std::uint32_t packet, Peer source, ChannelId link, std::uint64_t bytes);
  // From a switch to hosts, along those branches from now on: each switch copies it, and a copy
  // waits for its link there. `branches` outlive it. Events have `source` as their source.
  void spread(std::uint32_t packet, Peer source, const Branches& branches, std::uint64_t bytes);
  // Time heads have waited, all together.
  Ps blocked() const { return blocked_; }
  // Adds to `busy`, by channel, how long each carries packets. It outlives this.
  void count(std::vector<Ps>& busy) { busy_ = &busy; }

 private:
  enum class Way : std::uint8_t { to_host, lifted, spread };
  struct Passing {
    Way way = Way::to_host;
    std::uint32_t branch = 0;  // spread: of these
    const Branches* branches = nullptr;
    std::uint32_t packet = 0;
    Peer source = 0;
    Peer destination = 0;
    std::uint32_t hop = 0;
    std::uint64_t bytes = 0;
    Ps asked{};
    Ps tail{};  // when the tail is where the head waits
    std::vector<ChannelId> path;
  };
  struct Link {
    bool taken = false;
    std::uint64_t room = 0;  // in the buffer at its end
    Ring<std::uint32_t> waiting;
  };
  using Handler = void (BufferedLinks::*)(std::uint32_t passing, ChannelId link);

  template <Handler handler>
  void at(Ps when, sim::EventKind kind, std::uint32_t passing, ChannelId link) {
    engine_.at(
        when, passing_[passing].source, kind,
        [](void* self, std::uint64_t id, std::uint64_t on) {
          (static_cast<BufferedLinks*>(self)->*handler)(static_cast<std::uint32_t>(id),
                                                        static_cast<ChannelId>(on));
        },
        this, passing, link);
  }
  void on_head(std::uint32_t passing, ChannelId link);
  void on_tail_left(std::uint32_t passing, ChannelId link);
  void on_arrived(std::uint32_t passing, ChannelId link);
  void serve(ChannelId link);
  std::uint32_t take_passing(Way way, std::uint32_t packet, Peer source, std::uint64_t bytes);
  void pass_reduction(std::uint32_t passing, Ps head, Ps tail);
  void copy(const Passing& from, std::uint32_t first, std::uint32_t count, Ps head, Ps tail);
  // On a host's own cable, in that direction.
  bool from_host(ChannelId link) const { return link < topology_.channel_to_host(0); }
  bool to_host(const Passing& passing) const { return passing.hop + 1 == passing.path.size(); }
  std::uint64_t room_for(const Passing& passing) const {
    return to_host(passing) ? 0 : std::min<std::uint64_t>(passing.bytes, params_.buffer_bytes);
  }
  void show(const Passing& passing, Ps from, Ps to, bool last) const;
  Ps time_on(ChannelId link, std::uint64_t bytes) const;

  sim::Engine& engine_;
  const NetworkParams& params_;
  const Topology& topology_;
  BufferedSink sink_;
  std::vector<Link> links_;
  std::vector<Passing> passing_;
  std::vector<std::uint32_t> free_;
  Ps blocked_{};
  std::vector<Ps>* busy_ = nullptr;  // counted only
};

}  // namespace fairlead::hw
