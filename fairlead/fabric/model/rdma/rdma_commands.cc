#include "fairlead/fabric/model/rdma/rdma_commands.h"

#include <algorithm>

#include "fairlead/fabric/network_reduction.h"

namespace fairlead::fabric::model {
namespace {
constexpr std::uint64_t kMoveMax = UINT64_C(1) << 61;  // ps, bytes
}

RdmaCommands::RdmaCommands(RdmaHost& host, Rank ranks, RankMemory& memory)
    : host_(host), ranks_(ranks) {
  host.engine().use_memory(host.self(), memory);
}

Result<void> RdmaCommands::execute(const GateCommand& command, GateAnswer& answer) {
  switch (static_cast<RdmaOp>(command.op)) {
    case RdmaOp::give:
      if (held_.erase(command.id) == 0) return damaged("packet", command.id);
      host_.give(command.id);
      return {};
    case RdmaOp::finish:
      if (held_.erase(command.id) == 0) return damaged("packet", command.id);
      host_.finish(command.id);
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
      answer.value = host_.add_key(command.a, command.b, (command.id & kGateKeyRead) != 0,
                                   (command.id & kGateKeyWrite) != 0);
      return {};
    case RdmaOp::stay_awake:
      end_handler();
      host_.sleep(kNever, true, "");
      return {};
    case RdmaOp::slowed:
    case RdmaOp::compute:
    case RdmaOp::serve:
    case RdmaOp::served:
      if (host_.terms().interrupts) return interrupt(command, answer);
      break;
    case RdmaOp::name_memory:
    case RdmaOp::permit:
    case RdmaOp::forget_memory:
    case RdmaOp::name_counter:
    case RdmaOp::place:
      if (host_.terms().names) return name(command);
      break;
    case RdmaOp::show: {
      const EvenNodes& placed = host_.placement();
      if (command.id >= ranks_ || placed.node_of(command.id) != placed.node_of(host_.self())) {
        return damaged("rank", command.id);
      }
      host_.sync();
      host_.show(command.id);
      return {};
    }
  }
  return damaged("operation", command.op);
}

Result<void> RdmaCommands::interrupt(const GateCommand& command, GateAnswer& answer) {
  if (command.a > kMoveMax || command.b > kMoveMax) return damaged("time", command.a);
  const Ps time{static_cast<std::int64_t>(command.a)};
  const auto op = static_cast<RdmaOp>(command.op);
  if (host_.serving() != (op == RdmaOp::served) && op != RdmaOp::slowed &&
      host_.terms().handler_beside) {
    return damaged("handler", command.op);
  }
  if (op == RdmaOp::slowed) {
    answer.value = static_cast<std::uint64_t>(host_.slowed(time, command.b).count);
  } else if (op == RdmaOp::compute) {
    const Ps watchdog{static_cast<std::int64_t>(command.b)};
    answer.value = static_cast<std::uint64_t>(host_.compute(time, watchdog, command.id != 0).count);
  } else if (op == RdmaOp::serve) {
    answer.value = host_.serve(std::min(time, host_.now()), command.id != 0) ? 1 : 0;
  } else {
    host_.served(command.id != 0);
    answer.value = static_cast<std::uint64_t>(host_.served_until().count);
  }
  return {};
}

Result<void> RdmaCommands::name(const GateCommand& command) {
  if (command.b > UINT64_MAX - command.a &&
      command.op != static_cast<std::uint32_t>(RdmaOp::permit))
    return damaged("size of memory", command.b);
  switch (static_cast<RdmaOp>(command.op)) {
    case RdmaOp::name_memory:
      host_.name_memory(command.id, command.a, command.b);
      return {};
    case RdmaOp::permit:
      host_.permit(command.id, static_cast<std::uint32_t>(command.a), command.b);
      return {};
    case RdmaOp::forget_memory:
      host_.forget_memory(command.id);
      return {};
    case RdmaOp::name_counter:
      if (command.id >= kNoEvent) return damaged("counter", command.id);
      host_.name_counter(command.id, command.a);
      return {};
    default:
      host_.place(command.a, command.b);
      return {};
  }
}

Result<void> RdmaCommands::check_named(const RdmaEntry& entry) const {
  const RdmaNamed& named = entry.named;
  const EvenNodes& placed = host_.placement();
  const Peer first = placed.node_of(entry.dest);
  if (named.members == 0 || named.members > placed.count() - first) {
    return damaged("members", named.members);
  }
  if (named.members > 1 && placed.place_of(entry.dest) != 0) {
    return damaged("destination", entry.dest);
  }
  if (named.members > 1 && entry.kind != RdmaKind::write && entry.kind != RdmaKind::query) {
    return damaged("members", named.members);
  }
  constexpr std::uint8_t kComparisons = 6;
  if (named.compare >= kComparisons) return damaged("comparison", named.compare);
  return {};
}

Result<void> RdmaCommands::check_tport(const RdmaEntry& entry) const {
  if (!host_.terms().names) return damaged("entry", static_cast<std::uint64_t>(entry.kind));
  if (entry.dest != host_.self()) return damaged("destination", entry.dest);
  if (entry.named.compare >= static_cast<std::uint8_t>(RdmaTport::count)) {
    return damaged("request", entry.named.compare);
  }
  if (entry.operation >= kTportRequestsMax) return damaged("operation", entry.operation);
  if (static_cast<RdmaTport>(entry.named.compare) == RdmaTport::open) {
    if (entry.a > UINT16_MAX) return damaged("channel", entry.a);
    if (entry.b >= kLanes) return damaged("lane", entry.b);
  }
  if (entry.size > UINT64_MAX - entry.address) return damaged("size of memory", entry.size);
  return {};
}

Result<void> RdmaCommands::check_reduction(const RdmaEntry& entry) {
  const RdmaNamed& named = entry.named;
  if (named.stores > static_cast<std::uint8_t>(ReduceWhere::interfaces)) {
    return damaged("who combines", named.stores);
  }
  const RdmaTerms& terms = host_.terms();
  const bool switches = static_cast<ReduceWhere>(named.stores) == ReduceWhere::switches;
  const std::uint64_t each = switches ? terms.reduction_bytes : terms.interface_reduction_bytes;
  if (each == 0) return damaged("who combines", named.stores);
  if (entry.queue != kCopyQueue) return damaged("queue", entry.queue);
  if (entry.operation >= terms.copies) return damaged("operation", entry.operation);
  const EvenNodes& placed = host_.placement();
  const Peer first = placed.node_of(entry.dest);
  const Peer own = placed.node_of(host_.self());
  const bool lead = placed.place_of(entry.dest) == 0 && placed.place_of(host_.self()) == 0;
  if (named.members < 2 || named.members > placed.count() - first ||
      placed.count() > kReductionRanksMax || !lead || own < first || own - first >= named.members) {
    return damaged("members", named.members);
  }
  if (named.compare >= kReduceOps || entry.word_bytes >= kReduceTypes) {
    return damaged("reduction", named.compare);
  }
  const auto type = static_cast<ReduceType>(entry.word_bytes);
  if (!is_defined(static_cast<ReduceOp>(named.compare), type) || (!switches && is_floating(type))) {
    return damaged("reduction", named.compare);
  }
  if (entry.size == 0 || entry.size % bytes_of(type) != 0 ||
      entry.size > each * (kReductionPartsMax - 1)) {
    return damaged("size of an operand", entry.size);
  }
  if (named.after != kNoEvent) return damaged("counter", named.after);
  if (entry.size > UINT64_MAX - entry.address || entry.size > UINT64_MAX - entry.offset) {
    return damaged("size of memory", entry.size);
  }
  const auto where = static_cast<ReduceWhere>(named.stores);
  if (combines_.value_or(where) != where) return damaged("who combines", named.stores);
  combines_ = where;
  // A number that is used twice would be two operands of one reduction.
  std::uint64_t& next = reductions_[{entry.dest, named.members, named.stores}];
  if (entry.a != next) return damaged("number of a reduction", entry.a);
  ++next;
  return {};
}

// The entry is copied after these checks once more; nobody else runs in between.
Result<void> RdmaCommands::ring(std::uint32_t packet) {
  if (held_.erase(packet) == 0) return damaged("packet", packet);
  const RdmaTerms& terms = host_.terms();
  const RdmaEntry entry = host_.front(packet).entry;
  if (entry.dest >= ranks_) return damaged("destination", entry.dest);
  switch (entry.kind) {
    case RdmaKind::send:
      if (entry.queue >= kLanes) return damaged("lane", entry.queue);
      if (terms.names && entry.named.members != 1) return damaged("members", entry.named.members);
      if (host_.front(packet).header.client.size > terms.mtu_bytes) {
        return damaged("message size", host_.front(packet).header.client.size);
      }
      break;
    case RdmaKind::reduce:
      if (Result<void> r = check_reduction(entry); !r.ok()) return r;
      break;
    case RdmaKind::tport:
      if (Result<void> r = check_tport(entry); !r.ok()) return r;
      break;
    case RdmaKind::query:
    case RdmaKind::look:
      if (!terms.names) return damaged("entry", static_cast<std::uint64_t>(entry.kind));
      [[fallthrough]];
    case RdmaKind::write:
    case RdmaKind::read:
    case RdmaKind::atomic:
      if (terms.names) {
        if (Result<void> r = check_named(entry); !r.ok()) return r;
      } else if (entry.named.used != 0) {
        return damaged("entry", entry.named.used);
      }
      if (entry.queue != kCopyQueue) return damaged("queue", entry.queue);
      if (entry.operation >= terms.copies && entry.kind != RdmaKind::look)
        return damaged("operation", entry.operation);
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
  if (command.id >= ranks_) return damaged("source", command.id);
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
