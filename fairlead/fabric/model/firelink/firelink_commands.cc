#include "fairlead/fabric/model/firelink/firelink_commands.h"

namespace fairlead::fabric::model {
namespace {
constexpr std::uint64_t kMoveMax = UINT64_C(1) << 61;  // ps, bytes
}

FirelinkCommands::FirelinkCommands(FirelinkMachine& machine, Rank rank, RankMemory& memory)
    : machine_(machine), host_(machine.host(rank)) {
  machine.lines().use_memory(rank, memory);
}

Result<void> FirelinkCommands::execute(const GateCommand& command, GateAnswer& answer) {
  const auto op = static_cast<FirelinkOp>(command.op);
  switch (op) {
    case FirelinkOp::give:
      if (held_.erase(command.id) == 0) return damaged("run", command.id);
      host_.give(command.id);
      return {};
    case FirelinkOp::finish:
      if (held_.erase(command.id) == 0) return damaged("run", command.id);
      host_.finish(command.id);
      return {};
    case FirelinkOp::store:
    case FirelinkOp::pass_near:
    case FirelinkOp::load:
      return begin(command.id, op, answer);
    case FirelinkOp::drain:
      host_.drain();
      return {};
    case FirelinkOp::remove_key:
      host_.remove_key(command.a);
      return {};
    case FirelinkOp::move:
      if (command.a > kMoveMax || command.b > kMoveMax) return damaged("bytes to move", command.b);
      host_.move(Ps{static_cast<std::int64_t>(command.a)}, command.b);
      return {};
    case FirelinkOp::take:
      if (held_.size() >= kHeldMax) return damaged("runs", held_.size());
      answer.id = host_.take();
      held_.insert(answer.id);
      return {};
    case FirelinkOp::add_key:
      if (command.b > UINT64_MAX - command.a) return damaged("size of memory", command.b);
      answer.value = host_.add_key(command.a, command.b, (command.id & kGateKeyRead) != 0,
                                   (command.id & kGateKeyWrite) != 0);
      return {};
    case FirelinkOp::settled:
      answer.value = host_.settled() ? 1 : 0;
      return {};
    case FirelinkOp::stay_awake:
      host_.sleep(kNever, true, "");
      return {};
  }
  return damaged("operation", command.op);
}

// A run is the rank's until it is stored; while it loads it stays the rank's.
Result<void> FirelinkCommands::begin(std::uint32_t run, FirelinkOp op, GateAnswer& answer) {
  if (held_.count(run) == 0) return damaged("run", run);
  if (Result<void> right = check(host_.front(run).order, op); !right.ok()) return right;
  if (op == FirelinkOp::load) {
    answer.value = static_cast<std::uint64_t>(host_.load(run));
    return {};
  }
  held_.erase(run);
  if (op == FirelinkOp::store) {
    host_.store(run);
  } else {
    host_.pass_near(run);
  }
  return {};
}

// The order is copied after these checks once more; nobody else runs in between.
Result<void> FirelinkCommands::check(const RunOrder& order, FirelinkOp op) const {
  const FirelinkTerms& terms = host_.terms();
  if (order.dest >= machine_.ranks().ranks) return damaged("destination", order.dest);
  if (host_.near(order.dest) != (op == FirelinkOp::pass_near)) {
    return damaged("destination of its node", order.dest);
  }
  switch (order.kind) {
    case RunKind::packet:
    case RunKind::room:
      if (op == FirelinkOp::load) return damaged("run to load", 0);
      if (order.lane >= kLanes) return damaged("lane", order.lane);
      if (order.bytes > terms.slot_bytes) return damaged("packet size", order.bytes);
      if (order.slots > terms.slots) return damaged("slots", order.slots);
      return {};
    case RunKind::put:
      if (op != FirelinkOp::store) return damaged("run to store", 0);
      if (order.operation >= terms.copies) return damaged("put", order.operation);
      if (order.bytes > kRunBytesMax) return damaged("put size", order.bytes);
      return {};
    case RunKind::load:
      if (op != FirelinkOp::load) return damaged("run to store", 1);
      if (order.bytes > hw::kFirelinkLineBytes) return damaged("load size", order.bytes);
      return {};
    case RunKind::other:
      break;
  }
  return damaged("kind of run", static_cast<std::uint64_t>(order.kind));
}

void FirelinkCommands::show(GateSlot& slot) {
  FirelinkVisible& seen = firelink_visible(slot);
  std::uint32_t received = 0;
  std::uint32_t news = 0;
  while (received < FirelinkVisible::kEach && host_.next_received(&seen.received[received])) {
    held_.insert(seen.received[received++]);
  }
  while (news < FirelinkVisible::kEach && host_.next_news(&seen.news[news])) {
    if (seen.news[news].what == FirelinkNews::What::lost) held_.insert(seen.news[news].id);
    ++news;
  }
  seen.received_count = received;
  seen.news_count = news;
}

}  // namespace fairlead::fabric::model
