// Adaptive objects: the owner counts, decides, and says so in the ordered stream, so that all ranks
// change from one placement to the other between the same two operations.
#include <memory>
#include <utility>

#include "fairlead/systems/orca/core.h"

namespace fairlead::orca {

// Every so many writes a rank tells the owner what it has read since.
void Core::report_reads(Instance& instance) {
  if (instance.writes % Balance::kWindow != 0 || instance.reads == 0) return;
  const ReportHead head{instance.id, std::exchange(instance.reads, 0)};
  panda.send(owner_of(instance.id), kReport, panda::Message(&head, sizeof head));
}

void Core::on_report(void* self, panda::Incoming message) {
  Core& core = *static_cast<Core*>(self);
  ReportHead head{};
  if (message.size() != sizeof head) core.malformed(message.source(), "report");
  message.pop(&head, sizeof head);
  Instance* const instance = core.find(head.object);
  if (instance == nullptr || !instance->replicated) return;  // too late to matter
  instance->balance.read(false, head.reads);
}

void Core::consider(Instance& instance) {
  if (owner_of(instance.id) != self()) {
    if (instance.replicated) report_reads(instance);
    return;
  }
  const Balance::Advice advice = instance.balance.advise(instance.replicated, panda.size());
  if (advice == Balance::Advice::stay || instance.moving || processes.over()) return;
  instance.moving = true;
  processes.spawn("a move of an object", &Core::run_move,
                  new Move{this, instance.id, advice == Balance::Advice::replicate});
}

// In a thread of its own: an ordered broadcast waits for its number.
void Core::run_move(void* argument) {
  const std::unique_ptr<Move> move(static_cast<Move*>(argument));
  Core& core = *move->core;
  Bytes state;
  StreamHead head{};
  {
    const Held held(core);
    // A replica that is not found was destroyed meanwhile.
    if (Instance* const instance = core.find(move->id)) {
      if (move->replicate) instance->type.write(instance->state.get(), state);
      head.object = move->id;
      head.type = static_cast<std::uint32_t>(&instance->type - core.program.types().data());
      head.kind =
          static_cast<std::uint32_t>(move->replicate ? StreamKind::replicate : StreamKind::gather);
    } else {
      return core.processes.thread_ended();
    }
  }
  Pending pending;
  core.broadcast(head, state, &pending, "the move of an object");
  core.processes.thread_ended();
}

void Core::stream_replicate(const StreamHead& head, std::span<const std::byte> body) {
  ++counts.moves;
  if (owner_of(head.object) == self()) {
    Instance* const instance = find(head.object);
    if (instance == nullptr) return;
    instance->replicated = true;
    instance->moving = false;
    instance->reads = instance->writes = 0;
    instance->balance.clear();
    answer_all(instance->guards.take_all(), Status::moved);
    answer_all(std::exchange(instance->frozen, {}), Status::moved);
    return;
  }
  const Type& type = program.types()[head.type];
  void* const state = type.make(body);
  if (state == nullptr || find(head.object) != nullptr) {
    malformed(owner_of(head.object), "move of an object");
  }
  Instance& instance = add(head.object, type, state);
  instance.replicated = instance.adaptive = true;
}

void Core::stream_gather(const StreamHead& head) {
  Instance* const instance = find(head.object);
  if (instance == nullptr) return;
  ++counts.moves;
  // Those of other ranks are in their own ranks' queues as well.
  answer_all(instance->guards.take_all(), Status::moved);
  if (owner_of(head.object) != self()) {
    objects.erase(head.object);
    return;
  }
  instance->replicated = false;
  instance->moving = false;
  instance->balance.clear();
}

}  // namespace fairlead::orca
