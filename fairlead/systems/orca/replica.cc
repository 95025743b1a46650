// Replicas: what comes in the ordered stream is executed by every rank, in the stream's order.
#include <utility>

#include "fairlead/systems/orca/core.h"

namespace fairlead::orca {

void Core::on_stream(void* self, panda::Incoming message) {
  Core& core = *static_cast<Core*>(self);
  core.charge(run::LayerStep::orca_dispatch);
  StreamHead head{};
  if (message.size() < sizeof head) core.malformed(message.source(), "broadcast");
  message.pop(&head, sizeof head);
  if (head.kind >= static_cast<std::uint32_t>(StreamKind::count) ||
      head.type >= core.program.types().size()) {
    core.malformed(message.source(), "broadcast");
  }
  // First, for answers that it brings about tell of it.
  core.horizon.reach(core.panda.order() + 1);
  core.run_stream(std::move(message), head);
  core.horizon.release([&core](Deferred&& waiting) {
    if (waiting.process != nullptr) {
      waiting.process->finish(Status::done);
    } else if (waiting.start != nullptr) {
      core.processes.start(std::move(waiting.start));
    } else {
      core.serve(std::move(waiting.request));
    }
  });
}

void Core::run_stream(panda::Incoming&& message, const StreamHead& head) {
  const Rank source = message.source();
  Pending* const process = source == self() ? pendings.take(head.slot) : nullptr;
  Invocation body{nullptr, {}, process, {}};
  body.take_parameters(std::move(message));
  switch (static_cast<StreamKind>(head.kind)) {
    case StreamKind::create:
      if (source != owner_of(head.object)) malformed(source, "creation");
      return stream_create(head, body.given(), process);
    case StreamKind::operation:
      return stream_operation(head, std::move(body));
    case StreamKind::replicate:
    case StreamKind::gather:
      if (source != owner_of(head.object)) malformed(source, "move");
      head.kind == static_cast<std::uint32_t>(StreamKind::replicate)
          ? stream_replicate(head, body.given())
          : stream_gather(head);
      break;
    case StreamKind::count:
      break;
  }
  if (process != nullptr) process->finish(Status::done);
}

void Core::stream_create(const StreamHead& head, std::span<const std::byte> body,
                         Pending* process) {
  const Type& type = program.types()[head.type];
  void* const state = type.make(body);
  if (state == nullptr || find(head.object) != nullptr) {
    malformed(owner_of(head.object), "creation");
  }
  add(head.object, type, state).replicated = true;
  if (process != nullptr) process->finish(Status::done);
}

void Core::stream_operation(const StreamHead& head, Invocation&& invocation) {
  Instance* const instance = find(head.object);
  // Gone or single by now, in the stream's order: nobody executes it, and who sent it asks again.
  if (instance == nullptr || !instance->replicated) return answer(invocation, Status::moved, {});
  if (head.operation != kDestroy) {
    if (head.operation >= instance->type.operations.size() ||
        &program.types()[head.type] != &instance->type) {
      return answer(invocation, Status::malformed, {});
    }
    invocation.operation = &instance->type.operations[head.operation];
    ++instance->writes;
    if (owner_of(head.object) == self()) instance->balance.write(invocation.process != nullptr);
  }
  execute(*instance, std::move(invocation));
}

}  // namespace fairlead::orca
