// The simulator's side of one rank's gate: takes what the rank's process asks for, checks it, and
// does it on the rank's modelled host in the rank's task, where virtual time passes.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "fairlead/base/result.h"
#include "fairlead/fabric/model/gate.h"
#include "fairlead/fabric/model/machine.h"
#include "fairlead/fabric/model/ni_kind.h"
#include "fairlead/fabric/model/rank_commands.h"
#include "fairlead/fabric/model/rank_memory.h"

namespace fairlead::fabric::model {

// A machine, and the memory through which the processes of its ranks reach it.
struct SharedMachine {
  std::unique_ptr<GateMemory> memory;  // outlives the machine
  std::unique_ptr<Machine> machine;
};
// As Machine::load(), with a gate for each rank.
Result<SharedMachine> load_shared_machine(const std::string& platform_file, const EvenNodes& ranks,
                                          std::uint32_t nodes, std::uint32_t payload_bytes,
                                          const hw::PlatformChanges& changes = {});

class RankGate final : private RankMemory {
 public:
  // Waits until the turn is the simulator's; false: the rank or the job is gone.
  using Await = std::function<bool()>;

  // Rank `rank` of `machine`, whose packets lie in `memory`. Both outlive it. `await`: after the
  // turn was given to the rank for a memory request.
  RankGate(const GateMemory& memory, Machine& machine, Rank rank, Await await);
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
  Result<void> execute_one(const GateCommand& command);
  void wait(const GateCommand& command, bool for_more);
  bool ask(GateMemoryRequest request);
  bool read(std::uint64_t address, std::byte* packet, std::uint64_t size) override;
  bool write(std::uint64_t address, const std::byte* packet, std::uint64_t size) override;

  const GateMemory& memory_;
  GateSlot& slot_;
  Await await_;
  std::unique_ptr<RankCommands> host_;
  GateAnswer answer_{};
  char what_[GateSlot::kWhatBytes] = {};
  bool retired_ = false;
};

}  // namespace fairlead::fabric::model
