// Objects in this rank's memory: what executes operations on them, whoever asked.
#include <utility>

#include "fairlead/systems/orca/core.h"

namespace fairlead::orca {

Instance* Core::find(ObjectId id) {
  const auto at = objects.find(id);
  return at == objects.end() ? nullptr : at->second.get();
}

Instance& Core::add(ObjectId id, const Type& type, void* state) {
  return *objects.emplace(id, std::make_unique<Instance>(id, type, state)).first->second;
}

void Core::answer(Invocation& invocation, Status status, const Bytes& result) {
  if (invocation.process != nullptr) {
    invocation.process->result = result;
    invocation.process->finish(status);
  } else if (invocation.caller.generation != 0) {
    const AnswerHead head{horizon.seen(), static_cast<std::uint32_t>(status), 0};
    const std::span<const std::byte> bytes = result.view();
    panda::Message message(bytes.data(), bytes.size());
    message.push(&head, sizeof head);
    panda.reply(invocation.caller, message);
  }
}

void Core::answer_all(std::deque<Invocation> invocations, Status status) {
  for (Invocation& each : invocations) answer(each, status, {});
}

Guards::Attempt Core::attempt(Instance& instance, Invocation& invocation) {
  const Operation& operation = *invocation.operation;
  Bytes result;
  running = &operation;
  const Ran ran = operation.run(instance.state.get(), invocation.given(), result);
  running = nullptr;
  if (ran == Ran::must_wait) return Guards::Attempt::waits;
  answer(invocation, ran == Ran::done ? Status::done : Status::malformed, result);
  return operation.writes && ran == Ran::done ? Guards::Attempt::wrote : Guards::Attempt::read;
}

void Core::execute(Instance& instance, Invocation&& invocation) {
  if (instance.moving && !instance.replicated) {
    instance.frozen.push_back(std::move(invocation));
    return;
  }
  if (invocation.operation == nullptr) {
    remove(instance);
    answer(invocation, Status::done, {});
    return;
  }
  const bool by_owner = invocation.process != nullptr;
  if (!instance.replicated && self() == owner_of(instance.id)) {
    invocation.operation->writes ? instance.balance.write(by_owner)
                                 : instance.balance.read(by_owner);
  } else if (!invocation.operation->writes) {
    ++instance.reads;
  }
  const Guards::Attempt done = attempt(instance, invocation);
  if (done == Guards::Attempt::waits) {
    ++counts.waited;
    instance.guards.add(std::move(invocation));
    return;
  }
  after(instance, done == Guards::Attempt::wrote);
}

void Core::after(Instance& instance, bool wrote) {
  if (wrote && !instance.guards.empty()) {
    instance.guards.retry([&](Invocation& waiting) { return attempt(instance, waiting); });
  }
  if (instance.adaptive) consider(instance);
}

void Core::remove(Instance& instance) {
  answer_all(instance.guards.take_all(), Status::deleted);
  answer_all(std::exchange(instance.frozen, {}), Status::deleted);
  objects.erase(instance.id);
}

}  // namespace fairlead::orca
