#include "fairlead/systems/panda/panda.h"

#include <fmt/format.h>

#include <utility>

#include "fairlead/base/check.h"
#include "fairlead/systems/panda/core.h"

namespace fairlead::panda {

Result<Panda*> Core::start(run::Context& context, const Options& options,
                           const FirstNumbers& first) {
  if (context.state(run::System::panda) != nullptr) {
    return Error{"Panda was started before on this rank: Panda::of() answers it"};
  }
  lci::Port& port = context.port();
  if (options.sequencer >= port.size()) {
    return Error{fmt::format("the sequencer is rank {} of {}", options.sequencer, port.size())};
  }
  std::unique_ptr<run::Threads> threads;
  if (options.flavour == Flavour::multi_threaded) {
    // One more for Panda's sender.
    Result<std::unique_ptr<run::Threads>> made = run::Threads::create(
        port, {.stack_bytes = options.stack_bytes, .threads_max = options.threads_max + 1});
    if (!made.ok()) return made.error();
    threads = std::move(made.value());
  }
  if (port.allocate(kOrderSegment, sizeof(std::uint64_t), lci::Place::ni) == nullptr) {
    return Error{"there is no memory for the number of the next ordered broadcast"};
  }
  context.began(run::System::panda);
  auto core = std::make_unique<Core>(context, options, first, std::move(threads));
  Panda& panda =
      context.set_state(run::System::panda, std::unique_ptr<Panda>(new Panda(std::move(core))));
  // Before it every rank has its word, and takes packets.
  panda.barrier();
  if (options.flavour == Flavour::multi_threaded) {
    port.wake(lci::Wake::watchdog, options.watchdog);
  }
  return &panda;
}

Panda::Panda(std::unique_ptr<Core> core) : core_(std::move(core)) {}
Panda::~Panda() = default;

Result<Panda*> Panda::start(run::Context& context, const Options& options) {
  return Core::start(context, options, {});
}

Panda* Panda::of(run::Context& context) {
  return static_cast<Panda*>(context.state(run::System::panda));
}

Rank Panda::self() const { return core_->port.self(); }
Rank Panda::size() const { return core_->port.size(); }
Flavour Panda::flavour() const { return core_->options.flavour; }
run::Context& Panda::context() const { return core_->context; }
lci::Port& Panda::port() const { return core_->port; }
run::Threads& Panda::threads() const {
  FAIRLEAD_CHECK(core_->threads != nullptr, "the single-threaded flavour has no threads");
  return *core_->threads;
}
const Panda::Counts& Panda::counts() const {
  if (core_->threads != nullptr) core_->counts.switches = core_->threads->switches();
  return core_->counts;
}

void Panda::serve(Service service, Handler handler) {
  const Core::Guard guard(*core_);
  core_->check_service(service);
  core_->services.serve(service, handler, core_->ready);
  core_->schedule();
}

void Panda::serve_calls(Service service, CallHandler handler) {
  const Core::Guard guard(*core_);
  core_->check_service(service);
  core_->services.serve_calls(service, handler, core_->ready);
  core_->schedule();
}

void Panda::gather(Service service) {
  const Core::Guard guard(*core_);
  core_->check_service(service);
  core_->pool.gather(service);
}

int Panda::poll() {
  Core& core = *core_;
  std::uint64_t before = 0;
  {
    const Core::Guard guard(core);
    if (core.in_handler) return 0;
    before = core.handled;
    ++core.looking;
  }
  (void)core.port.poll();
  const Core::Guard guard(core);
  core.drain();
  --core.looking;
  core.schedule();
  return static_cast<int>(core.handled - before);
}

void Panda::wait(const Counter& counter, std::uint64_t at, const char* what) {
  const Core::Guard guard(*core_);
  core_->not_in_handler(what);
  core_->wait(counter, at, what);
}

}  // namespace fairlead::panda
