#include "fairlead/systems/orca/processes.h"

#include <fmt/format.h>

#include <memory>

#include "fairlead/systems/orca/core.h"

namespace fairlead::orca {

void Processes::serve() {
  panda::Panda& panda = core_.panda;
  panda.serve(kFork, {&Processes::on_fork, this});
  panda.serve(kStart, {&Processes::on_start, this});
  panda.serve(kEnded, {&Processes::on_ended, this});
  panda.serve(kOver, {&Processes::on_over, this});
  panda.serve(kPrograms, {&Processes::on_program, this});
}

void Processes::compare_programs() {
  const std::uint64_t hash = core_.program.hash();
  core_.panda.send(0, kPrograms, panda::Message(&hash, sizeof hash));
  if (core_.self() == 0) {
    core_.panda.wait(programs_, core_.panda.size(), "the programs of all ranks");
  }
}

void Processes::on_program(void* self, panda::Incoming message) {
  auto& me = *static_cast<Processes*>(self);
  std::uint64_t hash = 0;
  if (message.size() != sizeof hash) me.core_.malformed(message.source(), "program");
  message.pop(&hash, sizeof hash);
  if (hash != me.core_.program.hash()) {
    me.core_.fatal(
        fmt::format("rank {} declared other types, operations or processes than rank 0: declare "
                    "the same in the same order on every rank",
                    message.source()));
  }
  me.programs_.ok.fetch_add(1, std::memory_order_release);
}

void Processes::fork(Rank rank, std::uint32_t function, const Bytes& arguments) {
  const ForkHead head{core_.horizon.seen(), function, rank};
  const std::span<const std::byte> bytes = arguments.view();
  panda::Message message(bytes.data(), bytes.size());
  message.push(&head, sizeof head);
  core_.panda.send(0, kFork, message);
}

void Processes::on_fork(void* self, panda::Incoming message) {
  auto& me = *static_cast<Processes*>(self);
  ForkHead head{};
  if (message.size() < sizeof head) me.core_.malformed(message.source(), "fork");
  message.pop(&head, sizeof head);
  if (head.rank >= me.core_.panda.size()) me.core_.malformed(message.source(), "fork");
  me.census_.forked();
  Bytes arguments;
  const std::size_t size = message.size();
  message.pop(arguments.extend(size), size);
  const std::span<const std::byte> bytes = arguments.view();
  panda::Message on(bytes.data(), bytes.size());
  on.push(&head, sizeof head);
  me.core_.panda.send(head.rank, kStart, on);
}

void Processes::on_start(void* self, panda::Incoming message) {
  auto& me = *static_cast<Processes*>(self);
  Core& core = me.core_;
  ForkHead head{};
  if (message.size() < sizeof head) core.malformed(message.source(), "start");
  message.pop(&head, sizeof head);
  if (head.function >= core.program.functions().size()) core.malformed(message.source(), "start");
  auto* const start = new Start{&core, &core.program.functions()[head.function], {}};
  const std::size_t size = message.size();
  message.pop(start->arguments.extend(size), size);
  if (core.horizon.reached(head.seen)) return me.start(start);
  core.horizon.defer(head.seen, {{}, start, nullptr});
}

void Processes::start(Start* start) {
  spawn(start->function->name.c_str(), &Processes::run, start);
}

void Processes::spawn(const char* name, void (*entry)(void*), void* argument) {
  run::Threads& threads = core_.panda.threads();
  const Result<run::Thread*> thread = threads.spawn(name, entry, argument);
  if (!thread.ok()) {
    core_.fatal(fmt::format("cannot start {}: {}; raise Options::processes_max", name,
                            thread.error().text));
  }
  threads.detach(thread.value());
  ++spawned_;
}

void Processes::run(void* argument) {
  const std::unique_ptr<Start> start(static_cast<Start*>(argument));
  Core& core = *start->core;
  if (!start->function->run(core.face, start->arguments.view())) {
    core.fatal(fmt::format("process {} was forked with other arguments than its own",
                           start->function->name));
  }
  core.processes.process_ended();
  core.processes.thread_ended();
}

void Processes::process_ended() { core_.panda.send(0, kEnded, panda::Message()); }

void Processes::on_ended(void* self, panda::Incoming) {
  auto& me = *static_cast<Processes*>(self);
  if (me.census_.ended()) me.core_.panda.broadcast(kOver, panda::Message(), true);
}

void Processes::on_over(void* self, panda::Incoming) { ++static_cast<Processes*>(self)->over_.ok; }

void Processes::wait_for_all() {
  core_.panda.wait(over_, 1, "the end of all processes");
  // No move of an object begins after it.
  core_.panda.wait(ended_, spawned_, "the end of this rank's processes");
}

}  // namespace fairlead::orca
