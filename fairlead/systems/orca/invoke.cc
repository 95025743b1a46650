// What processes ask for: where the object is, and waiting until the operation was executed there.
#include <fmt/format.h>

#include <utility>

#include "fairlead/systems/orca/core.h"

namespace fairlead::orca {

ObjectId Core::create(const Type& type, Placement placement, const Bytes& state) {
  check_outside("the creation of an object");
  if (state.size() > kValueBytesMax) {
    fatal(fmt::format("an object of type {} with a state of {} bytes: at most {}", type.name,
                      state.size(), kValueBytesMax));
  }
  ObjectId id = 0;
  {
    const Held held(*this);
    id = static_cast<ObjectId>(self()) << 32 | created++;
    if (placement != Placement::replicated) {
      void* const made = type.make(state.view());
      FAIRLEAD_CHECK(made != nullptr, "type {} does not read what it wrote", type.name);
      add(id, type, made).adaptive = placement == Placement::adaptive;
      return id;
    }
  }
  Pending pending;
  broadcast({id, static_cast<std::uint32_t>(StreamKind::create),
             static_cast<std::uint32_t>(&type - program.types().data()), 0, 0},
            state, &pending, "the creation of an object");
  return id;
}

// Answers when this rank has executed it.
void Core::broadcast(StreamHead head, const Bytes& body, Pending* pending, const char* what) {
  {
    const Held held(*this);
    head.slot = pendings.add(*pending);
  }
  const std::span<const std::byte> bytes = body.view();
  panda::Message message(bytes.data(), bytes.size());
  message.push(&head, sizeof head);
  (void)panda.broadcast_ordered(kStream, message);
  panda.wait(pending->done, 1, what);
}

Bytes Core::invoke(ObjectId id, const Type& type, const Operation* operation,
                   const Bytes& parameters) {
  check_outside("an operation");
  if (parameters.size() > kValueBytesMax) {
    fatal(fmt::format("{} with parameters of {} bytes: at most {}", name_of(id, type, operation),
                      parameters.size(), kValueBytesMax));
  }
  Bytes result;
  for (;;) {
    switch (invoke_once(id, type, operation, parameters, result)) {
      case Status::done:
        return result;
      case Status::moved:
        ++counts.retries;
        continue;
      case Status::deleted:
        fatal(fmt::format("{}: the object was deleted", name_of(id, type, operation)));
      case Status::malformed:
      case Status::count:
        fatal(fmt::format("{}: rank {} knows no such object, operation or parameters",
                          name_of(id, type, operation), owner_of(id)));
    }
  }
}

Status Core::invoke_once(ObjectId id, const Type& type, const Operation* operation,
                         const Bytes& parameters, Bytes& result) {
  const char* const what =
      operation == nullptr ? "the end of an object" : operation->waits_for.c_str();
  Pending pending;
  enum class Way : std::uint8_t { here, stream, call } way = Way::here;
  {
    const Held held(*this);
    Instance* const instance = find(id);
    if (instance == nullptr) {
      if (owner_of(id) >= panda.size()) return Status::malformed;
      if (owner_of(id) == self()) {
        return static_cast<std::uint32_t>(id) < created ? Status::deleted : Status::malformed;
      }
      way = Way::call;
      ++counts.calls;
    } else if (&instance->type != &type) {
      return Status::malformed;
    } else if (instance->replicated && (operation == nullptr || operation->writes)) {
      way = Way::stream;
      ++counts.writes;
    } else {
      ++counts.here;
      execute(*instance, {operation, parameters, &pending, {}});
    }
  }
  if (way == Way::call) return call_owner(id, type, operation, parameters, result);
  if (way == Way::stream) {
    const std::uint32_t number =
        operation == nullptr ? kDestroy
                             : static_cast<std::uint32_t>(operation - type.operations.data());
    broadcast({id, static_cast<std::uint32_t>(StreamKind::operation),
               static_cast<std::uint32_t>(&type - program.types().data()), number, 0},
              parameters, &pending, what);
  } else {
    panda.wait(pending.done, 1, what);
    let_others_in();
  }
  result = std::move(pending.result);
  return pending.status;
}

Status Core::call_owner(ObjectId id, const Type& type, const Operation* operation,
                        const Bytes& parameters, Bytes& result) {
  const InvokeHead head{
      id, horizon.seen(), static_cast<std::uint32_t>(&type - program.types().data()),
      operation == nullptr ? kDestroy
                           : static_cast<std::uint32_t>(operation - type.operations.data())};
  const std::span<const std::byte> bytes = parameters.view();
  panda::Message request(bytes.data(), bytes.size());
  request.push(&head, sizeof head);
  panda::Incoming message =
      panda.call(owner_of(id), kInvoke, request,
                 operation == nullptr ? "the end of an object" : operation->waits_for.c_str());
  AnswerHead answered{};
  if (message.size() < sizeof answered) malformed(message.source(), "answer");
  message.pop(&answered, sizeof answered);
  if (answered.status >= static_cast<std::uint32_t>(Status::count)) {
    malformed(message.source(), "answer");
  }
  const std::size_t size = message.size();
  result = {};
  message.pop(result.extend(size), size);
  message.clear();
  catch_up(answered.seen);
  return static_cast<Status>(answered.status);
}

void Core::catch_up(std::uint64_t seen) {
  Pending pending;
  {
    const Held held(*this);
    if (horizon.reached(seen)) return;
    horizon.defer(seen, {{}, nullptr, &pending});
  }
  panda.wait(pending.done, 1, "writes to replicas that another rank has seen");
}

}  // namespace fairlead::orca
