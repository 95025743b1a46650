#include "fairlead/fabric/model/lanai/lanai_commands.h"

#include <algorithm>

namespace fairlead::fabric::model {
namespace {
constexpr std::uint64_t kDescriptorLinesMax = 8;
constexpr std::uint64_t kMoveMax = UINT64_C(1) << 61;  // ps, bytes
}  // namespace

LanaiCommands::LanaiCommands(LanaiMachine& machine, Rank rank, RankMemory& memory)
    : machine_(machine), host_(machine.host(rank)), rank_(rank) {
  machine.ni(machine.ranks().node_of(rank)).use_memory(machine.ranks().place_of(rank), memory);
}

Result<void> LanaiCommands::execute(const GateCommand& command, GateAnswer& answer) {
  const std::uint64_t bytes_max = machine_.pool().largest_bytes() - sizeof(NiPacket);
  switch (static_cast<LanaiOp>(command.op)) {
    case LanaiOp::write:
      if (command.a > bytes_max) return damaged("bytes to write", command.a);
      host_.write(command.a);
      return {};
    case LanaiOp::post:
      return post(command);
    case LanaiOp::post_near:
      return post_near(command);
    case LanaiOp::read_near: {
      const auto found = held_.find(command.id);
      if (found == held_.end() || found->second.how != Held::from_near) {
        return damaged("packet", command.id);
      }
      if (host_.packet(command.id).header.client.size > found->second.slot_bytes) {
        return damaged("message size", host_.packet(command.id).header.client.size);
      }
      host_.read_near(command.id);
      return {};
    }
    case LanaiOp::move:
    case LanaiOp::slowed:
      if (command.a > kMoveMax || command.b > kMoveMax) return damaged("bytes to move", command.b);
      if (static_cast<LanaiOp>(command.op) == LanaiOp::move) {
        host_.work_for(Ps{static_cast<std::int64_t>(command.a)}, command.b);
      } else {
        const Ps alone{static_cast<std::int64_t>(command.a)};
        answer.value = static_cast<std::uint64_t>(host_.slowed(alone, command.b).count);
      }
      return {};
    case LanaiOp::cancel:
      if (!drop(command.id, Held::allocated) && !drop(command.id, Held::near)) {
        return damaged("packet", command.id);
      }
      host_.cancel(command.id);
      return {};
    case LanaiOp::release:
      return release(command);
    case LanaiOp::release_local:
      if (!drop(command.id, Held::apart)) return damaged("packet", command.id);
      host_.release_local(command.id);
      return {};
    case LanaiOp::return_host_buffer:
      return return_host_buffer(command);
    case LanaiOp::alloc:
    case LanaiOp::alloc_near:
      if (command.a > bytes_max) return damaged("packet bytes", command.a);
      alloc(command, answer);
      return {};
    case LanaiOp::alloc_local:
      if (command.a > bytes_max) return damaged("packet bytes", command.a);
      alloc_local(command, answer);
      return {};
    case LanaiOp::image:
      return command.a == 0 ? image(command, answer) : detached_image(command, answer);
    case LanaiOp::open_vi:
    case LanaiOp::close_vi:
    case LanaiOp::allow:
    case LanaiOp::forbid:
    case LanaiOp::connect_vi:
    case LanaiOp::disconnect_vi:
    case LanaiOp::post_vi_send:
    case LanaiOp::post_vi_receive:
    case LanaiOp::count_entries:
    case LanaiOp::forget_vis:
      return on_vi(command, answer);
    case LanaiOp::add_words:
      if (command.a > NiHardware::kWords) return {};  // not ok: no room
      answer.id = machine_.ni(machine_.ranks().node_of(rank_)).words_used();
      answer.ok = host_.add_ni_words(command.id, static_cast<std::uint32_t>(command.a)) ? 1 : 0;
      return {};
  }
  return damaged("operation", command.op);
}

Result<void> LanaiCommands::on_vi(const GateCommand& command, GateAnswer& answer) {
  const auto op = static_cast<LanaiOp>(command.op);
  if (op == LanaiOp::open_vi) {
    answer.id = host_.open_vi();
    answer.ok = answer.id > 0 ? 1 : 0;
    if (answer.id > 0) vis_.insert(answer.id);
    return {};
  }
  if (op == LanaiOp::allow) {
    const ViMemory memory = GateViMemory::read(command);
    if (memory.base + memory.bytes > GateViMemory::kAddressMask) {
      return damaged("registered bytes", memory.bytes);
    }
    host_.allow(memory);
    return {};
  }
  if (op == LanaiOp::forbid) {
    host_.forbid(command.id);
    return {};
  }
  if (op == LanaiOp::forget_vis) {
    host_.forget_vis();
    return {};
  }
  if (op == LanaiOp::count_entries) return count_entries(command);
  if (!vis_.contains(command.id)) return damaged("virtual interface", command.id);
  if (op == LanaiOp::connect_vi) {
    const ViEnd end = GateViEnd::read(command);
    // Its messages are for another node's interface.
    if (end.peer >= machine_.ranks().ranks || end.peer == rank_ || host_.near(end.peer)) {
      return damaged("destination", end.peer);
    }
    host_.connect_vi(end);
  } else if (op == LanaiOp::disconnect_vi) {
    host_.disconnect_vi(command.id);
  } else if (op == LanaiOp::post_vi_send) {
    host_.post_vi_send(command.id, GateViToken::read(command));
  } else if (op == LanaiOp::post_vi_receive) {
    host_.post_vi_receive(command.id, GateViToken::read(command));
  } else {
    vis_.erase(command.id);
    host_.close_vi(command.id);
  }
  return {};
}

// With the virtual interface 0 only the room is changed.
Result<void> LanaiCommands::count_entries(const GateCommand& command) {
  const ViEntries entries = GateViEntries::read(command);
  if (entries.number == 0 || entries.number > kViEntriesNumberMax || entries.room >> 31 != 0 ||
      command.b >> 48 != 0) {
    return damaged("completion queue", command.b);
  }
  if (GateViEntries::unused(command) != 0 || entries.consumed % sizeof(std::uint32_t) != 0) {
    return damaged("consumer index", command.a);
  }
  if (command.id != 0 && !vis_.contains(command.id)) {
    return damaged("virtual interface", command.id);
  }
  host_.count_entries(command.id, GateViEntries::of_receives(command), entries);
  return {};
}

Result<void> LanaiCommands::post_near(const GateCommand& command) {
  if (!drop(command.id, Held::near)) return damaged("packet", command.id);
  const NiPacket& packet = host_.packet(command.id);
  if (packet.peer >= machine_.ranks().ranks || !host_.near(packet.peer)) {
    return damaged("destination", packet.peer);
  }
  const std::size_t room = packet.slot_bytes - sizeof packet;
  if (packet.header.client.size > room || command.a > room) {
    return damaged("message size", packet.header.client.size);
  }
  if (packet.header.client.kind >= PacketKind::count) {
    return damaged("packet kind", static_cast<std::uint64_t>(packet.header.client.kind));
  }
  host_.post_near(command.id, command.a);
  return {};
}

Result<void> LanaiCommands::release(const GateCommand& command) {
  if (!drop(command.id, Held::received) && !drop(command.id, Held::from_near)) {
    return damaged("packet", command.id);
  }
  host_.release(command.id);
  return {};
}

Result<void> LanaiCommands::return_host_buffer(const GateCommand& command) {
  const auto found = held_.find(command.id);
  if (found == held_.end() ||
      (found->second.how != Held::received && found->second.how != Held::from_near)) {
    return damaged("packet", command.id);
  }
  restore(command.id, found->second);
  found->second.how = Held::apart;
  host_.return_host_buffer(command.id);
  host_.packet(command.id).holds = Holds::nothing;
  return {};
}

Result<void> LanaiCommands::post(const GateCommand& command) {
  const auto found = held_.find(command.id);
  if (found == held_.end()) return damaged("packet", command.id);
  const Held how = found->second.how;
  NiPacket& packet = host_.packet(command.id);
  // It is for this rank's NI alone.
  const bool writes_tlb = how == Held::apart && packet.header.client.kind == PacketKind::tlb_write;
  if ((how != Held::allocated && how != Held::image && how != Held::detached && !writes_tlb) ||
      !drop(command.id, how)) {
    return damaged("packet", command.id);
  }
  const std::size_t room = packet.slot_bytes - sizeof packet;
  const PacketKind kind = packet.header.client.kind;
  const bool to_group = kind == PacketKind::multicast && how == Held::allocated;
  // The NI itself serves what one of its ranks asks of a word of another's.
  const bool here = host_.near(packet.peer) && kind != PacketKind::fetch_add;
  if (!to_group && !writes_tlb &&
      (packet.peer >= machine_.ranks().ranks || packet.peer == rank_ || here)) {
    return damaged("destination", packet.peer);
  }
  if (packet.header.client.size > room || packet.fetch_bytes > room) {
    return damaged("message size", packet.header.client.size);
  }
  const bool for_ni = kind == PacketKind::data || kind == PacketKind::multicast ||
                      kind == PacketKind::fetch_add || kind == PacketKind::page_transfer ||
                      writes_tlb;
  // Where the host runs the protocol, an NI takes every kind for the other host's.
  if (!for_ni && (how != Held::detached || kind >= PacketKind::count)) {
    return damaged("packet kind", static_cast<std::uint64_t>(kind));
  }
  if (command.a == 0 || command.a > kDescriptorLinesMax) return damaged("descriptor", command.a);
  if (packet.operand > 0 && machine_.ni(machine_.ranks().node_of(rank_)).has_doorbells() &&
      (packet.operand > UINT32_MAX ||
       vis_.count(static_cast<std::uint32_t>(packet.operand)) == 0)) {
    return damaged("virtual interface", packet.operand);
  }
  // What messages of virtual interfaces consist of is the NI's to make.
  if (kind == PacketKind::data) packet.source = static_cast<std::uint8_t>(ViOp::none);
  // The NI multicasts what its own host sends.
  if (to_group) packet.header.client.source = rank_;
  packet.received = false;
  packet.copy = false;  // the NI's own mark
  host_.post(command.id, command.a);
  return {};
}

void LanaiCommands::alloc(const GateCommand& command, GateAnswer& answer) {
  const auto reserve = static_cast<std::uint32_t>(std::min<std::uint64_t>(command.b, UINT32_MAX));
  const bool near = static_cast<LanaiOp>(command.op) == LanaiOp::alloc_near;
  if (!(near ? host_.alloc_near(command.a, reserve, &answer.id)
             : host_.alloc(command.a, reserve, &answer.id))) {
    return;
  }
  answer.ok = 1;
  held_[answer.id] = {host_.packet(answer.id).slot_bytes, near ? Held::near : Held::allocated};
}

void LanaiCommands::alloc_local(const GateCommand& command, GateAnswer& answer) {
  answer.id = host_.alloc_local(command.a);
  answer.ok = 1;
  held_[answer.id] = {host_.packet(answer.id).slot_bytes, Held::apart};
}

Result<void> LanaiCommands::image(const GateCommand& command, GateAnswer& answer) {
  const auto found = held_.find(command.id);
  if (found == held_.end() ||
      (found->second.how != Held::allocated && found->second.how != Held::shared)) {
    return damaged("packet", command.id);
  }
  restore(command.id, found->second);
  NiPacket& buffer = host_.packet(command.id);
  if (found->second.how == Held::allocated) buffer.uses = 0;
  if (buffer.header.client.size > buffer.slot_bytes - sizeof buffer || buffer.uses == UINT8_MAX) {
    return damaged("message size", buffer.header.client.size);
  }
  found->second.how = Held::shared;
  answer.id = host_.image(command.id);
  answer.ok = 1;
  held_[answer.id] = {host_.packet(answer.id).slot_bytes, Held::image, command.id};
  return {};
}

Result<void> LanaiCommands::detached_image(const GateCommand& command, GateAnswer& answer) {
  const auto found = held_.find(command.id);
  if (found == held_.end() || found->second.how != Held::allocated) {
    return damaged("packet", command.id);
  }
  const NiPacket& buffer = host_.packet(command.id);
  restore(command.id, found->second);
  if (buffer.header.client.size > buffer.slot_bytes - sizeof buffer) {
    return damaged("message size", buffer.header.client.size);
  }
  answer.id = host_.detached_image(command.id);
  answer.ok = 1;
  held_[answer.id] = {host_.packet(answer.id).slot_bytes, Held::detached};
  return {};
}

bool LanaiCommands::drop(PacketId id, Held how) {
  const auto found = held_.find(id);
  if (found == held_.end() || found->second.how != how) return false;
  const Packet as = found->second;
  held_.erase(found);
  restore(id, as);
  if (as.origin != kNoPacket) held_.erase(as.origin);
  return true;
}

void LanaiCommands::restore(PacketId id, const Packet& as) {
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
    case Held::from_near:
      packet.peer = as.sender;
      [[fallthrough]];
    case Held::near:
      packet.holds = Holds::near_buffer;
      break;
    default:
      packet.holds = Holds::nothing;
  }
}

void LanaiCommands::show(GateSlot& slot) {
  LanaiVisible& seen = lanai_visible(slot);
  seen.visible_since_ps = host_.visible_since().count;
  std::uint32_t received = 0;
  std::uint32_t completed = 0;
  std::uint32_t answered = 0;
  while (received < LanaiVisible::kEach && host_.reap_receive(&seen.received[received])) {
    const PacketId id = seen.received[received++];
    const NiPacket& packet = host_.packet(id);
    const Held how = packet.holds == Holds::host_buffer   ? Held::received
                     : packet.holds == Holds::near_buffer ? Held::from_near
                                                          : Held::apart;
    held_[id] = {packet.slot_bytes, how, kNoPacket, packet.peer};
  }
  while (completed < LanaiVisible::kEach && host_.reap_completion(&seen.completed[completed])) {
    ++completed;
  }
  while (answered < LanaiVisible::kEach && host_.reap_answer(&seen.answered[answered])) {
    ++answered;
  }
  seen.received_count = received;
  seen.completed_count = completed;
  seen.answered_count = answered;
  seen.send_buffers = host_.send_buffers_free();
  seen.near_buffers = host_.near_buffers_free();
}

}  // namespace fairlead::fabric::model
