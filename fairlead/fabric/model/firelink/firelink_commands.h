// A rank's commands to its Fire Link host, in the simulator: checked, then done on the rank's
// FirelinkHost.
#pragma once
#include <cstdint>
#include <unordered_set>

#include "fairlead/base/result.h"
#include "fairlead/fabric/model/firelink/firelink_gate.h"
#include "fairlead/fabric/model/firelink/firelink_machine.h"
#include "fairlead/fabric/model/rank_commands.h"

namespace fairlead::fabric::model {

class FirelinkCommands final : public RankCommands {
 public:
  // The machine reaches the rank's memory as `memory`. Both outlive it.
  FirelinkCommands(FirelinkMachine& machine, Rank rank, RankMemory& memory);

  Ps now() const override { return host_.now(); }
  void advance(Ps work) override { host_.advance(work); }
  bool ahead() const override { return host_.ahead(); }
  void sync() override { host_.sync(); }
  void compute(Ps time, Ps /*watchdog*/) override {
    host_.advance(time);
    host_.sync();
  }
  void block(Ps deadline, const char* what, bool /*for_more*/) override {
    host_.sleep(deadline, false, what);
  }
  Result<void> execute(const GateCommand& command, GateAnswer& answer) override;
  void show(GateSlot& slot) override;

 private:
  // More than a library of sense ever holds.
  static constexpr std::size_t kHeldMax = 1 << 16;

  Result<void> check(const RunOrder& order, FirelinkOp op) const;
  Result<void> begin(std::uint32_t run, FirelinkOp op, GateAnswer& answer);

  FirelinkMachine& machine_;
  FirelinkHost& host_;
  std::unordered_set<std::uint32_t> held_;  // runs that are the rank's
};

}  // namespace fairlead::fabric::model
