#include "fairlead/systems/orca/processes.h"

#include <fmt/format.h>

#include <memory>
#include <span>
#include <utility>

namespace fairlead::orca {

void Processes::serve() {
  panda::Panda& panda = host_.panda;
  panda.serve(kFork, {&Processes::on_fork, this});
  panda.serve(kStart, {&Processes::on_start, this});
  panda.serve(kEnded, {&Processes::on_ended, this});
  panda.serve(kOver, {&Processes::on_over, this});
  panda.serve(kPrograms, {&Processes::on_program, this});
}

void Processes::compare_programs() {
  const std::uint64_t hash = host_.program.hash();
  host_.panda.send(0, kPrograms, panda::Message(&hash, sizeof hash));
  if (host_.self() == 0) {
    host_.panda.wait(programs_, host_.panda.size(), "the programs of all ranks");
  }
}

void Processes::on_program(void* self, panda::Incoming message) {
  auto& me = *static_cast<Processes*>(self);
  std::uint64_t hash = 0;
  if (message.size() != sizeof hash) me.host_.malformed(message.source(), "program");
  message.pop(&hash, sizeof hash);
  if (hash != me.host_.program.hash()) {
    me.host_.fatal(
        fmt::format("rank {} declared other types, operations or processes than rank 0: declare "
                    "the same in the same order on every rank",
                    message.source()));
  }
  me.programs_.ok.fetch_add(1, std::memory_order_release);
}

void Processes::fork(Rank rank, std::uint32_t function, const Bytes& arguments) {
  const ForkHead head{horizon_.seen(), function, rank};
  const std::span<const std::byte> bytes = arguments.view();
  panda::Message message(bytes.data(), bytes.size());
  message.push(&head, sizeof head);
  host_.panda.send(0, kFork, message);
}

void Processes::on_fork(void* self, panda::Incoming message) {
  auto& me = *static_cast<Processes*>(self);
  ForkHead head{};
  if (message.size() < sizeof head) me.host_.malformed(message.source(), "fork");
  message.pop(&head, sizeof head);
  if (head.rank >= me.host_.panda.size()) me.host_.malformed(message.source(), "fork");
  me.census_.forked();
  Bytes arguments;
  const std::size_t size = message.size();
  message.pop(arguments.extend(size), size);
  const std::span<const std::byte> bytes = arguments.view();
  panda::Message on(bytes.data(), bytes.size());
  on.push(&head, sizeof head);
  me.host_.panda.send(head.rank, kStart, on);
}

void Processes::on_start(void* self, panda::Incoming message) {
  auto& me = *static_cast<Processes*>(self);
  Host& host = me.host_;
  ForkHead head{};
  if (message.size() < sizeof head) host.malformed(message.source(), "start");
  message.pop(&head, sizeof head);
  if (head.function >= host.program.functions().size()) host.malformed(message.source(), "start");
  auto start = std::make_unique<Start>(Start{&host.program.functions()[head.function], {}});
  const std::size_t size = message.size();
  message.pop(start->arguments.extend(size), size);
  if (me.horizon_.reached(head.seen)) return me.start(std::move(start));
  me.horizon_.defer(head.seen, {{}, std::move(start), nullptr});
}

void Processes::start(std::unique_ptr<Start> start) {
  const char* const name = start->function->name.c_str();
  spawn(name, &Processes::run, new Running{this, std::move(start)});
}

void Processes::spawn(const char* name, void (*entry)(void*), void* argument) {
  run::Threads& threads = host_.panda.threads();
  const Result<run::Thread*> thread = threads.spawn(name, entry, argument);
  if (!thread.ok()) {
    host_.fatal(fmt::format("cannot start {}: {}; raise Options::processes_max", name,
                            thread.error().text));
  }
  threads.detach(thread.value());
  ++spawned_;
}

void Processes::run(void* argument) {
  const std::unique_ptr<Running> running(static_cast<Running*>(argument));
  Processes& me = *running->processes;
  const Start& start = *running->start;
  if (!start.function->run(me.here_, start.arguments.view())) {
    me.host_.fatal(fmt::format("process {} was forked with other arguments than its own",
                               start.function->name));
  }
  me.process_ended();
  me.thread_ended();
}

void Processes::process_ended() { host_.panda.send(0, kEnded, panda::Message()); }

void Processes::on_ended(void* self, panda::Incoming) {
  auto& me = *static_cast<Processes*>(self);
  if (me.census_.ended()) me.host_.panda.broadcast(kOver, panda::Message(), true);
}

void Processes::on_over(void* self, panda::Incoming) { ++static_cast<Processes*>(self)->over_.ok; }

void Processes::wait_for_all() {
  host_.panda.wait(over_, 1, "the end of all processes");
  // No move of an object begins after it.
  host_.panda.wait(ended_, spawned_, "the end of this rank's processes");
}

}  // namespace fairlead::orca
