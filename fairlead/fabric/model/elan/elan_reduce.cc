// Reductions. The DMA thread cuts the host's operand into packets and keeps so many under way; what
// comes back goes where the host says. In between, switches combine the packets
// (hw/switch_reductions.h), or the thread processors of the interfaces do, in a tree of four
// children over the members' nodes: each takes its host's operand and its children's, combines them
// in that order, word by word, and sends the result to its parent; the root's goes down the same
// tree.
#include <algorithm>
#include <cstring>

#include "fairlead/fabric/model/elan/elan_ni.h"
#include "fairlead/fabric/model/rdma/operands.h"
#include "fairlead/hw/event_kinds.h"

namespace fairlead::fabric::model {

std::uint32_t ElanNi::operand_bytes_max(const RdmaPacket& message) const {
  return is_by_interfaces(message) ? parts_.terms.interface_reduction_bytes
                                   : parts_.terms.reduction_bytes;
}

void ElanNi::pump_reduction(std::uint32_t id) {
  const std::uint64_t ahead =
      std::uint64_t{parts_.network_params.reductions_ahead} * operand_bytes_max(packet(id));
  while (packet(id).started < packet(id).size &&
         packet(id).started - packet(id).acknowledged < ahead) {
    run(cut_operand(id));
  }
}

std::uint32_t ElanNi::cut_operand(std::uint32_t message) {
  const std::uint32_t part = parts_.packets.take();
  RdmaPacket& operand = packet(part);
  RdmaPacket& whole = packet(message);
  const std::uint64_t most = operand_bytes_max(whole);
  operand.kind = RdmaKind::reduce;
  operand.source = whole.source;
  operand.dest = whole.dest;
  operand.named = whole.named;
  operand.word_bytes = whole.word_bytes;
  operand.with_entry = whole.with_entry;
  operand.address = whole.address + whole.started;
  operand.bytes = static_cast<std::uint32_t>(std::min(most, whole.size - whole.started));
  operand.key = reduction_name(parts_.ranks.node_of(whole.dest), whole.named.members, whole.a,
                               whole.started / most);
  if (whole.with_entry) {
    std::memcpy(parts_.packets.payload(part), parts_.packets.payload(message) + whole.started,
                operand.bytes);
  }
  reducing_[operand.key] = {message, whole.started, operand.bytes};
  whole.started += operand.bytes;
  return part;
}

// Its circuit ends at the first switch, which answers; the network needs it longer.
void ElanNi::open_operand(std::uint32_t id) {
  RdmaPacket& operand = packet(id);
  ++operand.users;
  const Peer first = parts_.ranks.node_of(operand.dest);
  parts_.reductions->inject(now(),
                            {id, self_, first, first + operand.named.members - 1, operand.key,
                             parts_.network_params.header_bytes + operand.bytes});
}

// What a packet of another interface's, or of all members, is here.
std::uint32_t ElanNi::copy_of(std::uint32_t id) {
  const std::uint32_t mine = parts_.packets.take();
  const RdmaPacket& in = packet(id);
  RdmaPacket& copy = packet(mine);
  copy.kind = in.kind;
  copy.source = in.source;
  copy.dest = in.dest;
  copy.named = in.named;
  copy.word_bytes = in.word_bytes;
  copy.bytes = in.bytes;
  copy.key = in.key;
  copy.b = in.b;
  std::memcpy(parts_.packets.payload(mine), parts_.packets.payload(id), in.bytes);
  return mine;
}

void ElanNi::take_reduced(std::uint32_t id) {
  const std::uint32_t mine = copy_of(id);
  answer(id, hw::Outcome::done);
  if (is_by_interfaces(packet(mine))) {
    return at<&ElanNi::on_result_below>(after(thread_, ni_.schedule + ni_.thread_take),
                                        hw::kNiTurnEvent, mine);
  }
  let_go(id);
  at<&ElanNi::on_result>(after(input_, ni_.input), hw::kNiTurnEvent, mine);
}

// Part of a result, for the host.
void ElanNi::on_result(std::uint32_t id) {
  RdmaPacket& result = packet(id);
  const auto found = reducing_.find(result.key);
  const Reducing part = found->second;
  reducing_.erase(found);
  RdmaPacket& message = packet(part.message);
  result.dest = message.source;
  result.parent = part.message;
  result.address = message.reply_address + part.offset;
  // Members that do not agree get nothing, and hear of it at the end.
  if (result.b != 0 || result.bytes != part.bytes) message.b = 1;
  if (message.b != 0) result.bytes = 0;
  message.acknowledged += part.bytes;
  result.last = message.acknowledged == message.size;
  const Ps there = to_memory(of(result.dest), result.address, result.bytes);
  at<&ElanNi::on_reduced>(there, hw::kDmaEvent, id);
  pump_reduction(part.message);
}

// What went to memory before is there: the last part's end is the whole result's.
void ElanNi::on_reduced(std::uint32_t id) {
  const RdmaPacket& result = packet(id);
  (void)of(result.dest).memory->write(result.address, parts_.packets.payload(id), result.bytes);
  if (result.last) complete(result.parent, packet(result.parent).b == 0);
  let_go(id);
}

// --- Interfaces that combine

// One of the host's own, or of a child's.
void ElanNi::take_operand(std::uint32_t id) {
  const RdmaPacket& operand = packet(id);
  const Cycles words{ni_.thread_combine.count * (operand.bytes / bytes_of(type_of(operand)))};
  at<&ElanNi::on_operand>(after(thread_, ni_.schedule + ni_.thread_take + words), hw::kNiTurnEvent,
                          id);
}

void ElanNi::on_operand(std::uint32_t id) {
  const RdmaPacket& operand = packet(id);
  const Peer source = parts_.ranks.node_of(operand.source);
  const Peer first = first_of(operand.key);
  const std::uint32_t mine = self_ - first;
  const std::uint32_t theirs = source - first;
  const std::uint32_t place = source == self_ ? 0 : theirs - mine * kReductionChildren;
  const std::uint64_t begin = std::uint64_t{mine} * kReductionChildren + 1;
  const std::uint64_t members = members_of(operand.key);
  const std::uint64_t children =
      begin < members ? std::min<std::uint64_t>(members - begin, kReductionChildren) : 0;
  Gathering& gathering = gathering_[operand.key];
  gathering.operands[place] = id;
  gathering.has[place] = true;
  if (++gathering.come < children + 1) return;
  const Gathering all = gathering;
  gathering_.erase(operand.key);
  for (std::uint32_t i = 1; i <= kReductionChildren; ++i) {
    if (!all.has[i]) continue;
    combine_operands(parts_.packets, all.operands[0], all.operands[i]);
    let_go(all.operands[i]);
  }
  all_operands(all.operands[0]);
}

void ElanNi::all_operands(std::uint32_t id) {
  RdmaPacket& whole = packet(id);
  const Peer first = first_of(whole.key);
  if (self_ == first) {
    whole.kind = RdmaKind::reduced;
    return send_below(id);
  }
  whole.source = parts_.ranks.rank_at(self_, 0);
  whole.dest = parts_.ranks.rank_at(first + (self_ - first - 1) / kReductionChildren, 0);
  at<&ElanNi::on_built>(after(thread_, ni_.thread_build), hw::kNiTurnEvent, id);
}

// The thread has a packet for another interface.
void ElanNi::on_built(std::uint32_t id) {
  packet(id).named.members = 1;
  ready_.push_back(id);
  ++fetching_;
  open_some();
}

void ElanNi::on_result_below(std::uint32_t id) { send_below(id); }

// To the children, and to the host.
void ElanNi::send_below(std::uint32_t id) {
  const Peer first = first_of(packet(id).key);
  const std::uint64_t members = members_of(packet(id).key);
  const std::uint64_t begin = std::uint64_t{self_ - first} * kReductionChildren + 1;
  for (std::uint64_t child = begin; child < std::min(begin + kReductionChildren, members);
       ++child) {
    const std::uint32_t copy = copy_of(id);
    packet(copy).source = parts_.ranks.rank_at(self_, 0);
    packet(copy).dest = parts_.ranks.rank_at(first + static_cast<Peer>(child), 0);
    at<&ElanNi::on_built>(after(thread_, ni_.thread_dma), hw::kNiTurnEvent, copy);
  }
  on_result(id);
}

}  // namespace fairlead::fabric::model
