// What goes wrong on the modelled wires, by a seeded plan: packets are lost, broken, doubled or
// held back where they arrive, before the destination's NI has seen them.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/fault_plan.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/hw/network.h"
#include "fairlead/hw/topology.h"
#include "fairlead/sim/engine.h"

namespace fairlead::fabric::model {

// A machine's packets, where they arrive.
class FaultyWire {
 public:
  virtual Peer source_of(PacketId id) = 0;
  virtual void deliver(Peer node, PacketId id) = 0;
  virtual void deliver_corrupt(Peer node, PacketId id) = 0;  // its CRC check fails
  virtual void lose(Peer node, PacketId id) = 0;
  virtual PacketId twin(Peer node, PacketId id) = 0;  // the same once more

 protected:
  ~FaultyWire() = default;
};

class WireFaults {
 public:
  // The references outlive it. The plan's kills are not its business: ranks are not the wire's.
  // Error: there is no such node or cable; says how they are called.
  static Result<std::unique_ptr<WireFaults>> create(sim::Engine& engine, const hw::Network& network,
                                                    FaultyWire& wire, const FaultPlan& plan);
  WireFaults(const WireFaults&) = delete;
  WireFaults& operator=(const WireFaults&) = delete;

  // The tail of packet `id` has reached the NI of `node`; in its event.
  void arrived(Peer node, PacketId id);

  // Packets lost so far, and which was the first; empty while none was.
  std::string losses() const;

 private:
  // Long enough for the packets behind it to pass.
  static constexpr Ps kReorderHold = microseconds(100);

  // What happens to the packets from one node to another.
  struct Pair {
    std::uint64_t count = 0;  // so far
    ClauseMask clauses = 0;
  };

  WireFaults(sim::Engine& engine, const hw::Network& network, FaultyWire& wire,
             const FaultPlan& plan)
      : engine_(engine), network_(network), wire_(wire), plan_(plan) {}
  Pair& pair(Peer source, Peer node);
  static void on_held(void* self, std::uint64_t packet, std::uint64_t node);
  void lose(Peer source, Peer node, PacketId id);

  sim::Engine& engine_;
  const hw::Network& network_;
  FaultyWire& wire_;
  FaultPlan plan_;
  std::vector<std::array<hw::ChannelId, 2>> cables_;  // by clause, those of cables
  std::unordered_map<std::uint64_t, Pair> pairs_;
  std::uint64_t lost_ = 0;
  std::string first_lost_;
};

}  // namespace fairlead::fabric::model
