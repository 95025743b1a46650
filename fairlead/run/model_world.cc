#include "fairlead/run/model_world.h"

#include <fmt/format.h>

#include <deque>
#include <utility>
#include <vector>

#include "fairlead/fabric/model/machine.h"
#include "fairlead/lci/implementations.h"
#include "fairlead/run/platform_files.h"
#include "fairlead/sim/task.h"

namespace fairlead::run {
namespace {

using fabric::model::Machine;

class ModelWorld;

// One rank: its port on the machine, its task, and how it ended.
class ModelRank final : public Context {
 public:
  ModelRank(ModelWorld& world, Rank rank, std::unique_ptr<lci::Endpoint> endpoint)
      : Context(endpoint->port()), world_(world), rank_(rank), endpoint_(std::move(endpoint)) {}
  ~ModelRank() override {
    for (std::size_t i = 0; i < static_cast<std::size_t>(System::count); ++i) {
      drop_state(static_cast<System>(i));
    }
  }

  void began(System) override { ++open_; }
  void ended(System) override { --open_; }
  [[noreturn]] void abort_job(int code, const std::string& reason) override;
  std::string processor_name() const override;

  Rank rank() const { return rank_; }
  bool open() const { return open_ > 0; }

  RankEnd end;
  std::unique_ptr<sim::Task> task;
  CheckContext check{};

 private:
  ModelWorld& world_;
  Rank rank_;
  int open_ = 0;
  std::unique_ptr<lci::Endpoint> endpoint_;
};

class ModelWorld {
 public:
  ModelWorld(const WorldOptions& options, const Body& body) : options_(options), body_(body) {}

  Result<RunReport> run() {
    if (Result<void> made = make(); !made.ok()) return made.error();
    (void)machine_->engine().run_until_idle();
    return report();
  }

  // A rank, or the implementation below it, ends the job.
  void fail(Rank rank, int code, const std::string& reason) {
    if (failure_.empty()) {
      failure_ = fmt::format("rank {}: {}", rank, reason);
      exit_code_ = code == 0 ? 1 : code;
      ranks_[rank]->end.reason = reason;
      ranks_[rank]->end.exit_code = exit_code_;
    }
    machine_->engine().stop();
  }
  const Machine& machine() const { return *machine_; }

 private:
  Result<void> make() {
    Result<lci::Implementation> implementation = lci::parse_implementation(options_.lci);
    if (!implementation.ok()) return implementation.error();
    const std::uint32_t nodes = std::max(options_.nodes, options_.ranks);
    Result<std::unique_ptr<Machine>> machine =
        Machine::load(options_.on, nodes, lci::buffer_bytes(implementation.value()));
    if (!machine.ok()) return machine.error();
    machine_ = std::move(machine.value());
    fatal_ = [this](Rank rank, const std::string& reason) { fail(rank, 1, reason); };

    sim::FiberPoolOptions stacks;
    stacks.stack_bytes = std::size_t{options_.fiber_stack_kib} * 1024;
    stacks.max_fibers = options_.ranks;
    stacks.noun = "rank";
    stacks.advice = "give its fiber a larger stack: --stack-kib";
    Result<std::unique_ptr<sim::FiberPool>> pool = sim::FiberPool::create(stacks);
    if (!pool.ok()) return pool.error();
    pool_ = std::move(pool.value());
    for (Rank rank = 0; rank < nodes; ++rank) {
      if (Result<void> r = add_rank(rank, implementation.value()); !r.ok()) return r;
    }
    return {};
  }

  // Nodes beyond the ranks are part of the machine (windows, routes), and idle.
  Result<void> add_rank(Rank rank, const lci::Implementation& implementation) {
    Result<std::unique_ptr<lci::Endpoint>> endpoint =
        lci::make_endpoint(implementation, *machine_, rank, fatal_);
    if (!endpoint.ok()) return endpoint.error();
    ranks_.push_back(std::make_unique<ModelRank>(*this, rank, std::move(endpoint.value())));
    ModelRank& made = *ranks_.back();
    made.task = std::make_unique<sim::Task>(machine_->engine(), *pool_, rank, rank, &kHooks);
    made.task->user = &made;
    made.check = {
        rank,
        [](const void* clock) {
          return static_cast<long long>(static_cast<const sim::Engine*>(clock)->now().count);
        },
        &machine_->engine()};
    machine_->host(rank).run_on(*made.task);
    if (rank >= options_.ranks) return {};
    return made.task->start(Ps{0}, &ModelWorld::run_rank, this);
  }

  static void run_rank(sim::Task& task, void* self) {
    auto* world = static_cast<ModelWorld*>(self);
    auto* rank = static_cast<ModelRank*>(task.user);
    rank->end.exit_code = world->body_(*rank);
    if (rank->end.exit_code != 0) {
      world->fail(rank->rank(), rank->end.exit_code,
                  fmt::format("exited with code {}", rank->end.exit_code));
    } else if (rank->open()) {
      world->fail(rank->rank(), 1, "exited without ending the system it began (MPI_Finalize)");
    }
    // Its last charges are part of the run.
    world->machine_->host(rank->rank()).sync();
  }

  RunReport report() {
    sim::Engine& engine = machine_->engine();
    if (failure_.empty() && engine.blocked() > 0) {
      failure_ = fmt::format("deadlock: no event is left and {} of {} ranks wait\n{}",
                             engine.blocked(), options_.ranks, sim::blocked_report(engine, "rank"));
      exit_code_ = 1;
    }
    RunReport made;
    made.modelled = true;
    made.exit_code = exit_code_;
    made.failure = failure_;
    made.virtual_time = engine.now();
    made.events = engine.executed();
    made.digest = engine.digest();
    for (Rank rank = 0; rank < options_.ranks; ++rank) {
      RankEnd end = ranks_[rank]->end;
      end.counters = machine_->counters(rank);
      made.ranks.push_back(end);
      add(made.counters, end.counters);
    }
    return made;
  }

  static void add(PortCounters& sum, const PortCounters& more) {
    std::vector<std::uint64_t> values;
    for_each_counter(more, [&](const char*, std::uint64_t value) { values.push_back(value); });
    std::size_t next = 0;
    for_each_counter(sum, [&](const char*, std::uint64_t& value) { value += values[next++]; });
  }

  static constexpr sim::TaskHooks kHooks{[](sim::Task& task) {
                                           auto* rank = static_cast<ModelRank*>(task.user);
                                           set_current(rank);
                                           set_check_context(&rank->check);
                                         },
                                         [](sim::Task&) {
                                           set_current(nullptr);
                                           set_check_context(nullptr);
                                         }};

  const WorldOptions& options_;
  const Body& body_;
  lci::Fatal fatal_;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<sim::FiberPool> pool_;
  std::vector<std::unique_ptr<ModelRank>> ranks_;
  std::string failure_;
  int exit_code_ = 0;
};

void ModelRank::abort_job(int code, const std::string& reason) {
  world_.fail(rank_, code, reason);
  for (;;) task->block("the end of an aborted job");
}

std::string ModelRank::processor_name() const {
  return fmt::format("{}-{}", world_.machine().platform().name, rank_);
}

}  // namespace

Result<RunReport> run_model_world(const WorldOptions& options, const Body& body) {
  return ModelWorld(options, body).run();
}

Result<RunReport> run_model_processes(const LaunchOptions& launch) {
  return Error{fmt::format(
      "--on {}: {} would have to run as one process a rank, which this build cannot model; if it "
      "keeps no mutable globals run it with --body fiber",
      launch.world.on, launch.command.front())};
}

Rank mean_partner(const std::string& on, std::uint32_t ranks) {
  const Result<std::string> file = find_platform(on);
  if (!file.ok() || ranks < 2) return ranks / 2;
  const Result<std::unique_ptr<Machine>> machine = Machine::load(file.value(), ranks, 0);
  return machine.ok() ? machine.value()->network().topology().mean_partner() : ranks / 2;
}

}  // namespace fairlead::run
