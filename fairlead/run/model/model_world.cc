#include "fairlead/run/model/model_world.h"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "fairlead/base/huge_heap.h"
#include "fairlead/base/prefetch.h"
#include "fairlead/fabric/model/machine.h"
#include "fairlead/fabric/model/work_tally.h"
#include "fairlead/lci/model_endpoint.h"
#include "fairlead/lci/traced_port.h"
#include "fairlead/run/model/model_simulation.h"
#include "fairlead/run/platform_files.h"
#include "fairlead/run/run_options.h"
#include "fairlead/run/run_report.h"
#include "fairlead/sim/task.h"

namespace fairlead::run {
namespace {

using fabric::model::Machine;

class ModelWorld;

// What a node of a large machine takes, with an MPI program of few peers. No more: a first touch of
// a huge page is dear on a virtual machine whose host takes back what is free
// (docs/performance-diary.md).
constexpr std::size_t kNodeBytes = 16 * 1024;
// From where on huge pages are worth asking for.
constexpr std::size_t kMuchHeap = 8 << 20;

// One rank: its port on the machine, its task, and how it ended.
class alignas(kCacheLine) ModelRank final : public Context {
 public:
  // `traced` stands between the endpoint's port and the rank, with --trace.
  ModelRank(ModelWorld& world, Rank rank, std::unique_ptr<lci::Endpoint> endpoint,
            std::unique_ptr<lci::Port> traced, const LayerCosts& layers)
      : Context(traced != nullptr ? *traced : endpoint->port(), layers),
        world_(world),
        rank_(rank),
        endpoint_(std::move(endpoint)),
        traced_(std::move(traced)) {}
  ~ModelRank() override {
    for (std::size_t i = 0; i < static_cast<std::size_t>(System::count); ++i) {
      drop_state(static_cast<System>(i));
    }
  }

  void began(System) override { ++open_; }
  void ended(System) override { --open_; }
  [[noreturn]] void abort_job(int code, const std::string& reason) override;
  Peer node_of(Rank rank) const override;
  std::string processor_name() const override;
  void declared(const lci::Work& work) override;
  void looked_at_clock() override { ++tally_.clock_reads; }

  const fabric::model::WorkTally& tally() const { return tally_; }
  Rank rank() const { return rank_; }
  bool open() const { return open_ > 0; }
  lci::Endpoint& endpoint() { return *endpoint_; }

  std::unique_ptr<sim::Task> task;
  CheckContext check{};

 private:
  ModelWorld& world_;
  Rank rank_;
  int open_ = 0;
  fabric::model::WorkTally tally_;
  std::unique_ptr<lci::Endpoint> endpoint_;
  std::unique_ptr<lci::Port> traced_;
};

class ModelWorld {
 public:
  ModelWorld(const WorldOptions& options, const Body& body) : simulation_(options), body_(body) {}

  Result<RunReport> run() {
    if (Result<void> made = make(); !made.ok()) return made.error();
    sim::Engine& engine = machine().engine();
    while (!simulation_.stopped() && engine.run_some(ModelSimulation::kEventsPerLook)) {
      simulation_.look();
    }
    simulation_.conclude();
    return report();
  }

  ModelSimulation& simulation() { return simulation_; }
  Machine& machine() { return simulation_.machine(); }

 private:
  Result<void> make() {
    if (simulation_.options().compute == Compute::measured) {
      return Error{
          "--compute measured needs a process per rank, whose processor time is its own; run with "
          "--body process"};
    }
    if (Result<void> chosen = simulation_.choose(); !chosen.ok()) return chosen;
    const std::size_t heap = std::size_t{simulation_.nodes()} * kNodeBytes;
    if (heap >= kMuchHeap) expect_heap(heap);
    Result<std::unique_ptr<Machine>> machine =
        Machine::load(simulation_.options().on, simulation_.ranks(), simulation_.nodes(),
                      simulation_.buffer_bytes(), simulation_.changes());
    if (!machine.ok()) return machine.error();
    const Result<void> made = simulation_.make(std::move(machine.value()));
    if (!made.ok()) return made;
    for (Peer node = 0; node < simulation_.nodes(); ++node) {
      if (Result<void> r = add_node(node); !r.ok()) return r;
    }
    return {};
  }

  Result<void> add_node(Peer node) {
    Result<std::unique_ptr<lci::NiSide>> ni =
        simulation_.implementation().make_ni_side(machine(), node, simulation_.fatal());
    if (!ni.ok()) return ni.error();
    nis_.push_back(std::move(ni.value()));
    const EvenNodes ranks = simulation_.ranks();
    for (std::uint32_t place = 0; place < ranks.ranks_on(node); ++place) {
      if (Result<void> r = add_rank(node, ranks.rank_at(node, place)); !r.ok()) return r;
    }
    return {};
  }

  Result<void> add_rank(Peer node, Rank rank) {
    std::unique_ptr<lci::Endpoint> endpoint = simulation_.implementation().make_endpoint(
        machine(),
        {rank, simulation_.options().ranks, simulation_.options().compute == Compute::declared,
         rank_memory(simulation_.options())},
        simulation_.fatal());
    std::unique_ptr<lci::Port> traced;
    if (const TraceLane lane = machine().host_lane(rank); lane.on()) {
      traced = lci::make_traced_port(endpoint->port(), lane);
    }
    ranks_.push_back(std::make_unique<ModelRank>(*this, rank, std::move(endpoint),
                                                 std::move(traced), simulation_.layer_costs()));
    ModelRank& made = *ranks_.back();
    made.task =
        std::make_unique<sim::Task>(machine().engine(), simulation_.stacks(), node, rank, &kHooks);
    made.task->user = &made;
    made.check = simulation_.check_of(rank);
    machine().run_on(rank, *made.task);
    return made.task->start(Ps{0}, &ModelWorld::run_rank, this);
  }

  // A rank's task runs in a few events: its context, then its port and its systems' states.
  static void prepare_rank(const sim::Task& task, unsigned stage) {
    // What most calls touch lies first in a port, and in an MPI process.
    constexpr std::size_t kPortBytes = 4 * kCacheLine;
    constexpr std::size_t kMpiBytes = 7 * kCacheLine;
    auto* rank = static_cast<ModelRank*>(task.user);
    if (stage == 1) return prefetch(rank);
    prefetch(&rank->port(), kPortBytes);
    if (const void* mpi = rank->state(System::mpi); mpi != nullptr) prefetch(mpi, kMpiBytes);
  }

  static void run_rank(sim::Task& task, void* self) {
    auto* world = static_cast<ModelWorld*>(self);
    auto* rank = static_cast<ModelRank*>(task.user);
    const int code = world->body_(*rank);
    if (code != 0) {
      world->simulation_.fail(rank->rank(), code, fmt::format("exited with code {}", code));
    } else if (rank->open()) {
      world->simulation_.fail(rank->rank(), 1,
                              "exited without ending the system it began (MPI_Finalize)");
    }
    rank->endpoint().program_ended();
    world->machine().sync(rank->rank());
    world->simulation_.rank_ended(rank->rank());
    rank->endpoint().linger();
  }

  RunReport report() {
    RunReport made;
    simulation_.report(made);
    for (const auto& rank : ranks_) made.program.add(rank->rank(), rank->tally());
    made.exit_code = simulation_.exit_code();
    made.failure = simulation_.failure();
    if (const std::optional<Rank> failed = simulation_.failed_rank()) {
      RankEnd& end = made.ranks[*failed];
      end.exit_code = made.exit_code;
      end.reason = made.failure;
    }
    return made;
  }

  static constexpr sim::TaskHooks kHooks{[](sim::Task& task) {
                                           auto* rank = static_cast<ModelRank*>(task.user);
                                           set_current(rank);
                                           set_check_context(&rank->check);
                                         },
                                         [](sim::Task&) {
                                           set_current(nullptr);
                                           set_check_context(nullptr);
                                         },
                                         &ModelWorld::prepare_rank};

  ModelSimulation simulation_;
  const Body& body_;
  std::vector<std::unique_ptr<lci::NiSide>> nis_;
  std::vector<std::unique_ptr<ModelRank>> ranks_;
};

void ModelRank::abort_job(int code, const std::string& reason) {
  world_.simulation().fail(rank_, code, reason);
  for (;;) task->block("the end of an aborted job");
}

void ModelRank::declared(const lci::Work& work) {
  tally_.declare(hw::HostRates(world_.machine().platform().host),
                 {work.ops, work.bytes, work.working_set_bytes, work.copied_bytes});
}

Peer ModelRank::node_of(Rank rank) const { return world_.machine().ranks().node_of(rank); }

std::string ModelRank::processor_name() const {
  return fmt::format("{}-{}", world_.machine().platform().name, node_of(rank_));
}

}  // namespace

Result<RunReport> run_model_world(const WorldOptions& options, const Body& body) {
  return ModelWorld(options, body).run();
}

Rank mean_partner(const WorldOptions& options) {
  const Rank otherwise = options.ranks / 2;
  const Result<std::string> file = find_platform(options.on);
  if (!file.ok() || options.ranks < 2) return otherwise;
  const Result<hw::Platform> platform =
      hw::load_platform(file.value(), {options.topology, options.set, {}, {}});
  if (!platform.ok() || !hw::Topology::check_nodes(platform.value().network, options.ranks).ok()) {
    return otherwise;
  }
  return hw::Topology(platform.value().network, options.ranks).mean_partner();
}

}  // namespace fairlead::run
