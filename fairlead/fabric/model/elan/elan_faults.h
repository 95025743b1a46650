// What goes wrong on QsNet's wires, by a seeded plan: packets, their acknowledgments and their ends
// (hw/circuits.h) are lost or broken, which is the same here, as a switch or an interface finds
// both and says so. And what interfaces know of packets that are sent again because of it.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/fabric/fault_plan.h"
#include "fairlead/hw/circuits.h"
#include "fairlead/sim/engine.h"

namespace fairlead::fabric::model {

class ElanFaults {
 public:
  // A packet is sent again after a time that doubles up to a most; after so many times its sender
  // gives up: 12 ms. Guessed; the paper has no such numbers.
  static constexpr std::uint32_t kTriesMost = 20;
  static constexpr Ps kPauseMost = microseconds(1000);

  // `engine` outlives it. Error: there is no such node, or wires of this kind do not do that.
  static Result<std::unique_ptr<ElanFaults>> create(const sim::Engine& engine,
                                                    const FaultPlan& plan);
  ElanFaults(const ElanFaults&) = delete;
  ElanFaults& operator=(const ElanFaults&) = delete;

  const hw::WireBreaks* wire() const { return &wire_; }

  // --- Of packets, which keep their numbers while they are sent again.
  // `node` has taken it: it does nothing when it comes once more.
  void take(std::uint32_t packet, Peer node) { repeats_[packet].taken_by.push_back(node); }
  bool has_taken(std::uint32_t packet, Peer node) const;
  // It broke: the pause before it is sent again, of which the first is `first`. kNever: no more.
  Ps pause(std::uint32_t packet, Ps first);
  // Its sender is done with it.
  void forget(std::uint32_t packet) { repeats_.erase(packet); }

  // How many broke so far, and which first; empty while none did.
  std::string losses() const;

 private:
  struct Repeats {
    std::uint32_t tries = 0;
    std::vector<Peer> taken_by;
  };
  // The way from one node to another.
  struct Pair {
    std::uint64_t count = 0;  // what went so far
    ClauseMask clauses = 0;
  };

  ElanFaults(const sim::Engine& engine, const FaultPlan& plan);
  bool breaks(Peer source, Peer destination, hw::Leg leg);

  const sim::Engine& engine_;
  const FaultPlan plan_;
  const hw::WireBreaks wire_;
  std::unordered_map<std::uint64_t, Pair> pairs_;
  std::unordered_map<std::uint32_t, Repeats> repeats_;
  std::uint64_t broken_ = 0;
  std::string first_broken_;
};

}  // namespace fairlead::fabric::model
