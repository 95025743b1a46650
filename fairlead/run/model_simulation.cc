#include "fairlead/run/model_simulation.h"

#include <fmt/format.h>

#include <utility>

namespace fairlead::run {

using fabric::model::Machine;

Result<void> ModelSimulation::choose() {
  Result<lci::Implementation> implementation = lci::parse_implementation(options_.lci);
  if (!implementation.ok()) return implementation.error();
  implementation_ = std::move(implementation.value());
  return {};
}

Result<void> ModelSimulation::make(std::unique_ptr<Machine> machine) {
  machine_ = std::move(machine);
  fatal_ = [this](Rank rank, const std::string& reason) { fail(rank, 1, reason); };
  sim::FiberPoolOptions stacks;
  stacks.stack_bytes = std::size_t{options_.fiber_stack_kib} * 1024;
  stacks.max_fibers = options_.ranks;
  stacks.noun = "rank";
  stacks.advice = "give its fiber a larger stack: --stack-kib";
  Result<std::unique_ptr<sim::FiberPool>> pool = sim::FiberPool::create(stacks);
  if (!pool.ok()) return pool.error();
  pool_ = std::move(pool.value());
  return {};
}

CheckContext ModelSimulation::check_of(Rank rank) const {
  return {rank,
          [](const void* clock) {
            return static_cast<long long>(static_cast<const sim::Engine*>(clock)->now().count);
          },
          &machine_->engine()};
}

void ModelSimulation::fail(Rank rank, int code, const std::string& reason) {
  if (failure_.empty()) {
    failure_ = fmt::format("rank {}: {}", rank, reason);
    exit_code_ = code == 0 ? 1 : code;
    failed_rank_ = rank;
  }
  stop();
}

void ModelSimulation::stop() {
  stopped_ = true;
  machine_->engine().stop();
}

void ModelSimulation::conclude() {
  const sim::Engine& engine = machine_->engine();
  if (stopped_ || engine.blocked() == 0) return;
  failure_ = fmt::format("deadlock: no event is left and {} of {} ranks wait\n{}", engine.blocked(),
                         options_.ranks, sim::blocked_report(engine, "rank"));
  exit_code_ = 1;
}

void ModelSimulation::report(RunReport& report) {
  const sim::Engine& engine = machine_->engine();
  report.modelled = true;
  report.virtual_time = engine.now();
  report.events = engine.executed();
  report.digest = engine.digest();
  report.ranks.resize(options_.ranks);
  for (Rank rank = 0; rank < options_.ranks; ++rank) {
    PortCounters& counters = report.ranks[rank].counters;
    add_counters(counters, machine_->counters(rank));
    add_counters(report.counters, counters);
  }
}

}  // namespace fairlead::run
