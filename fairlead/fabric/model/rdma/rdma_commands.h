// A rank's commands to its host beside an RDMA engine, in the simulator: checked, then done on the
// RdmaHost of the rank's node.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_set>

#include "fairlead/base/result.h"
#include "fairlead/fabric/model/rank_commands.h"
#include "fairlead/fabric/model/rdma/rdma_gate.h"
#include "fairlead/fabric/model/rdma/rdma_host.h"
#include "fairlead/fabric/network_reduction.h"

namespace fairlead::fabric::model {

class RdmaCommands final : public RankCommands {
 public:
  // The interface reaches that host's memory as `memory`. Both outlive it. `ranks`: of the job.
  RdmaCommands(RdmaHost& host, Rank ranks, RankMemory& memory);

  Ps now() const override { return host_.now(); }
  void advance(Ps work) override { host_.advance(work); }
  bool ahead() const override { return host_.ahead(); }
  void sync() override { host_.sync(); }
  void compute(Ps time, Ps /*watchdog*/) override {
    end_handler();
    host_.advance(time);
    host_.sync();
  }
  void block(Ps deadline, const char* what, bool /*for_more*/) override {
    end_handler();
    host_.sleep(deadline, false, what);
  }
  Result<void> execute(const GateCommand& command, GateAnswer& answer) override;
  void show(GateSlot& slot) override;

 private:
  // More than a library of sense ever holds.
  static constexpr std::size_t kHeldMax = 1 << 16;

  Result<void> ring(std::uint32_t packet);
  Result<void> name(const GateCommand& command);
  Result<void> interrupt(const GateCommand& command, GateAnswer& answer);
  // A handler that sleeps or computes is none: its rank's memory is damaged.
  void end_handler() {
    if (host_.serving()) host_.served(true);
  }
  Result<void> check_named(const RdmaEntry& entry) const;
  Result<void> check_reduction(const RdmaEntry& entry);
  Result<void> check_tport(const RdmaEntry& entry) const;
  Result<void> return_buffers(const GateCommand& command);

  RdmaHost& host_;
  Rank ranks_;
  std::unordered_set<std::uint32_t> held_;  // packets that are the rank's
  // Who combines its reductions: the first one says so for all, as their names do not.
  std::optional<ReduceWhere> combines_;
  // How many reductions of those ranks it has begun, by who combines.
  std::map<std::tuple<Rank, std::uint32_t, std::uint8_t>, std::uint64_t> reductions_;
};

}  // namespace fairlead::fabric::model
