#include "fairlead/fabric/model/rdma/rdma_commands.h"

namespace fairlead::fabric::model {
namespace {
constexpr std::uint64_t kMoveMax = UINT64_C(1) << 61;  // ps, bytes
}

RdmaCommands::RdmaCommands(RdmaMachine& machine, Rank rank, RankMemory& memory)
    : machine_(machine), host_(machine.host(rank)) {
  machine.ni(machine.ranks().node_of(rank)).use_memory(rank, memory);
}

Result<void> RdmaCommands::execute(const GateCommand& command, GateAnswer& answer) {
  switch (static_cast<RdmaOp>(command.op)) {
    case RdmaOp::give:
      if (held_.erase(command.id) == 0) return damaged("packet", command.id);
      host_.give(command.id);
      return {};
    case RdmaOp::ring:
      return ring(command.id);
    case RdmaOp::return_buffers:
      return return_buffers(command);
    case RdmaOp::remove_key:
      host_.remove_key(command.a);
      return {};
    case RdmaOp::move:
      if (command.a > kMoveMax || command.b > kMoveMax) return damaged("bytes to move", command.b);
      host_.move(Ps{static_cast<std::int64_t>(command.a)}, command.b);
      return {};
    case RdmaOp::take:
      if (held_.size() >= kHeldMax) return damaged("packets", held_.size());
      answer.id = host_.take();
      held_.insert(answer.id);
      return {};
    case RdmaOp::add_key:
      if (command.b > UINT64_MAX - command.a) return damaged("size of memory", command.b);
      answer.value = host_.add_key(command.a, command.b, (command.id & kRdmaKeyRead) != 0,
                                   (command.id & kRdmaKeyWrite) != 0);
      return {};
    case RdmaOp::stay_awake:
      host_.sleep(kNever, true, "");
      return {};
  }
  return damaged("operation", command.op);
}

// The entry is copied after these checks once more; nobody else runs in between.
Result<void> RdmaCommands::ring(std::uint32_t packet) {
  if (held_.erase(packet) == 0) return damaged("packet", packet);
  const RdmaTerms& terms = host_.terms();
  const RdmaEntry entry = host_.front(packet).entry;
  if (entry.dest >= machine_.ranks().ranks) return damaged("destination", entry.dest);
  switch (entry.kind) {
    case RdmaKind::send:
      if (entry.queue >= kLanes) return damaged("lane", entry.queue);
      if (host_.front(packet).header.client.size > terms.mtu_bytes) {
        return damaged("message size", host_.front(packet).header.client.size);
      }
      break;
    case RdmaKind::write:
    case RdmaKind::read:
    case RdmaKind::atomic:
      if (entry.queue != kCopyQueue) return damaged("queue", entry.queue);
      if (entry.operation >= terms.copies) return damaged("operation", entry.operation);
      if (entry.size > kRemoteCopyBytesMax) return damaged("copy size", entry.size);
      if (entry.kind == RdmaKind::atomic && entry.word_bytes != 4 && entry.word_bytes != 8) {
        return damaged("word bytes", entry.word_bytes);
      }
      break;
    default:
      return damaged("entry", static_cast<std::uint64_t>(entry.kind));
  }
  host_.ring(packet);
  return {};
}

Result<void> RdmaCommands::return_buffers(const GateCommand& command) {
  if (command.id >= machine_.ranks().ranks) return damaged("source", command.id);
  if (command.a >= kLanes) return damaged("lane", command.a);
  if (command.b > host_.terms().receive_queue) return damaged("buffers", command.b);
  host_.return_buffers(command.id, static_cast<std::uint8_t>(command.a),
                       static_cast<std::uint32_t>(command.b));
  return {};
}

void RdmaCommands::show(GateSlot& slot) {
  RdmaVisible& seen = rdma_visible(slot);
  std::uint32_t received = 0;
  std::uint32_t completed = 0;
  while (received < RdmaVisible::kEach && host_.next_received(&seen.received[received])) {
    held_.insert(seen.received[received++]);
  }
  while (completed < RdmaVisible::kEach && host_.next_completion(&seen.completed[completed])) {
    ++completed;
  }
  seen.received_count = received;
  seen.completed_count = completed;
}

}  // namespace fairlead::fabric::model
