// Links whose packets open a circuit and hold it until they are acknowledged, as QsNet's do
// (Quadrics paper, section 2.2.1): the head takes one virtual channel of each link after the other,
// the data stream behind it, the destination answers, and the end of packet (EOP), which follows
// the acknowledgment, frees what it passes. A multicast (branches.h) holds a tree of channels; the
// switches combine the answers, the worst of which arrives at the source.
//
// Packets of several sources that stream over one link at the same time have an equal share of its
// rate each, until one ends; those of one source, which has one engine to send them, stream one
// after another. A multicast goes at the pace of its slowest branch. Answers and ends travel an
// open circuit and wait for nobody. On a fat tree whose hosts are in order the way up is chosen
// switch by switch where the network is adaptive: the link with the fewest holders and waiters,
// ties in turn. Where the paper is silent these are decisions of this model.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "fairlead/base/units.h"
#include "fairlead/hw/branches.h"
#include "fairlead/hw/network_params.h"
#include "fairlead/hw/topology.h"
#include "fairlead/sim/engine.h"

namespace fairlead::hw {

// How a destination answers a packet; of several answers the largest counts.
enum class Outcome : std::uint8_t {
  done,
  unsuccessful,  // a transaction's condition did not hold, or there was no room
  refused,       // what it names is not permitted there
  broken,        // something went wrong on the wire: whether the packet was taken is not known
};

struct CircuitSink {
  // The whole packet is at `destination`, who calls answer() once, now or later.
  void (*arrived)(void* context, Peer destination, std::uint32_t packet) = nullptr;
  // The combined answer is at the source, and the EOP leaves.
  void (*acknowledged)(void* context, Peer source, std::uint32_t packet, Outcome outcome) = nullptr;
  // The EOP is at these of its destinations, with what it tells: of packets that ask for it only.
  void (*ended)(void* context, Peer first, Peer last, std::uint32_t packet,
                Outcome outcome) = nullptr;
  // As above: no more of its ends come. `first` is the packet's.
  void (*closed)(void* context, Peer first, std::uint32_t packet) = nullptr;
  void* context = nullptr;
};

// What of a packet and its circuit may break on the way from or to one destination.
enum class Leg : std::uint8_t { packet, answer, end };

// Where the wires are not what they should be. A packet that breaks on its way to a destination
// does not arrive there: its switch answers instead, at once. An answer that breaks becomes
// Outcome::broken, which wins over all others, and so does an EOP that does: those destinations are
// not told of the end, and the source, whom the switches tell, has to try again. What a switch
// combines or sends itself does not break.
struct WireBreaks {
  bool (*breaks)(void* context, Peer source, Peer destination, Leg leg) = nullptr;
  void* context = nullptr;
};

// The switch at the end of a link has a packet that was lifted there.
struct LiftSink {
  void (*lifted)(void* context, std::uint32_t packet) = nullptr;
  void* context = nullptr;
};

struct CircuitRequest {
  std::uint32_t packet;
  Peer source;
  Peer first;  // destinations: a range, for more than one on a network that multicasts() only,
  Peer last;   // the source among them; else not the source
  std::uint64_t bytes;
  bool urgent = false;     // before others that wait
  bool tells_end = false;  // ended() is called
};

class Circuits {
 public:
  static constexpr std::uint32_t kChannelsMost = 4;  // virtual ones of a link and direction

  // All outlive it. Events have the packet's source as their source.
  Circuits(sim::Engine& engine, const NetworkParams& params, const Topology& topology);
  void attach(CircuitSink sink) { sink_ = sink; }
  void attach(LiftSink sink) { lift_sink_ = sink; }
  // nullptr: nothing breaks.
  void attach(const WireBreaks* breaks) { breaks_ = breaks; }
  bool multicasts() const { return topology_.ordered_fat_tree() != nullptr; }

  // The packet's head leaves at `at`. Returns the circuit.
  std::uint32_t open(Ps at, const CircuitRequest& request);
  // An operand goes up one link of a fat tree to the switch at its end, which answers at once:
  // LiftSink tells when it is there, and acknowledged() its source if that is where
  // the link begins.
  void lift(Ps at, std::uint32_t packet, Peer source, ChannelId link, std::uint64_t bytes);
  // A switch sends `packet` to hosts first .. last, from the one that a multicast to them has as
  // its root; as for a multicast, arrived() is told, and who gets it answers. Returns the circuit.
  std::uint32_t spread(std::uint32_t packet, Peer first, Peer last, std::uint64_t bytes);
  // `destination`, where the circuit's packet has arrived, answers now.
  void answer(std::uint32_t circuit, Peer destination, Outcome outcome);

  // Time heads spent blocked, all together.
  Ps blocked() const { return blocked_; }
  // Adds to `busy`, by channel, how long each carries packets, which is less than it is taken. It
  // outlives this.
  void count(std::vector<Ps>& busy) { busy_ = &busy; }
  std::uint32_t open_now() const {
    return static_cast<std::uint32_t>(worms_.size() - free_.size());
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // A packet and its circuit.
  struct Worm {
    CircuitRequest request{};
    const Branches* branches = nullptr;
    std::vector<ChannelId> path;        // channels up to the root, or all of a unicast
    std::vector<ChannelId> fixed_path;  // of a unicast whose way is not chosen here
    std::uint32_t top = 0;              // of a unicast on a fat tree: where it turns
    std::uint32_t level = 0;
    std::uint64_t copy = 0;
    std::uint32_t heads = 0;    // not yet at a host
    std::uint32_t pending = 0;  // answers
    Outcome outcome = Outcome::done;
    bool streaming = false;
    std::uint32_t share = 1;     // its rate is a link's divided by that
    std::uint32_t schedule = 0;  // of its tail: older events say nothing
    Ps left{};                   // of its data, as time on a link of its own
    Ps since{};                  // `left` was so then
    Ps acknowledged{};           // the latest answer so far is at the source
    bool lifts = false;          // its one link's end is where it goes
    bool of_switch = false;      // no host has sent it
    std::vector<Peer> untold;    // destinations that its EOP did not reach
  };
  // Who waits: a worm's head, of a branch of a multicast or (kNone) of the way up.
  struct Waiter {
    std::uint32_t worm = kNone;
    std::uint32_t branch = kNone;
    std::uint32_t next = kNone;
    Ps asked{};
  };
  struct Queue {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
    std::uint32_t length = 0;
  };
  struct Link {
    Ps free_at[kChannelsMost] = {};  // kNever: taken
    std::uint32_t holder[kChannelsMost] = {kNone, kNone, kNone, kNone};
    Queue waiting;
    std::uint32_t taken = 0;
  };
  // A switch that multicasts branch in.
  struct Fork {
    std::uint32_t holder = kNone;
    Ps free_at{};
    Queue waiting;
  };

  static void on_head(void* self, std::uint64_t packet, std::uint64_t place);
  static void on_tail(void* self, std::uint64_t packet, std::uint64_t word);
  static void on_ack(void* self, std::uint64_t packet, std::uint64_t worm);
  static void on_end(void* self, std::uint64_t packet, std::uint64_t worm);

  std::uint32_t take_worm();
  std::uint32_t new_worm(const CircuitRequest& request);
  ChannelId next_channel(Worm& worm);
  ChannelId way_up(Worm& worm, const FatTree& tree);
  void ask(std::uint32_t worm, std::uint32_t branch);
  void granted(std::uint32_t worm, std::uint32_t branch, ChannelId channel, Ps when);
  void head_moved(std::uint32_t worm, std::uint32_t branch);
  void ask_fork(std::uint32_t worm, std::uint32_t branch);
  void forked(std::uint32_t worm, std::uint32_t branch, Ps when);
  void begin_stream(std::uint32_t worm);
  void stream(std::uint32_t worm);
  void next_of(Peer source);
  void pace_others(std::uint32_t worm);
  void pace(std::uint32_t worm);
  std::uint32_t share_of(const Worm& worm) const;
  void schedule_tail(std::uint32_t worm);
  bool breaks(const Worm& worm, Peer destination, Leg leg) const {
    return breaks_ != nullptr && !worm.of_switch && !worm.lifts &&
           breaks_->breaks(breaks_->context, worm.request.source, destination, leg);
  }
  void break_ends(Worm& worm);
  void close(std::uint32_t worm);
  void free_channel(ChannelId channel, std::uint32_t worm, Ps when);
  void free_fork(std::uint32_t fork, Ps when);
  void wait_in(Queue& queue, std::uint32_t worm, std::uint32_t branch);
  Waiter leave(Queue& queue);
  // Calls visit(channel) for every link that the worm holds.
  template <class Visit>
  void for_each_channel(const Worm& worm, Visit&& visit) const;
  std::uint32_t channels_to_host(const Worm& worm) const;
  bool at_end(const Worm& worm) const {
    if (worm.lifts) return worm.path.size() == 1;
    return !worm.path.empty() && worm.path.back() == topology_.channel_to_host(worm.request.last);
  }
  const Branches& branches(Peer first, Peer last);

  sim::Engine& engine_;
  const NetworkParams& params_;
  const Topology& topology_;
  CircuitSink sink_;
  LiftSink lift_sink_;
  const WireBreaks* breaks_ = nullptr;
  Ps step_;  // from link to link
  std::vector<Link> links_;
  std::vector<Fork> forks_;
  // By node: which of its packets streams, and which are at their hosts and wait for that.
  struct Source {
    std::uint32_t streams = kNone;
    std::vector<std::uint32_t> waiting;
  };
  std::vector<Source> sources_;
  std::unique_ptr<BranchingSwitches> switches_;
  std::map<std::pair<Peer, Peer>, std::unique_ptr<Branches>> branches_;
  std::vector<Worm> worms_;
  std::vector<std::uint32_t> free_;
  std::vector<Waiter> waiters_;
  std::vector<std::uint32_t> free_waiters_;
  std::vector<std::uint8_t> turn_;  // by switch that is left upwards: the port tried first
  std::vector<std::uint32_t> neighbours_;
  Ps blocked_{};
  std::vector<Ps>* busy_ = nullptr;  // counted only
};

}  // namespace fairlead::hw
