#include "fairlead/systems/sisci/process.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "fairlead/run/launch/attach.h"

namespace fairlead::sisci {
namespace {

constexpr auto kChannels = run::names_of(run::System::sisci).channels;

const ForeignMappings* regions_of_current() {
  const Process* const process = Process::current();
  return process == nullptr ? nullptr : &process->regions();
}
constexpr ForeignMappings::System kSystem = {
    "SISCI", "SCIMemCpy, SCIMemCopy, SCIMemWrite and SCITransferBlock reach it",
    regions_of_current};

// A program that ends in order without SCITerminate has it done for it.
void leave_at_exit(int status, void*) {
  Process* const process = Process::current();
  if (status != 0 || process == nullptr || process->left()) return;
  const lci::PortTurn turn(process->port());
  process->leave();
}

}  // namespace

Process::Process(run::Context& context)
    : context_(context),
      port_(context.port()),
      waiting_(port_, callbacks_),
      mailbox_(
          port_, kChannels[0], kChannels[1],
          {[](void* self, Rank from, const Message& message) {
             static_cast<Process*>(self)->received(from, message);
           },
           [](void* self, Rank from, Handle handle, Handle other, std::span<const std::byte> data) {
             static_cast<Process*>(self)->interrupts_.triggered_with(from, handle, other, data);
           },
           this}),
      transfers_(port_),
      regions_(port_.self(), kSystem),
      locals_(port_, mailbox_, callbacks_, waiting_, devices_),
      remotes_(port_, mailbox_, callbacks_, waiting_, devices_, transfers_, regions_),
      maps_(port_, locals_, remotes_, transfers_, regions_),
      interrupts_(port_, mailbox_, callbacks_, waiting_, devices_),
      queues_(callbacks_, waiting_, devices_, locals_, remotes_, transfers_),
      leaving_(port_.self() == 0 ? port_.size() : 0),
      thread_(port_, callbacks_) {}

Process* Process::join() {
  if (Process* const process = current(); process != nullptr) return process;
  const Result<run::Context*> joined = run::attach();
  if (!joined.ok()) {
    fmt::print(stderr, "SISCI: {}\n", joined.error().text);
    return nullptr;
  }
  run::Context& context = *joined.value();
  Process& process = context.set_state(run::System::sisci, std::make_unique<Process>(context));
  context.began(run::System::sisci);
  // Peers connect and trigger while this process computes, too.
  context.port().wake(lci::Wake::watchdog, Ps{0});
  // Ranks that are fibers have no exit of their own.
  if (run::process_context.load() == &context) ::on_exit(leave_at_exit, nullptr);
  return &process;
}

void Process::received(Rank from, const Message& message) {
  switch (message.kind) {
    case Kind::connect:
      locals_.connect(from, message);
      break;
    case Kind::disconnect:
    case Kind::ended_seen:
      locals_.disconnect(from, message);
      break;
    case Kind::connected:
      remotes_.connected(from, message);
      break;
    case Kind::asks_end:
      remotes_.asks_end(from, message);
      break;
    case Kind::ended:
      remotes_.ended(from, message);
      break;
    case Kind::connect_interrupt:
      interrupts_.connect_asked(from, message);
      break;
    case Kind::disconnect_interrupt:
      interrupts_.disconnect_asked(from, message);
      break;
    case Kind::interrupt_connected:
      interrupts_.connected(from, message);
      break;
    case Kind::interrupt_ended:
      interrupts_.ended(from, message);
      break;
    case Kind::trigger:
      interrupts_.triggered(from, message);
      break;
    case Kind::leaving:
      if (from < leaving_.size()) leaving_[from] = true;
      break;
    case Kind::all_left:
      all_left_ |= from == 0;
      break;
    case Kind::count:
      break;
  }
}

void Process::leave() {
  thread_.stop();
  queues_.remove_all();
  maps_.unmap_all();
  remotes_.disconnect_all();
  interrupts_.disconnect_all();
  locals_.end_all();
  interrupts_.remove_all();
  left_ = true;
  if (port_.self() != 0) {
    (void)mailbox_.send(0, {.kind = Kind::leaving});
    (void)waiting_.until([this] { return all_left_ || port_.path(0).down; }, kNever,
                         "SCITerminate of all others");
  } else {
    leaving_[0] = true;
    for (Rank rank = 0; rank < port_.size(); ++rank) {
      (void)waiting_.until([&] { return leaving_[rank] || port_.path(rank).down; }, kNever,
                           "SCITerminate of all others");
    }
    for (Rank rank = 1; rank < port_.size(); ++rank) {
      if (!port_.path(rank).down) (void)mailbox_.send(rank, {.kind = Kind::all_left});
    }
  }
  locals_.remove_all();
  context_.ended(run::System::sisci);
}

}  // namespace fairlead::sisci
