#include "fairlead/run/model/model_simulation.h"

#include <fmt/format.h>

#include <csignal>
#include <utility>

#include "fairlead/lci/endpoint/choose_implementation.h"
#include "fairlead/run/exit_text.h"

namespace fairlead::run {

using fabric::model::Machine;

Result<void> ModelSimulation::choose() {
  const Result<const fabric::model::NiKind*> kind = fabric::model::ni_kind_on(options_.on);
  if (!kind.ok()) return kind.error();
  Result<std::unique_ptr<lci::ModelImplementation>> implementation =
      lci::choose_implementation(*kind.value(), options_.lci);
  if (!implementation.ok()) return implementation.error();
  implementation_ = std::move(implementation.value());
  return {};
}

Result<void> ModelSimulation::make(std::unique_ptr<Machine> machine) {
  Result<LayerCosts> costs = load_layer_costs();
  if (!costs.ok()) return costs.error();
  layer_costs_ = costs.value();
  machine_ = std::move(machine);
  ended_.assign(options_.ranks, false);
  if (options_.explain) machine_->explain();
  if (options_.figures || !options_.trace_path.empty()) figures_ = machine_->count();
  if (Result<void> r = add_faults(); !r.ok()) return r;
  if (Result<void> r = add_trace(); !r.ok()) return r;
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

Result<void> ModelSimulation::add_faults() {
  Result<fabric::FaultPlan> plan = fabric::parse_fault_plan(options_.faults, options_.seed);
  if (!plan.ok()) return plan.error();
  if (options_.faults.empty()) return {};
  plan_ = std::move(plan.value());
  if (Result<void> r = check_kills(*plan_, options_.ranks); !r.ok()) return r;
  for (const fabric::FaultPlan::Kill& kill : plan_->kills) {
    machine_->engine().at(
        kill.at, ranks().node_of(kill.rank), sim::kTimerEvent,
        [](void* self, std::uint64_t rank, std::uint64_t) {
          static_cast<ModelSimulation*>(self)->kill(static_cast<Rank>(rank));
        },
        this, kill.rank);
  }
  return machine_->set_faults(*plan_);
}

Result<void> ModelSimulation::add_trace() {
  if (options_.trace_path.empty()) return {};
  Result<std::unique_ptr<TraceWriter>> writer =
      TraceWriter::create(options_.trace_path, trace_form_);
  if (!writer.ok()) return writer.error();
  trace_ = std::move(writer.value());
  machine_->trace(*trace_);
  if (figures_ != nullptr) figures_->trace(*trace_);
  return {};
}

void ModelSimulation::kill(Rank rank) {
  if (!ended_[rank]) fail(rank, signal_exit_code(SIGKILL), "killed by the fault plan");
}

void ModelSimulation::blame() {
  if (failure_.ends_with('\n')) failure_.pop_back();
  const std::string losses = machine_->losses();
  failure_ += fmt::format("{}{}; to see it again: {}", losses.empty() ? "" : "; ", losses,
                          fabric::repeat_line(*plan_));
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

void ModelSimulation::rank_ended(Rank rank) {
  ended_[rank] = true;
  ++ended_count_;
  ended_at_ = machine_->engine().now();
  end_path_ = machine_->critical_path();
  if (figures_ != nullptr) {
    figures_->host_ended(rank);
    if (all_ended()) figures_->conclude(ended_at_);
  }
  machine_->rank_ended(rank);
  if (all_ended()) machine_->all_ended();
}

void ModelSimulation::stop() {
  stopped_ = true;
  machine_->engine().stop();
}

std::string ModelSimulation::progress(std::uint32_t done) const {
  const sim::Engine& engine = machine_->engine();
  const Ps now = engine.now();
  const bool short_yet = now < milliseconds(1);
  return fmt::format("virtual time {:.3f} {}, {} events, {} of {} ranks done",
                     short_yet ? to_us(now) : to_us(now) / 1e3, short_yet ? "us" : "ms",
                     engine.executed(), done, options_.ranks);
}

void ModelSimulation::tell_progress() {
  if (options_.progress == kNever) return;
  const Ps now = nanoseconds(monotonic_ns());
  if (now - told_ < options_.progress) return;
  const std::uint64_t events = machine_->engine().executed();
  fmt::print(stderr, "{}, {:.0f} events/s\n", progress(),
             static_cast<double>(events - told_events_) / to_seconds(now - told_));
  told_ = now;
  told_events_ = events;
}

void ModelSimulation::look() {
  tell_progress();
  if (options_.timeout == kNever || !failure_.empty()) return;
  if (nanoseconds(monotonic_ns()) - began_ < options_.timeout) return;
  failure_ = fmt::format("the job outlived its --timeout of {:g} s and was ended; {}\n{}",
                         to_seconds(options_.timeout), progress(),
                         sim::blocked_report(machine_->engine(), "rank"));
  exit_code_ = kTimeoutExitCode;
  stop();
}

void ModelSimulation::conclude() {
  const sim::Engine& engine = machine_->engine();
  // Those that ended may linger for what their peers may need of them (lci::Endpoint).
  if (!stopped_ && !all_ended() && engine.blocked() > 0) {
    failure_ = fmt::format("deadlock: no event is left and {} of {} ranks wait\n{}",
                           options_.ranks - ended_count_, options_.ranks,
                           sim::blocked_report(engine, "rank"));
    exit_code_ = 1;
  }
  if (!failure_.empty() && plan_.has_value()) blame();
  if (trace_ == nullptr) return;
  const Result<void> closed = trace_->close();
  if (closed.ok() || !failure_.empty()) return;
  failure_ = closed.error().text;
  exit_code_ = 1;
}

void ModelSimulation::report(RunReport& report) {
  const sim::Engine& engine = machine_->engine();
  report.modelled = true;
  report.platform_changes = machine_->platform().changes;
  // Timers and acknowledgments of the network interfaces may outlast the ranks.
  const bool complete = all_ended();
  report.virtual_time = complete ? ended_at_ : engine.now();
  report.events = engine.executed();
  report.digest = engine.digest();
  if (!complete) end_path_ = machine_->critical_path();
  for (const fabric::model::PathShare& share : end_path_) {
    report.critical_path.push_back({share.resource, share.title, share.time});
  }
  if (figures_ != nullptr) {
    figures_->conclude(engine.now());
    const hw::Network::BusyLink link = machine_->busiest_link();
    figures_->busiest_link = link.name;
    figures_->busiest_time = link.time;
    report.figures = figures_;
  }
  report.ranks.resize(options_.ranks);
  for (Rank rank = 0; rank < options_.ranks; ++rank) {
    PortCounters& counters = report.ranks[rank].counters;
    add_counters(counters, machine_->counters(rank));
    add_counters(report.counters, counters);
    const fabric::model::NodeBusy busy = machine_->busy(rank);
    report.ranks[rank].busy = {busy.library, busy.ni, busy.bus};
  }
}

}  // namespace fairlead::run
