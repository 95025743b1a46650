// The simulator's side of one rank's gate: takes what the rank's process asks for, checks it, and
// does it on the rank's modelled host in the rank's task, where virtual time passes. A rank's
// process is not trusted: whatever it wrote is checked before it is used.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "fairlead/base/result.h"
#include "fairlead/fabric/model/gate.h"
#include "fairlead/fabric/model/lanai/host_ni.h"
#include "fairlead/fabric/model/machine.h"

namespace fairlead::fabric::model {

// A machine, and the memory through which the processes of its ranks reach it.
struct SharedMachine {
  std::unique_ptr<GateMemory> memory;  // outlives the machine
  std::unique_ptr<Machine> machine;
};
// As Machine::load(), with gates for `ranks` ranks.
Result<SharedMachine> load_shared_machine(const std::string& platform_file, std::uint32_t ranks,
                                          std::uint32_t nodes, std::uint32_t payload_bytes,
                                          const hw::PlatformChanges& changes = {});

class RankGate {
 public:
  // Rank `rank` is node `rank` of `machine`, whose packets lie in `memory`. Both outlive it.
  RankGate(const GateMemory& memory, Machine& machine, Rank rank)
      : slot_(memory.slot(rank)), machine_(machine), host_(machine.host(rank)), rank_(rank) {}
  RankGate(const RankGate&) = delete;
  RankGate& operator=(const RankGate&) = delete;

  GateSlot& slot() { return slot_; }
  // In the rank's task, with the turn at the simulator: executes what is queued and leaves the
  // answer. Error: what is wrong with a command; the rank's memory is not to be relied on.
  Result<void> execute();
  // The rank's program has ended: it runs its part of a protocol only.
  bool retired() const { return retired_; }
  // Lets the rank's process go, which waits in a call; no command of it is executed any more.
  void dismiss();

 private:
  // shared: a send buffer of which there are images; the NI's once one of them is posted. detached:
  // an image of a buffer that stays the rank's.
  enum class Held : std::uint8_t { allocated, received, apart, shared, image, detached };
  struct Packet {
    std::uint16_t slot_bytes;
    Held how;
    PacketId origin = kNoPacket;  // of an image
  };

  Result<void> execute_one(const GateCommand& command);
  Result<void> post(const GateCommand& command);
  void alloc(const GateCommand& command);
  void alloc_local(const GateCommand& command);
  Result<void> image(const GateCommand& command);
  Result<void> detached_image(const GateCommand& command);
  void wait(const GateCommand& command, bool for_more);
  void leave_answer();
  // Takes the packet from the rank's, with its own number, size and place as they were given.
  bool drop(PacketId id, Held how);
  void restore(PacketId id, const Packet& as);

  GateSlot& slot_;
  Machine& machine_;
  ModelHostNi& host_;
  Rank rank_;
  std::unordered_map<PacketId, Packet> held_;  // what the rank may name
  char what_[GateSlot::kWhatBytes] = {};
  bool retired_ = false;
  bool ok_ = false;
  std::uint32_t id_ = 0;
};

}  // namespace fairlead::fabric::model
