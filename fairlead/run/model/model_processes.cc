// Modelled ranks that are processes: the command simulates, the guardian starts and watches the
// ranks as it does for real ones, and each rank's task here stands for its process.
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "fairlead/base/wait_ladder.h"
#include "fairlead/fabric/model/gate.h"
#include "fairlead/fabric/model/rank_gate.h"
#include "fairlead/run/job/job.h"
#include "fairlead/run/job/program_path.h"
#include "fairlead/run/model/model_simulation.h"
#include "fairlead/run/model/model_world.h"
#include "fairlead/run/rank/trace_parts.h"
#include "fairlead/run/rank/virtual_clock.h"
#include "fairlead/run/run_options.h"
#include "fairlead/run/run_report.h"

namespace fairlead::run {
namespace {

using fabric::model::GateMemory;
using fabric::model::GateTurn;
using fabric::model::RankGate;

// How long a rank may compute before the simulator looks for signals and for the job's end.
constexpr Ps kLookAround = milliseconds(20);
constexpr std::uint32_t kTurnsPerLook = 1024;

// Runs the calling thread on one processor for its lifetime, if there is one to choose.
class Pinned {
 public:
  explicit Pinned(const std::vector<std::uint32_t>& processors) {
    if (processors.empty() || ::sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(processors.front(), &mask);
    pinned_ = ::sched_setaffinity(0, sizeof mask, &mask) == 0;
  }
  ~Pinned() {
    if (pinned_) (void)::sched_setaffinity(0, sizeof before_, &before_);
  }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

 private:
  cpu_set_t before_{};
  bool pinned_ = false;
};

class ProcessWorld final : public JobWatch {
 public:
  explicit ProcessWorld(const WorldOptions& options)
      : simulation_(options, TraceWriter::Form::part) {}

  // Before the first process of the job. Error: as run_model_processes().
  Result<void> make();
  int memory_fd() const { return memory_->fd(); }
  void set_processors(std::vector<std::uint32_t> processors) {
    processors_ = std::move(processors);
  }

  void rank_ended(std::uint32_t rank) override { memory_->mark_left(rank); }
  void run(GuardianLink& link) override;
  // After the job. Adds what the simulation knows to what the guardian saw.
  void complete(RunReport& report);

 private:
  // A rank's process as the engine sees it.
  struct Proxy {
    Proxy(ProcessWorld& of, Rank number)
        : world(of),
          rank(number),
          gate(*of.memory_, of.machine(), number, [this] { return world.await_rank(*this); }) {}
    ProcessWorld& world;
    Rank rank;
    RankGate gate;
    CheckContext check{};
    std::unique_ptr<sim::Task> task;
    bool ended = false;  // its program, if not its process
  };

  fabric::model::Machine& machine() { return simulation_.machine(); }
  Result<void> add_node(Peer node);
  Result<void> add_rank(Peer node, Rank rank);
  static void run_proxy(sim::Task& task, void* self);
  void take_turns(Proxy& proxy);
  void end(Proxy& proxy);
  bool run_rank(Proxy& proxy);
  bool await_rank(Proxy& proxy);
  [[noreturn]] static void abandon(sim::Task& task);

  std::unique_ptr<GateMemory> memory_;
  ModelSimulation simulation_;
  std::vector<std::unique_ptr<lci::NiSide>> nis_;
  std::vector<std::unique_ptr<Proxy>> proxies_;
  std::vector<std::uint32_t> processors_;
  GuardianLink* link_ = nullptr;
  std::uint32_t turns_ = 0;
  bool job_over_ = false;

  static constexpr sim::TaskHooks kHooks{
      [](sim::Task& task) { set_check_context(&static_cast<Proxy*>(task.user)->check); },
      [](sim::Task&) { set_check_context(nullptr); }};
};

Result<void> ProcessWorld::make() {
  if (Result<void> chosen = simulation_.choose(); !chosen.ok()) return chosen;
  Result<fabric::model::SharedMachine> shared = fabric::model::load_shared_machine(
      simulation_.options().on, simulation_.ranks(), simulation_.nodes(),
      simulation_.buffer_bytes(), simulation_.changes());
  if (!shared.ok()) return shared.error();
  memory_ = std::move(shared.value().memory);
  const Result<void> made = simulation_.make(std::move(shared.value().machine));
  if (!made.ok()) return made;
  for (Peer node = 0; node < simulation_.nodes(); ++node) {
    if (Result<void> added = add_node(node); !added.ok()) return added;
  }
  return {};
}

Result<void> ProcessWorld::add_node(Peer node) {
  Result<std::unique_ptr<lci::NiSide>> ni =
      simulation_.implementation().make_ni_side(machine(), node, simulation_.fatal());
  if (!ni.ok()) return ni.error();
  nis_.push_back(std::move(ni.value()));
  const EvenNodes ranks = simulation_.ranks();
  for (std::uint32_t place = 0; place < ranks.ranks_on(node); ++place) {
    if (Result<void> added = add_rank(node, ranks.rank_at(node, place)); !added.ok()) return added;
  }
  return {};
}

Result<void> ProcessWorld::add_rank(Peer node, Rank rank) {
  proxies_.push_back(std::make_unique<Proxy>(*this, rank));
  Proxy& made = *proxies_.back();
  made.task =
      std::make_unique<sim::Task>(machine().engine(), simulation_.stacks(), node, rank, &kHooks);
  made.task->user = &made;
  made.check = simulation_.check_of(rank);
  machine().run_on(rank, *made.task);
  return made.task->start(Ps{0}, &ProcessWorld::run_proxy, &made);
}

void ProcessWorld::run_proxy(sim::Task&, void* self) {
  auto* proxy = static_cast<Proxy*>(self);
  proxy->world.take_turns(*proxy);
}

// Nothing of it runs any more; the task goes with the world.
void ProcessWorld::abandon(sim::Task& task) {
  for (;;) task.block("the end of the job");
}

// The order of the ranks' turns is the engine's: it does not matter which process was first to
// join.
void ProcessWorld::take_turns(Proxy& proxy) {
  for (;;) {
    const bool there = run_rank(proxy);
    if (job_over_) {
      simulation_.stop();
      abandon(*proxy.task);
    }
    // What a rank queued before it left happened.
    const Result<void> done = proxy.gate.execute();
    if (!done.ok()) {
      simulation_.fail(proxy.rank, 1, done.error().text);
      abandon(*proxy.task);
    }
    if (!there) break;
    if (proxy.gate.retired()) end(proxy);
    give_turn(proxy.gate.slot(), GateTurn::rank);
  }
  machine().sync(proxy.rank);
  end(proxy);
}

void ProcessWorld::end(Proxy& proxy) {
  if (!proxy.ended) {
    if (fabric::model::Figures* const figures = simulation_.figures()) {
      const fabric::model::HostTimes& its = memory_->slot(proxy.rank).tally.host;
      for (std::size_t part = 0; part < its.size(); ++part) {
        figures->running[proxy.rank][part] += its[part];
      }
    }
    simulation_.rank_ended(proxy.rank);
  }
  proxy.ended = true;
}

// Waits until the rank's process hands control back. False: it has left, or the job is over.
bool ProcessWorld::run_rank(Proxy& proxy) {
  if (++turns_ % kTurnsPerLook == 0) job_over_ = link_->over();
  return await_rank(proxy);
}

bool ProcessWorld::await_rank(Proxy& proxy) {
  fabric::model::GateSlot& slot = proxy.gate.slot();
  while (!job_over_ && !await_turn(slot, GateTurn::simulator, kLookAround)) {
    // The rank may have ended while control was being handed to it.
    if (slot.left.load() != 0) memory_->mark_left(proxy.rank);
    simulation_.tell_progress();
    job_over_ = link_->over();
  }
  return !job_over_ && static_cast<GateTurn>(slot.turn.load()) == GateTurn::simulator;
}

void ProcessWorld::run(GuardianLink& link) {
  link_ = &link;
  const Pinned pinned(processors_);
  sim::Engine& engine = machine().engine();
  while (!simulation_.stopped() && engine.run_some(ModelSimulation::kEventsPerLook)) {
    simulation_.tell_progress();
    if (!link.over()) continue;
    job_over_ = true;
    simulation_.stop();
  }
  simulation_.conclude();
  // No event is left: nobody needs those that linger.
  if (simulation_.all_ended() && !simulation_.stopped()) {
    for (const std::unique_ptr<Proxy>& proxy : proxies_) {
      if (proxy->gate.retired()) proxy->gate.dismiss();
    }
  }
  link_ = nullptr;
  if (!simulation_.failure().empty()) link.abort(simulation_.exit_code(), simulation_.failure());
}

void ProcessWorld::complete(RunReport& report) {
  for (Rank rank = 0; rank < simulation_.options().ranks; ++rank) {
    add_counters(report.ranks[rank].counters, memory_->slot(rank).counters);
    report.program.add(rank, memory_->slot(rank).tally);
  }
  simulation_.report(report);
  // The guardian was told the beginning.
  const std::string& whole = simulation_.failure();
  if (!report.failure.empty() && whole.size() > report.failure.size() &&
      whole.compare(0, report.failure.size(), report.failure) == 0) {
    report.failure = whole;
  }
  if (report.exit_code != kTimeoutExitCode) return;
  // To the simulation those that were ended with the job have ended, too.
  const auto done =
      std::count_if(report.ranks.begin(), report.ranks.end(),
                    [](const RankEnd& rank) { return rank.exit_code == 0 && rank.signal == 0; });
  report.failure += "; " + simulation_.progress(static_cast<std::uint32_t>(done));
}

// `options`: launch.world's, with the simulator's part of the trace; `parts`: the ranks' folder.
Result<RunReport> run_processes(const LaunchOptions& launch, const WorldOptions& options,
                                const std::string& parts, const ExecPlan& exec, Binding binding) {
  ProcessWorld world(options);
  if (Result<void> made = world.make(); !made.ok()) return made.error();
  world.set_processors(binding.processors);

  JobPlan plan;
  plan.options = launch.world;
  plan.options.trace_path = parts;
  plan.options.faults.clear();
  plan.exec = &exec;
  plan.label = launch.label;
  plan.forward_signals = launch.forward_signals;
  plan.ground = {WorldKind::model, world.memory_fd(), 0, nanoseconds(monotonic_ns())};
  plan.binding = std::move(binding);
  plan.watch = &world;
  Result<RunReport> ended = run_job_on(std::move(plan));
  if (ended.ok()) world.complete(ended.value());
  return ended;
}

}  // namespace

Result<RunReport> run_model_processes(const LaunchOptions& launch) {
  Result<ExecPlan> exec = plan_exec(launch.command, launch.environment, launch.working_directory);
  if (!exec.ok()) return exec.error();
  preload_virtual_clock(exec.value().environment);
  Result<Binding> binding =
      choose_model_binding(launch.world.bind, launch.world.ranks, cpu_limits());
  if (!binding.ok()) return binding.error();
  Result<std::string> parts = make_trace_folder(launch.world.trace_path);
  if (!parts.ok()) return parts.error();
  WorldOptions options = launch.world;
  if (!parts.value().empty()) options.trace_path = model_part(parts.value());
  Result<RunReport> ended =
      run_processes(launch, options, parts.value(), exec.value(), std::move(binding.value()));
  const Result<void> joined = join_trace_parts(parts.value(), options.ranks);
  if (ended.ok() && !joined.ok()) add_failure(ended.value(), joined.error());
  return ended;
}

}  // namespace fairlead::run
