#include "fairlead/fabric/model/rank_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace fairlead::fabric::model {
namespace {
constexpr std::uint64_t kTimeMax = UINT64_C(1) << 61;  // ps
}

Error damaged(const char* what, std::uint64_t value) {
  return Error{
      fmt::format("its library asked the model for what cannot be ({} {}): the memory of "
                  "this rank is damaged, look for stray writes of its program",
                  what, value)};
}

Result<SharedMachine> load_shared_machine(const std::string& platform_file, const EvenNodes& ranks,
                                          std::uint32_t nodes, std::uint32_t payload_bytes,
                                          const hw::PlatformChanges& changes) {
  Result<LoadedPlatform> loaded = load_for(platform_file, ranks, nodes, changes);
  if (!loaded.ok()) return loaded.error();
  Result<std::unique_ptr<GateMemory>> memory =
      GateMemory::create(ranks, nodes, loaded.value().platform);
  if (!memory.ok()) return memory.error();
  SharedMachine made;
  made.memory = std::move(memory.value());
  made.machine = loaded.value().kind->make(
      std::move(loaded.value().platform), ranks, nodes, payload_bytes,
      SharedMemory{made.memory->packets(), made.memory->ni_memory(), made.memory->regions()});
  return made;
}

RankGate::RankGate(const GateMemory& memory, Machine& machine, Rank rank, Await await)
    : memory_(memory), slot_(memory.slot(rank)), await_(std::move(await)) {
  host_ = find_ni_kind(machine.platform().ni->kind().name).value()->commands(machine, rank, *this);
}

Result<void> RankGate::execute() {
  const std::uint32_t queued = slot_.queued;
  if (queued > GateSlot::kCommands) return damaged("commands", queued);
  answer_ = {};
  for (std::uint32_t i = 0; i < queued; ++i) {
    const GateCommand command = slot_.commands[i];
    if (command.advance_ps < 0 || command.advance_ps > (kNever - host_->now()).count / 2) {
      return damaged("working time", static_cast<std::uint64_t>(command.advance_ps));
    }
    host_->advance(Ps{command.advance_ps});
    if (Result<void> done = execute_one(command); !done.ok()) return done;
  }
  host_->show(slot_);
  answer_.now_ps = host_->now().count;
  answer_.ahead = host_->ahead() ? 1 : 0;
  slot_.answer = answer_;
  return {};
}

Result<void> RankGate::execute_one(const GateCommand& command) {
  switch (static_cast<GateOp>(command.op)) {
    case GateOp::observe:
      return {};
    case GateOp::sync:
      host_->sync();
      return {};
    case GateOp::compute:
      if (command.a > kTimeMax || command.b > kTimeMax) return damaged("time", command.a);
      host_->compute(Ps{static_cast<std::int64_t>(command.a)},
                     Ps{static_cast<std::int64_t>(command.b)});
      return {};
    case GateOp::retire:
      host_->sync();
      retired_ = true;
      return {};
    case GateOp::block:
      wait(command, false);
      return {};
    case GateOp::block_for_more:
      wait(command, true);
      return {};
    default:
      break;
  }
  if (command.op < static_cast<std::uint32_t>(GateOp::kind_first)) {
    return damaged("operation", command.op);
  }
  return host_->execute(command, answer_);
}

void RankGate::wait(const GateCommand& command, bool for_more) {
  const std::size_t size = ::strnlen(slot_.what, sizeof what_ - 1);
  std::transform(slot_.what, slot_.what + size, what_,
                 [](char c) { return c < ' ' || c > '~' ? '?' : c; });
  what_[size] = '\0';
  host_->block(Ps{static_cast<std::int64_t>(command.a)}, what_, for_more);
}

void RankGate::dismiss() {
  std::memset(slot_.visible, 0, sizeof slot_.visible);
  slot_.answer.dismissed = 1;
  give_turn(slot_, GateTurn::rank);
}

// Its process waits for its turn, as all ranks' do while an event runs.
bool RankGate::ask(GateMemoryRequest request) {
  if (slot_.left.load() != 0) return false;
  if (static_cast<GateTurn>(slot_.turn.load()) != GateTurn::simulator) return false;
  slot_.memory = request;
  give_turn(slot_, GateTurn::rank);
  const bool done = await_();
  slot_.memory.what = GateMemoryRequest::kNone;
  return done;
}

bool RankGate::read(std::uint64_t address, std::byte* packet, std::uint64_t size) {
  const bool word = size <= sizeof(std::uint64_t);
  const std::span<std::byte> all = memory_.packets();
  if (!ask({GateMemoryRequest::kRead, word ? 1u : 0u, address, size,
            word ? 0 : static_cast<std::uint64_t>(packet - all.data()), 0})) {
    return false;
  }
  if (word) std::memcpy(packet, &slot_.memory.word, size);
  return true;
}

bool RankGate::write(std::uint64_t address, const std::byte* packet, std::uint64_t size) {
  const bool word = size <= sizeof(std::uint64_t);
  const std::span<std::byte> all = memory_.packets();
  GateMemoryRequest request{GateMemoryRequest::kWrite, word ? 1u : 0u, address, size, 0, 0};
  if (word) {
    std::memcpy(&request.word, packet, size);
  } else {
    request.offset = static_cast<std::uint64_t>(packet - all.data());
  }
  return ask(request);
}

}  // namespace fairlead::fabric::model
