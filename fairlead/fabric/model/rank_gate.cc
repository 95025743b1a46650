#include "fairlead/fabric/model/rank_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace fairlead::fabric::model {
namespace {
constexpr std::uint64_t kDescriptorLinesMax = 8;
constexpr std::uint64_t kTimeMax = UINT64_C(1) << 61;  // ps

Error wrong(const char* what, std::uint64_t value) {
  return Error{
      fmt::format("its library asked the model for what cannot be ({} {}): the memory of "
                  "this rank is damaged, look for stray writes of its program",
                  what, value)};
}
}  // namespace

Result<SharedMachine> load_shared_machine(const std::string& platform_file, std::uint32_t ranks,
                                          std::uint32_t nodes, std::uint32_t payload_bytes,
                                          const hw::PlatformChanges& changes) {
  Result<hw::Platform> platform = hw::load_platform(platform_file, changes);
  if (!platform.ok()) return platform.error();
  if (Result<void> fits = hw::Topology::check_nodes(platform.value(), nodes); !fits.ok()) {
    return fits.error();
  }
  Result<std::unique_ptr<GateMemory>> memory = GateMemory::create(ranks, nodes, platform.value());
  if (!memory.ok()) return memory.error();
  SharedMachine made;
  made.memory = std::move(memory.value());
  made.machine =
      std::make_unique<Machine>(std::move(platform.value()), nodes, payload_bytes,
                                SharedMemory{made.memory->packets(), made.memory->words()});
  return made;
}

Result<void> RankGate::execute() {
  const std::uint32_t queued = slot_.queued;
  if (queued > GateSlot::kCommands) return wrong("commands", queued);
  ok_ = false;
  id_ = 0;
  for (std::uint32_t i = 0; i < queued; ++i) {
    const GateCommand command = slot_.commands[i];
    if (command.advance_ps < 0 || command.advance_ps > (kNever - host_.now()).count / 2) {
      return wrong("working time", static_cast<std::uint64_t>(command.advance_ps));
    }
    host_.advance(Ps{command.advance_ps});
    if (Result<void> done = execute_one(command); !done.ok()) return done;
  }
  leave_answer();
  return {};
}

Result<void> RankGate::execute_one(const GateCommand& command) {
  const std::uint64_t bytes_max = machine_.pool().largest_bytes() - sizeof(NiPacket);
  switch (static_cast<GateOp>(command.op)) {
    case GateOp::write:
      if (command.a > bytes_max) return wrong("bytes to write", command.a);
      host_.write(command.a);
      return {};
    case GateOp::post:
      return post(command);
    case GateOp::cancel:
      if (!drop(command.id, Held::allocated)) return wrong("packet", command.id);
      host_.cancel(command.id);
      return {};
    case GateOp::release:
      if (!drop(command.id, Held::received)) return wrong("packet", command.id);
      host_.release(command.id);
      return {};
    case GateOp::release_local:
      if (!drop(command.id, Held::apart)) return wrong("packet", command.id);
      host_.release_local(command.id);
      return {};
    case GateOp::return_host_buffer: {
      const auto found = held_.find(command.id);
      if (found == held_.end() || found->second.how != Held::received) {
        return wrong("packet", command.id);
      }
      found->second.how = Held::apart;
      host_.return_host_buffer(command.id);
      return {};
    }
    case GateOp::alloc:
      if (command.a > bytes_max) return wrong("packet bytes", command.a);
      alloc(command);
      return {};
    case GateOp::alloc_local:
      if (command.a > bytes_max) return wrong("packet bytes", command.a);
      alloc_local(command);
      return {};
    case GateOp::image:
      return command.a == 0 ? image(command) : detached_image(command);
    case GateOp::add_words:
      if (command.a > NiHardware::kWords) return {};  // ok_ is false: no room
      id_ = machine_.ni(rank_).words_used();
      ok_ = host_.add_ni_words(command.id, static_cast<std::uint32_t>(command.a));
      return {};
    case GateOp::observe:
      return {};
    case GateOp::sync:
      host_.sync();
      return {};
    case GateOp::compute:
      if (command.a > kTimeMax || command.b > kTimeMax) return wrong("time", command.a);
      host_.compute(Ps{static_cast<std::int64_t>(command.a)},
                    Ps{static_cast<std::int64_t>(command.b)});
      return {};
    case GateOp::retire:
      host_.sync();
      retired_ = true;
      return {};
    case GateOp::block:
      wait(command, false);
      return {};
    case GateOp::block_for_more:
      wait(command, true);
      return {};
  }
  return wrong("operation", command.op);
}

Result<void> RankGate::post(const GateCommand& command) {
  const auto found = held_.find(command.id);
  if (found == held_.end()) return wrong("packet", command.id);
  const Held how = found->second.how;
  NiPacket& packet = host_.packet(command.id);
  // It is for this rank's NI alone.
  const bool writes_tlb = how == Held::apart && packet.header.client.kind == PacketKind::tlb_write;
  if ((how != Held::allocated && how != Held::image && how != Held::detached && !writes_tlb) ||
      !drop(command.id, how)) {
    return wrong("packet", command.id);
  }
  const std::size_t room = packet.slot_bytes - sizeof packet;
  const PacketKind kind = packet.header.client.kind;
  const bool to_group = kind == PacketKind::multicast && how == Held::allocated;
  if (!to_group && !writes_tlb && (packet.peer >= machine_.nodes() || packet.peer == rank_)) {
    return wrong("destination", packet.peer);
  }
  if (packet.header.client.size > room || packet.fetch_bytes > room) {
    return wrong("message size", packet.header.client.size);
  }
  const bool for_ni = kind == PacketKind::data || kind == PacketKind::multicast ||
                      kind == PacketKind::fetch_add || kind == PacketKind::page_transfer ||
                      writes_tlb;
  // Where the host runs the protocol, an NI takes every kind for the other host's.
  if (!for_ni && (how != Held::detached || kind >= PacketKind::count)) {
    return wrong("packet kind", static_cast<std::uint64_t>(kind));
  }
  if (command.a == 0 || command.a > kDescriptorLinesMax) return wrong("descriptor", command.a);
  // The NI multicasts what its own host sends.
  if (to_group) packet.header.client.source = rank_;
  packet.received = false;
  host_.post(command.id, command.a);
  return {};
}

void RankGate::alloc(const GateCommand& command) {
  const auto reserve = static_cast<std::uint32_t>(std::min<std::uint64_t>(command.b, UINT32_MAX));
  ok_ = host_.alloc(command.a, reserve, &id_);
  if (ok_) held_[id_] = {host_.packet(id_).slot_bytes, Held::allocated};
}

void RankGate::alloc_local(const GateCommand& command) {
  id_ = host_.alloc_local(command.a);
  ok_ = true;
  held_[id_] = {host_.packet(id_).slot_bytes, Held::apart};
}

void RankGate::wait(const GateCommand& command, bool for_more) {
  const std::size_t size = ::strnlen(slot_.what, sizeof what_ - 1);
  std::transform(slot_.what, slot_.what + size, what_,
                 [](char c) { return c < ' ' || c > '~' ? '?' : c; });
  what_[size] = '\0';
  const Ps deadline{static_cast<std::int64_t>(command.a)};
  for_more ? host_.block_for_more(deadline, what_) : host_.block(deadline, what_);
}

Result<void> RankGate::image(const GateCommand& command) {
  const auto found = held_.find(command.id);
  if (found == held_.end() ||
      (found->second.how != Held::allocated && found->second.how != Held::shared)) {
    return wrong("packet", command.id);
  }
  restore(command.id, found->second);
  NiPacket& buffer = host_.packet(command.id);
  if (found->second.how == Held::allocated) buffer.uses = 0;
  if (buffer.header.client.size > buffer.slot_bytes - sizeof buffer || buffer.uses == UINT8_MAX) {
    return wrong("message size", buffer.header.client.size);
  }
  found->second.how = Held::shared;
  id_ = host_.image(command.id);
  ok_ = true;
  held_[id_] = {host_.packet(id_).slot_bytes, Held::image, command.id};
  return {};
}

Result<void> RankGate::detached_image(const GateCommand& command) {
  const auto found = held_.find(command.id);
  if (found == held_.end() || found->second.how != Held::allocated) {
    return wrong("packet", command.id);
  }
  const NiPacket& buffer = host_.packet(command.id);
  restore(command.id, found->second);
  if (buffer.header.client.size > buffer.slot_bytes - sizeof buffer) {
    return wrong("message size", buffer.header.client.size);
  }
  id_ = host_.detached_image(command.id);
  ok_ = true;
  held_[id_] = {host_.packet(id_).slot_bytes, Held::detached};
  return {};
}

void RankGate::dismiss() {
  slot_.answer.received = 0;
  slot_.answer.completed = 0;
  slot_.answer.answered = 0;
  slot_.answer.dismissed = 1;
  give_turn(slot_, GateTurn::rank);
}

bool RankGate::drop(PacketId id, Held how) {
  const auto found = held_.find(id);
  if (found == held_.end() || found->second.how != how) return false;
  const Packet as = found->second;
  held_.erase(found);
  restore(id, as);
  if (as.origin != kNoPacket) held_.erase(as.origin);
  return true;
}

void RankGate::restore(PacketId id, const Packet& as) {
  NiPacket& packet = host_.packet(id);
  packet.id = id;
  packet.slot_bytes = as.slot_bytes;
  packet.origin = as.origin;
  switch (as.how) {
    case Held::allocated:
    case Held::shared:
    case Held::detached:
      packet.holds = Holds::send_buffer;
      break;
    case Held::received:
      packet.holds = Holds::host_buffer;
      break;
    default:
      packet.holds = Holds::nothing;
  }
}

void RankGate::leave_answer() {
  GateAnswer answer{};
  answer.ok = ok_ ? 1 : 0;
  answer.id = id_;
  answer.visible_since_ps = host_.visible_since().count;
  while (answer.received < GateSlot::kVisible &&
         host_.reap_receive(&slot_.received[answer.received])) {
    const PacketId id = slot_.received[answer.received++];
    const NiPacket& packet = host_.packet(id);
    held_[id] = {packet.slot_bytes,
                 packet.holds == Holds::host_buffer ? Held::received : Held::apart};
  }
  while (answer.completed < GateSlot::kVisible &&
         host_.reap_completion(&slot_.completed[answer.completed])) {
    ++answer.completed;
  }
  while (answer.answered < GateSlot::kVisible &&
         host_.reap_answer(&slot_.answered[answer.answered])) {
    ++answer.answered;
  }
  answer.now_ps = host_.now().count;
  answer.ahead = host_.ahead() ? 1 : 0;
  answer.send_buffers = host_.send_buffers_free();
  slot_.answer = answer;
}

}  // namespace fairlead::fabric::model
