// Single copies at their owner: operations of other ranks come as calls of Panda's.
#include <utility>

#include "fairlead/systems/orca/core.h"

namespace fairlead::orca {

void Core::on_invoke(void* self, panda::Incoming message, panda::Token token) {
  Core& core = *static_cast<Core*>(self);
  core.charge(run::LayerStep::orca_dispatch);
  Request request{std::move(message), token, {}};
  if (request.message.size() < sizeof request.head) {
    core.malformed(request.message.source(), "operation");
  }
  request.message.pop(&request.head, sizeof request.head);
  ++core.counts.served;
  if (core.horizon.reached(request.head.seen)) return core.serve(std::move(request));
  core.horizon.defer(request.head.seen, {std::move(request), nullptr, nullptr});
}

void Core::serve(Request&& request) {
  const InvokeHead& head = request.head;
  Instance* const instance = find(head.object);
  if (instance == nullptr) {
    const bool was_here =
        owner_of(head.object) == self() && static_cast<std::uint32_t>(head.object) < created;
    return refuse(request.token, was_here ? Status::deleted : Status::malformed);
  }
  const std::vector<Type>& types = program.types();
  const bool destroys = head.operation == kDestroy;
  if (head.type >= types.size() || &types[head.type] != &instance->type ||
      (!destroys && head.operation >= instance->type.operations.size())) {
    return refuse(request.token, Status::malformed);
  }
  // Its sender has yet to see that there are replicas.
  if (instance->replicated) return refuse(request.token, Status::moved);
  Invocation invocation{
      destroys ? nullptr : &instance->type.operations[head.operation], {}, nullptr, request.token};
  invocation.take_parameters(std::move(request.message));
  execute(*instance, std::move(invocation));
}

void Core::refuse(panda::Token token, Status status) {
  Invocation nothing{nullptr, {}, nullptr, token};
  answer(nothing, status, {});
}

}  // namespace fairlead::orca
