#include "fairlead/run/rdma_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "fairlead/base/trace.h"
#include "fairlead/fabric/model/rdma/rdma_machine.h"
#include "fairlead/lci/rdma_endpoint.h"
#include "fairlead/lci/traced_port.h"
#include "fairlead/sim/task.h"

namespace fairlead::run {
namespace {

using fabric::model::RdmaMachine;

class RdmaWorld;

// One rank: its port, its task, and whether it ended in order.
class RdmaRank final : public Context {
 public:
  RdmaRank(RdmaWorld& world, Rank rank, std::unique_ptr<lci::RdmaEndpoint> endpoint,
           std::unique_ptr<lci::Port> traced)
      : Context(traced != nullptr ? *traced : endpoint->port()),
        world_(world),
        rank_(rank),
        endpoint_(std::move(endpoint)),
        traced_(std::move(traced)) {}
  ~RdmaRank() override {
    for (std::size_t i = 0; i < static_cast<std::size_t>(System::count); ++i) {
      drop_state(static_cast<System>(i));
    }
  }

  void began(System) override { ++open_; }
  void ended(System) override { --open_; }
  [[noreturn]] void abort_job(int code, const std::string& reason) override;
  Peer node_of(Rank rank) const override { return rank; }
  std::string processor_name() const override;

  Rank rank() const { return rank_; }
  bool open() const { return open_ > 0; }

  std::unique_ptr<sim::Task> task;
  CheckContext check{};

 private:
  RdmaWorld& world_;
  Rank rank_;
  int open_ = 0;
  std::unique_ptr<lci::RdmaEndpoint> endpoint_;
  std::unique_ptr<lci::Port> traced_;
};

class RdmaWorld {
 public:
  RdmaWorld(const WorldOptions& options, const Body& body) : options_(options), body_(body) {}

  Result<RunReport> run();
  RdmaMachine& machine() { return *machine_; }
  // A rank ends the job; the first reason is kept.
  void fail(Rank rank, int code, const std::string& reason);

 private:
  Result<void> make();
  Result<void> add_rank(Rank rank);
  static void run_rank(sim::Task& task, void* self);
  void conclude();
  RunReport report();

  static constexpr sim::TaskHooks kHooks{[](sim::Task& task) {
                                           auto* rank = static_cast<RdmaRank*>(task.user);
                                           set_current(rank);
                                           set_check_context(&rank->check);
                                         },
                                         [](sim::Task&) {
                                           set_current(nullptr);
                                           set_check_context(nullptr);
                                         }};

  const WorldOptions& options_;
  const Body& body_;
  std::unique_ptr<TraceWriter> trace_;
  std::unique_ptr<RdmaMachine> machine_;
  std::unique_ptr<sim::FiberPool> stacks_;
  std::vector<std::unique_ptr<RdmaRank>> ranks_;
  std::uint32_t ended_ = 0;
  Ps ended_at_{};
  std::vector<RdmaMachine::Share> end_path_;  // to the end of the last rank so far
  bool stopped_ = false;
  std::string failure_;
  int exit_code_ = 0;
  Rank failed_rank_ = 0;
};

void RdmaRank::abort_job(int code, const std::string& reason) {
  world_.fail(rank_, code, reason);
  for (;;) task->block("the end of an aborted job");
}

std::string RdmaRank::processor_name() const {
  return fmt::format("{}-{}", world_.machine().platform().name, rank_);
}

// What other machines can and this one cannot.
Result<void> check_options(const WorldOptions& options) {
  const std::vector<std::string> names = rdma_implementation_names();
  if (!options.lci.empty() && std::find(names.begin(), names.end(), options.lci) == names.end()) {
    return Error{
        fmt::format("--lci {}: the network interfaces of {} are RDMA engines, which run no control "
                    "program; valid: {}",
                    options.lci, options.on, fmt::join(names, ", "))};
  }
  if (!options.faults.empty()) {
    return Error{
        fmt::format("--faults: the links of {} lose nothing; try --on udp, or a machine "
                    "whose network interfaces run go-back-N",
                    options.on)};
  }
  if (options.compute == Compute::measured) {
    return Error{
        "--compute measured needs a process per rank, whose processor time is its own; ranks are "
        "fibers here"};
  }
  return {};
}

Result<void> RdmaWorld::make() {
  if (Result<void> r = check_options(options_); !r.ok()) return r;
  Result<std::unique_ptr<RdmaMachine>> machine =
      RdmaMachine::load(options_.on, std::max(options_.nodes, options_.ranks),
                        {options_.topology, options_.set, options_.faster, {}});
  if (!machine.ok()) return machine.error();
  machine_ = std::move(machine.value());
  if (options_.explain) machine_->explain();
  if (!options_.trace_path.empty()) {
    Result<std::unique_ptr<TraceWriter>> writer =
        TraceWriter::create(options_.trace_path, TraceWriter::Form::whole);
    if (!writer.ok()) return writer.error();
    trace_ = std::move(writer.value());
    machine_->trace(*trace_);
  }
  Result<std::unique_ptr<sim::FiberPool>> pool =
      sim::FiberPool::create({.stack_bytes = std::size_t{options_.fiber_stack_kib} * 1024,
                              .max_fibers = options_.ranks,
                              .noun = "rank",
                              .advice = "give its fiber a larger stack: --stack-kib"});
  if (!pool.ok()) return pool.error();
  stacks_ = std::move(pool.value());
  for (Rank rank = 0; rank < options_.ranks; ++rank) {
    if (Result<void> r = add_rank(rank); !r.ok()) return r;
  }
  return {};
}

Result<void> RdmaWorld::add_rank(Rank rank) {
  auto endpoint = std::make_unique<lci::RdmaEndpoint>(machine_->nic(rank), options_.ranks,
                                                      options_.compute == Compute::declared);
  std::unique_ptr<lci::Port> traced;
  if (trace_ != nullptr) {
    traced = lci::make_traced_port(endpoint->port(), RdmaMachine::host_lane(*trace_, rank), false);
  }
  ranks_.push_back(std::make_unique<RdmaRank>(*this, rank, std::move(endpoint), std::move(traced)));
  RdmaRank& made = *ranks_.back();
  made.task = std::make_unique<sim::Task>(machine_->engine(), *stacks_, rank, rank, &kHooks);
  made.task->user = &made;
  made.check = {
      rank,
      [](const void* clock) {
        return static_cast<long long>(static_cast<const sim::Engine*>(clock)->now().count);
      },
      &machine_->engine()};
  machine_->nic(rank).run_on(*made.task);
  return made.task->start(Ps{0}, &RdmaWorld::run_rank, this);
}

void RdmaWorld::run_rank(sim::Task& task, void* self) {
  auto* world = static_cast<RdmaWorld*>(self);
  auto* rank = static_cast<RdmaRank*>(task.user);
  const int code = world->body_(*rank);
  if (code != 0) {
    world->fail(rank->rank(), code, fmt::format("exited with code {}", code));
  } else if (rank->open()) {
    world->fail(rank->rank(), 1, "exited without ending the system it began (MPI_Finalize)");
  }
  world->machine_->nic(rank->rank()).sync();
  ++world->ended_;
  world->ended_at_ = world->machine_->engine().now();
  world->end_path_ = world->machine_->critical_path();
}

void RdmaWorld::fail(Rank rank, int code, const std::string& reason) {
  if (failure_.empty()) {
    failure_ = fmt::format("rank {}: {}", rank, reason);
    exit_code_ = code == 0 ? 1 : code;
    failed_rank_ = rank;
  }
  stopped_ = true;
  machine_->engine().stop();
}

void RdmaWorld::conclude() {
  const sim::Engine& engine = machine_->engine();
  if (!stopped_ && ended_ < options_.ranks) {
    failure_ =
        fmt::format("deadlock: no event is left and {} of {} ranks wait\n{}",
                    options_.ranks - ended_, options_.ranks, sim::blocked_report(engine, "rank"));
    exit_code_ = 1;
  }
  if (trace_ == nullptr) return;
  const Result<void> closed = trace_->close();
  if (closed.ok() || !failure_.empty()) return;
  failure_ = closed.error().text;
  exit_code_ = 1;
}

RunReport RdmaWorld::report() {
  const sim::Engine& engine = machine_->engine();
  RunReport made;
  made.modelled = true;
  made.platform_changes = machine_->platform().changes;
  const bool complete = ended_ == options_.ranks;
  made.virtual_time = complete ? ended_at_ : engine.now();
  made.events = engine.executed();
  made.digest = engine.digest();
  made.exit_code = exit_code_;
  made.failure = failure_;
  if (!complete) end_path_ = machine_->critical_path();
  for (const RdmaMachine::Share& share : end_path_) {
    made.critical_path.push_back({share.resource, share.title, share.time});
  }
  made.ranks.resize(options_.ranks);
  for (Rank rank = 0; rank < options_.ranks; ++rank) {
    RankEnd& end = made.ranks[rank];
    add_counters(end.counters, machine_->counters(rank));
    add_counters(made.counters, end.counters);
    end.busy = {machine_->nic(rank).library_busy(), machine_->ni(rank).units_busy(),
                machine_->ni(rank).lanes_busy()};
  }
  if (stopped_ && !failure_.empty()) {
    made.ranks[failed_rank_].exit_code = exit_code_;
    made.ranks[failed_rank_].reason = failure_;
  }
  return made;
}

Result<RunReport> RdmaWorld::run() {
  if (Result<void> made = make(); !made.ok()) return made.error();
  (void)machine_->engine().run_until_idle();
  conclude();
  return report();
}

}  // namespace

Result<bool> has_rdma(const std::string& platform_file) {
  const Result<hw::Platform> platform = hw::load_platform(platform_file);
  if (!platform.ok()) return platform.error();
  return platform.value().rdma != nullptr;
}

Result<RunReport> run_rdma_world(const WorldOptions& options, const Body& body) {
  return RdmaWorld(options, body).run();
}

}  // namespace fairlead::run
