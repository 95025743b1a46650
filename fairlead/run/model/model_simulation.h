// What both bodies of a modelled rank share: the machine, the stacks of the ranks' tasks, and how a
// run ends and is reported.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/base/trace.h"
#include "fairlead/base/wait_ladder.h"
#include "fairlead/fabric/fault_plan.h"
#include "fairlead/fabric/model/machine.h"
#include "fairlead/lci/model_endpoint.h"
#include "fairlead/run/layer_costs.h"
#include "fairlead/run/run_options.h"
#include "fairlead/run/run_report.h"
#include "fairlead/sim/task.h"

namespace fairlead::run {

class ModelSimulation {
 public:
  // `options` outlive it. `trace`: the whole trace, or a part beside those of ranks' processes.
  explicit ModelSimulation(const WorldOptions& options,
                           TraceWriter::Form trace = TraceWriter::Form::whole)
      : options_(options), trace_form_(trace) {}

  const WorldOptions& options() const { return options_; }
  // Which rank is on which node of the machine.
  EvenNodes ranks() const { return {options_.ranks, std::max(options_.ranks_per_node, 1U)}; }
  // Nodes of the machine: those without ranks are part of it (windows, routes), and idle.
  std::uint32_t nodes() const { return std::max(options_.nodes, ranks().count()); }
  // What the options set otherwise than the platform's file.
  hw::PlatformChanges changes() const {
    return {options_.topology, options_.set, options_.faster, implementation_->steps()};
  }
  // The implementation asked for, of those of the platform's NIs. Error: lists what is known, or an
  // option is out of range.
  Result<void> choose();
  const lci::ModelImplementation& implementation() const { return *implementation_; }
  // On a machine of nodes() nodes whose packets hold buffer_bytes().
  Result<void> make(std::unique_ptr<fabric::model::Machine> machine);
  std::uint32_t buffer_bytes() const { return implementation_->buffer_bytes(); }
  fabric::model::Machine& machine() { return *machine_; }
  sim::FiberPool& stacks() { return *pool_; }
  // Or nullptr: nothing is counted.
  fabric::model::Figures* figures() { return figures_.get(); }
  const lci::Fatal& fatal() const { return fatal_; }
  const LayerCosts& layer_costs() const { return layer_costs_; }
  // Who is in trouble, for failed checks in the rank's task.
  CheckContext check_of(Rank rank) const;

  // A rank, or the implementation below it, ends the job; the first reason is kept. From an event.
  void fail(Rank rank, int code, const std::string& reason);
  // The rank has ended, its last charges included: the fault plan cannot kill it any more. From its
  // task.
  void rank_ended(Rank rank);
  // Nothing more is simulated. From an event.
  void stop();
  bool stopped() const { return stopped_; }

  // How many events may pass between two looks at the real clock.
  static constexpr std::uint32_t kEventsPerLook = 1u << 12;
  // Between events: ends a job that has outlived its timeout, and tells how far it is where the
  // options ask for that and it is time.
  void look();
  void tell_progress();
  // "virtual time 12.3 ms, 210000 events, 3 of 16 ranks done".
  std::string progress() const { return progress(ended_count_); }
  // With the ranks that are done as another one counts them.
  std::string progress(std::uint32_t done) const;
  bool all_ended() const { return ended_count_ == options_.ranks; }
  // After the last event: a deadlock is a failure, and so is a trace that could not be written;
  // a failure under a fault plan says what the plan did and how to see it again.
  void conclude();

  // Empty: none.
  const std::string& failure() const { return failure_; }
  int exit_code() const { return exit_code_; }
  // Nobody's fault, where a rank did not begin it.
  std::optional<Rank> failed_rank() const { return failed_rank_; }
  // Adds what is known here: time, events, digest, the machine's counters.
  void report(RunReport& report);

 private:
  Result<void> add_faults();
  Result<void> add_trace();
  void kill(Rank rank);
  void blame();

  const WorldOptions& options_;
  TraceWriter::Form trace_form_;
  std::unique_ptr<lci::ModelImplementation> implementation_;
  lci::Fatal fatal_;
  LayerCosts layer_costs_;
  std::optional<fabric::FaultPlan> plan_;
  std::unique_ptr<TraceWriter> trace_;
  std::unique_ptr<fabric::model::Machine> machine_;
  std::shared_ptr<fabric::model::Figures> figures_;
  std::unique_ptr<sim::FiberPool> pool_;
  std::string failure_;
  int exit_code_ = 0;
  std::optional<Rank> failed_rank_;
  bool stopped_ = false;
  std::vector<bool> ended_;
  std::uint32_t ended_count_ = 0;
  Ps ended_at_{};                                   // the last of them so far
  std::vector<fabric::model::PathShare> end_path_;  // to that end
  Ps began_ = nanoseconds(monotonic_ns());
  Ps told_ = began_;  // when progress was
  std::uint64_t told_events_ = 0;
};

}  // namespace fairlead::run
