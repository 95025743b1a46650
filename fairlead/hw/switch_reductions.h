// Switches of a fat tree that combine operands on their way up and send the result down to all: a
// mechanism that networks of today have, and that QsNet's Elites had not.
//
// An operand is a packet of at most NetworkParams::reduction_bytes. It goes up the tree of the
// multicasts to the same hosts (branches.h), link by link, among the other packets there; each
// switch takes what comes into memory of its own, at the link's rate, and when it has the operands
// of all its ports that lead to members it sends one packet up in their place. The root sends the
// result to all members as a multicast of the network's. A switch combines so many bytes a second,
// of all ports together, as they come, and what it makes of them leaves so long after the last one
// was combined. Operands are combined in the order of the ports, so that what comes out does not
// depend on who came first.
//
// A packet goes up one link at a time, so that it waits for no two links at once; its memory in a
// switch is bounded by what members may have under way (reductions_ahead, and how many reductions
// their interfaces hold). So operands always go on, and a result waits as a multicast does.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fairlead/hw/branches.h"
#include "fairlead/hw/network_params.h"
#include "fairlead/hw/topology.h"
#include "fairlead/sim/engine.h"
#include "fairlead/sim/resource.h"

namespace fairlead::hw {

class BufferedLinks;
class Circuits;

struct Operand {
  std::uint32_t packet;  // the network's until it is combined, or is a result
  Peer source;
  Peer first;  // members: so many nodes, one after another, two at least, `source` among them
  Peer last;
  std::uint64_t name;   // the same at all of them, another for each reduction under way
  std::uint64_t bytes;  // with headers
};

struct ReductionSink {
  // `operand` is combined into `into`, which goes on; the network needs `operand` no more.
  void (*combine)(void* context, std::uint32_t into, std::uint32_t operand) = nullptr;
  // `packet` is the result, and about to be sent to all members. `circuit`: where links are
  // circuits, the one that each member answers.
  void (*result)(void* context, std::uint32_t packet, Peer first, Peer last,
                 std::uint32_t circuit) = nullptr;
  // It is at a member, where links have buffers; elsewhere it arrives as what holds a circuit.
  void (*arrived)(void* context, Peer destination, std::uint32_t packet) = nullptr;
  void* context = nullptr;
};

class SwitchReductions {
 public:
  // All outlive it; one kind of links, the other is nullptr. The tree's hosts are in order.
  SwitchReductions(sim::Engine& engine, const NetworkParams& params, const Topology& topology,
                   Circuits* circuits, BufferedLinks* buffered);
  void attach(ReductionSink sink) { sink_ = sink; }

  // It leaves its source from `at` on.
  void inject(Ps at, const Operand& operand);

  // --- By the links.
  // Its last byte is in the switch at the link's end.
  void lifted(std::uint32_t packet);
  void arrived(Peer destination, std::uint32_t packet) {
    sink_.arrived(sink_.context, destination, packet);
  }

  // Reductions of which a switch has some operands, and lacks others.
  std::size_t open() const { return open_.size(); }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // What a switch has of one reduction.
  struct Meeting {
    std::vector<std::uint32_t> operands;  // by port; kNone: not yet
    std::uint32_t come = 0;
    Ps ready{};
  };
  // A packet on its way up, or in the switch of that level over its source.
  struct Climbing {
    Operand operand;
    std::uint32_t level;
  };
  // The ports of a switch that lead to members: the first one's number, and how many.
  struct Ports {
    Peer first;
    std::uint32_t count;
  };

  std::uint64_t hosts_of_port(std::uint32_t level) const {
    return level == 0 ? 1 : tree_.hosts_below(level - 1);
  }
  Ports ports_of(const Climbing& at) const;
  const Branches& branches(Peer first, Peer last);
  void lift(Ps at, const Climbing& climbing, ChannelId channel);
  static void on_combined(void* self, std::uint64_t packet, std::uint64_t key);
  void combined(std::uint32_t packet);
  void spread(const Operand& operand);

  sim::Engine& engine_;
  const NetworkParams& params_;
  const Topology& topology_;
  const FatTree& tree_;
  Circuits* circuits_;
  BufferedLinks* buffered_;
  ReductionSink sink_;
  BranchingSwitches switches_;
  std::map<std::pair<Peer, Peer>, std::unique_ptr<Branches>> branches_;
  std::unordered_map<std::uint32_t, Climbing> climbing_;             // by packet
  std::map<std::pair<std::uint32_t, std::uint64_t>, Meeting> open_;  // by switch and name
  std::vector<sim::Server> units_;                                   // by branching switch
};

}  // namespace fairlead::hw
