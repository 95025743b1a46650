#include "fairlead/run/launch/loop_world.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <bit>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/base/wait_ladder.h"
#include "fairlead/fabric/loop/loop.h"
#include "fairlead/lci/endpoint/real_endpoint.h"
#include "fairlead/lci/traced_port.h"
#include "fairlead/run/exit_text.h"
#include "fairlead/run/node/board.h"
#include "fairlead/run/run_options.h"
#include "fairlead/run/run_report.h"
#include "fairlead/run/wire/welcome.h"
#include "fairlead/sim/fiber.h"

namespace fairlead::run {
namespace {

class LoopWorld;

class LoopContext final : public Context {
 public:
  // `traced` stands between the endpoint's port and the rank, with --trace.
  LoopContext(LoopWorld& world, std::unique_ptr<lci::RealEndpoint> endpoint,
              std::unique_ptr<lci::Port> traced)
      : Context(traced != nullptr ? *traced : endpoint->port()),
        world_(world),
        endpoint_(std::move(endpoint)),
        traced_(std::move(traced)) {
    check_ = {endpoint_->port().self(),
              [](const void* p) {
                return static_cast<long long>(static_cast<const lci::Port*>(p)->now().count);
              },
              &endpoint_->port()};
  }
  ~LoopContext() override { drop_states(); }

  void began(System system) override { began_ |= system_bit(system); }
  void ended(System system) override { ended_ |= system_bit(system); }
  [[noreturn]] void abort_job(int code, const std::string& reason) override;
  Peer node_of(Rank) const override { return 0; }
  std::string processor_name() const override { return "loop"; }

  const char* missing_end() const {
    const std::uint32_t open = began_ & ~ended_;
    return open == 0 ? nullptr : end_call(static_cast<System>(std::countr_zero(open)));
  }
  const CheckContext& check() const { return check_; }
  void linger() { endpoint_->linger(); }

 private:
  LoopWorld& world_;
  std::unique_ptr<lci::RealEndpoint> endpoint_;
  std::unique_ptr<lci::Port> traced_;
  CheckContext check_{};
  std::uint32_t began_ = 0;
  std::uint32_t ended_ = 0;
};

class LoopWorld {
 public:
  LoopWorld(const WorldOptions& options, const Body& body) : options_(options), body_(body) {}

  Result<RunReport> run();
  void abort(std::uint32_t rank, int code, const std::string& reason);
  [[noreturn]] void leave_for_good();
  // For the rank whose turn it is: the port cannot go on; the fault plan ends it.
  static void end_job(void* world, const std::string& reason);
  static void kill_rank(void* world);

 private:
  struct Turn {
    LoopWorld* world;
    std::uint32_t rank;
    std::unique_ptr<LoopContext> context;
    sim::Fiber* fiber;
    bool ended;
  };

  static void enter(sim::Fiber& self, void* turn);
  static void yield(void* world);
  static bool has_left(void* world, Peer peer) {
    return static_cast<LoopWorld*>(world)->turns_[peer].ended;
  }
  Result<void> prepare();
  void take_turns();
  void end_rank(Turn& turn, int code, const std::string& reason);
  void fail(int code, const std::string& text);
  RunReport finish();

  const WorldOptions& options_;
  const Body& body_;
  // The network outlives the contexts, whose ports use it; stacks go first.
  std::unique_ptr<TraceWriter> trace_;
  std::unique_ptr<fabric::LoopNetwork> network_;
  std::vector<Turn> turns_;
  std::unique_ptr<sim::FiberPool> pool_;
  std::optional<fabric::FaultPlan> plan_;
  RunReport report_;
  std::uint32_t running_ = 0;
  bool stopped_ = false;
};

void LoopContext::abort_job(int code, const std::string& reason) {
  world_.abort(check_.rank, code, reason);
  world_.leave_for_good();
}

void LoopWorld::abort(std::uint32_t rank, int code, const std::string& reason) {
  fail((code & 0xff) != 0 ? code & 0xff : 1,
       fmt::format("rank {} ended the job: {}", rank, reason));
  report_.ranks[rank].reason = reason;
  stopped_ = true;
}

void LoopWorld::end_job(void* world, const std::string& reason) {
  const LoopWorld& self = *static_cast<LoopWorld*>(world);
  const std::string repeat =
      self.plan_.has_value() ? "; to see it again: " + fabric::repeat_line(*self.plan_) : "";
  current()->abort_job(1, reason + repeat);
}

void LoopWorld::kill_rank(void*) {
  current()->abort_job(signal_exit_code(SIGKILL), "killed by the fault plan");
}

void LoopWorld::leave_for_good() {
  for (;;) pool_->current()->suspend();
}

void LoopWorld::fail(int code, const std::string& text) {
  if (!report_.failure.empty()) return;
  report_.exit_code = code;
  report_.failure = text;
}

void LoopWorld::yield(void* world) {
  sim::Fiber* const fiber = static_cast<LoopWorld*>(world)->pool_->current();
  if (fiber != nullptr) fiber->suspend();
}

void LoopWorld::enter(sim::Fiber&, void* argument) {
  Turn& turn = *static_cast<Turn*>(argument);
  int code = 1;
  std::string reason;
  try {
    code = turn.world->body_(*turn.context);
    if (code != 0) reason = fmt::format("returned {}", code);
  } catch (const std::exception& failure) {
    reason = fmt::format("uncaught exception: {}", failure.what());
  } catch (...) {
    reason = "uncaught exception of an unknown type";
  }
  if (const char* call = turn.context->missing_end(); call != nullptr) {
    reason = fmt::format("{} without {}", reason.empty() ? "ended" : reason, call);
    if (code == 0) code = 1;
  }
  // Where packets go wrong, its peers may need to hear from it again.
  if (code == 0) turn.context->linger();
  turn.world->end_rank(turn, code, reason);
}

void LoopWorld::end_rank(Turn& turn, int code, const std::string& reason) {
  turn.ended = true;
  --running_;
  report_.ranks[turn.rank].exit_code = code & 0xff;
  report_.ranks[turn.rank].reason = reason;
  if (code == 0) return;
  fail((code & 0xff) != 0 ? code & 0xff : 1, fmt::format("rank {}: {}", turn.rank, reason));
  stopped_ = true;
}

Result<void> LoopWorld::prepare() {
  const std::uint32_t ranks = options_.ranks;
  Result<std::unique_ptr<sim::FiberPool>> pool =
      sim::FiberPool::create({.stack_bytes = std::size_t{options_.fiber_stack_kib} * 1024,
                              .max_fibers = ranks,
                              .noun = "rank",
                              .advice = "run it with a larger --stack"});
  if (!pool.ok()) return pool.error();
  pool_ = std::move(pool.value());
  fabric::LoopOptions loop;
  loop.ranks = ranks;
  loop.yield = yield;
  loop.yield_context = this;
  loop.region_bytes = region_bytes(options_);
  Result<std::unique_ptr<fabric::LoopNetwork>> network = fabric::LoopNetwork::create(loop);
  if (!network.ok()) return network.error();
  network_ = std::move(network.value());
  report_.ranks.resize(ranks);
  lci::DirectOptions direct;
  direct.epoch = nanoseconds(monotonic_ns());
  direct.wait = wait_plan_fibers();
  direct.fatal = end_job;
  direct.fatal_context = this;
  if (!options_.trace_path.empty()) {
    auto writer = TraceWriter::create(options_.trace_path, TraceWriter::Form::whole);
    if (!writer.ok()) return writer.error();
    trace_ = std::move(writer.value());
  }
  plan_ = fault_plan_of(options_.faults, options_.seed);
  turns_.reserve(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    std::unique_ptr<fabric::Nic> nic = network_->endpoint(rank);
    lci::RealEndpointOptions below;
    below.direct = direct;
    below.wake.one_thread = true;
    below.faults = plan_;
    below.faulty = {.epoch = direct.epoch, .kill = kill_rank, .kill_context = this};
    below.hrx = choose_hrx(options_).value();
    below.reliable = {.epoch = direct.epoch, .left = has_left, .context = this};
    auto endpoint = std::make_unique<lci::RealEndpoint>(std::move(nic), std::move(below));
    std::unique_ptr<lci::Port> traced;
    if (trace_ != nullptr) {
      trace_->name_node(rank, fmt::format("rank {}", rank));
      trace_->name_lane({rank, 0}, "host");
      traced = lci::make_traced_port(endpoint->port(), TraceLane(*trace_, {rank, 0}));
    }
    auto context = std::make_unique<LoopContext>(*this, std::move(endpoint), std::move(traced));
    turns_.push_back({this, rank, std::move(context), nullptr, false});
    Result<sim::Fiber*> fiber = pool_->spawn(rank, enter, &turns_.back());
    if (!fiber.ok()) return fiber.error();
    turns_.back().fiber = fiber.value();
  }
  running_ = ranks;
  return {};
}

void LoopWorld::take_turns() {
  const std::int64_t start_ns = monotonic_ns();
  Context* const outer = current();
  while (running_ > 0 && !stopped_) {
    for (Turn& turn : turns_) {
      if (turn.ended) continue;
      set_current(turn.context.get());
      set_check_context(&turn.context->check());
      turn.fiber->resume();
      if (stopped_) break;
    }
    if (options_.timeout < kNever && nanoseconds(monotonic_ns() - start_ns) >= options_.timeout &&
        running_ > 0) {
      const auto waiting =
          std::find_if(turns_.begin(), turns_.end(), [](const Turn& turn) { return !turn.ended; });
      fail(kTimeoutExitCode,
           fmt::format("the job outlived its --timeout of {:g} s; {} ranks had not ended, rank {} "
                       "the first of them",
                       to_seconds(options_.timeout), running_, waiting->rank));
      stopped_ = true;
    }
  }
  set_current(outer);
  set_check_context(nullptr);
}

RunReport LoopWorld::finish() {
  for (Turn& turn : turns_) {
    PortCounters& counters = report_.ranks[turn.rank].counters;
    counters = network_->counters(turn.rank);
    add_counters(report_.counters, counters);
    if (!turn.ended && report_.ranks[turn.rank].reason.empty()) {
      report_.ranks[turn.rank].exit_code = report_.exit_code;
      report_.ranks[turn.rank].reason = "ended with the job";
    }
  }
  return std::move(report_);
}

Result<RunReport> LoopWorld::run() {
  const Result<void> prepared = prepare();
  if (!prepared.ok()) return prepared.error();
  take_turns();
  if (trace_ != nullptr) {
    const Result<void> closed = trace_->close();
    if (!closed.ok()) fail(1, closed.error().text);
  }
  return finish();
}

}  // namespace

Result<RunReport> run_loop_world(const WorldOptions& options, const Body& body) {
  if (options.ranks == 0) return Error{"0 ranks: a job has at least one"};
  if (Result<void> r = check_real_faults(options); !r.ok()) return r.error();
  if (Result<bool> r = choose_hrx(options); !r.ok()) return r.error();
  LoopWorld world(options, body);
  return world.run();
}

}  // namespace fairlead::run
