#include "fairlead/systems/orca/orca.h"

#include <fmt/format.h>

#include <utility>

#include "fairlead/systems/orca/core.h"

namespace fairlead::orca {

Core::Core(run::Context& rank, panda::Panda& its_panda, const Program& its_program)
    : Host(rank, its_panda, its_program),
      costs(rank.layer_costs()),
      face(*this),
      processes(*this, horizon, face) {}

std::string Core::name_of(ObjectId id, const Type& type, const Operation* operation) const {
  return fmt::format("operation {}.{} on object {} of rank {}", type.name,
                     operation == nullptr ? "destroy" : operation->name,
                     static_cast<std::uint32_t>(id), owner_of(id));
}

void Core::check_outside(const char* what) {
  // Otherwise it may be one that a handler runs meanwhile, in another thread.
  const Held held(*this);
  if (running == nullptr) return;
  fatal(fmt::format("{} inside of an operation ({}): operations call no others", what,
                    running->waits_for));
}

void Core::charge(run::LayerStep step) { panda.port().charge({.ops = costs.of(step)}); }

Result<void> run(run::Context& context, const Program& program, const Options& options,
                 const std::function<void(Orca&)>& main) {
  Result<panda::Panda*> started =
      panda::Panda::start(context, {.flavour = panda::Flavour::multi_threaded,
                                    .stack_bytes = options.stack_bytes,
                                    .threads_max = options.processes_max,
                                    .sequencer = options.sequencer});
  if (!started.ok()) return started.error();
  panda::Panda& panda = *started.value();
  context.began(run::System::orca);
  Core& core =
      context.set_state(run::System::orca, std::make_unique<Core>(context, panda, program));
  panda.gather(kInvoke);
  panda.gather(kStream);
  panda.serve_calls(kInvoke, {&Core::on_invoke, &core});
  panda.serve(kStream, {&Core::on_stream, &core});
  panda.serve(kReport, {&Core::on_report, &core});
  core.processes.serve();
  core.processes.compare_programs();
  if (panda.self() == 0) {
    main(core.face);
    core.processes.process_ended();
  }
  core.processes.wait_for_all();
  panda.stop();
  context.ended(run::System::orca);
  return {};
}

Rank Orca::self() const { return core_.self(); }
Rank Orca::size() const { return core_.panda.size(); }
run::Context& Orca::context() const { return core_.context; }
panda::Panda& Orca::panda() const { return core_.panda; }
const Orca::Counts& Orca::counts() const { return core_.counts; }
double Orca::seconds() const { return to_seconds(core_.panda.port().now()); }
void Orca::yield() { core_.panda.threads().yield(); }

const Type& Orca::type_of(const void* tag) const {
  for (const Type& type : core_.program.types()) {
    if (type.tag == tag) return type;
  }
  core_.fatal("an object of a type that the program was not declared with: Program::type");
}

const Operation& Orca::operation_of(const Type& type, const void* tag) const {
  for (const Operation& operation : type.operations) {
    if (operation.tag == tag) return operation;
  }
  core_.fatal(fmt::format(
      "an operation that type {} was not declared with: Program::TypeOf::operation", type.name));
}

ObjectId Orca::create(const Type& type, Placement placement, const Bytes& state) {
  return core_.create(type, placement, state);
}

void Orca::destroy(ObjectId id, const Type& type) { (void)core_.invoke(id, type, nullptr, {}); }

Bytes Orca::invoke(ObjectId id, const Type& type, const Operation& operation,
                   const Bytes& parameters) {
  return core_.invoke(id, type, &operation, parameters);
}

void Orca::malformed_result(ObjectId id, const Type& type, const Operation& operation) {
  core_.fatal(core_.name_of(id, type, &operation) + ": its result is none of its type");
}

void* Orca::begin_here(ObjectId id, const Type& type, const Operation& operation,
                       Instance*& instance) {
  core_.charge(run::LayerStep::orca_invoke);
  core_.check_outside("an operation");
  if (operation.guarded) return nullptr;
  core_.let_others_in();
  lci::Port& port = core_.panda.port();
  port.hold();
  instance = core_.find(id);
  const bool at_once = instance != nullptr && &instance->type == &type &&
                       (instance->replicated ? !operation.writes : !instance->moving);
  if (!at_once) {
    port.allow();
    return nullptr;
  }
  core_.running = &operation;
  return instance->state.get();
}

void Orca::end_here(Instance& instance, const Operation& operation) {
  core_.running = nullptr;
  ++core_.counts.here;
  if (instance.replicated) {
    ++instance.reads;
  } else {
    operation.writes ? instance.balance.write(true) : instance.balance.read(true);
  }
  core_.after(instance, operation.writes);
  core_.panda.port().allow();
}

void Orca::fork(Rank rank, const void* tag, const Bytes& arguments) {
  core_.check_outside("a fork");
  if (rank >= size()) core_.fatal(fmt::format("a process on rank {} of {}", rank, size()));
  const std::vector<Function>& functions = core_.program.functions();
  std::uint32_t number = 0;
  while (number < functions.size() && functions[number].tag != tag) ++number;
  if (number == functions.size()) {
    core_.fatal("a fork of a process that the program was not declared with: Program::process");
  }
  if (arguments.size() > kValueBytesMax) {
    core_.fatal(fmt::format("a fork of {} on rank {} with arguments of {} bytes: at most {}",
                            functions[number].name, rank, arguments.size(), kValueBytesMax));
  }
  core_.processes.fork(rank, number, arguments);
}

}  // namespace fairlead::orca
