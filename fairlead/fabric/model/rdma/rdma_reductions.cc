// Reductions that switches do: the interface cuts its host's operand into packets for them, keeps
// so many under way, and puts what comes back where the host says.
#include <algorithm>
#include <cstring>

#include "fairlead/fabric/model/rdma/rdma_ni.h"
#include "fairlead/hw/event_kinds.h"

namespace fairlead::fabric::model {

void RdmaNi::pump_reduction(std::uint32_t id) {
  const std::uint64_t ahead =
      std::uint64_t{parts_.network_params.reductions_ahead} * parts_.network_params.reduction_bytes;
  while (packet(id).started < packet(id).size &&
         packet(id).started - packet(id).acknowledged < ahead) {
    const std::uint32_t part = cut_operand(id);
    if (packet(part).ready) {
      leave_operand(part);
    } else {
      fetch(part, packet(part).bytes, RdmaFetch::payload);
    }
  }
}

std::uint32_t RdmaNi::cut_operand(std::uint32_t message) {
  const std::uint32_t part = parts_.packets.take();
  RdmaPacket& operand = packet(part);
  RdmaPacket& whole = packet(message);
  const std::uint64_t most = parts_.network_params.reduction_bytes;
  operand.kind = RdmaKind::reduce;
  operand.source = whole.source;
  operand.dest = whole.dest;
  operand.named = whole.named;
  operand.word_bytes = whole.word_bytes;
  operand.address = whole.address + whole.started;
  operand.bytes = static_cast<std::uint32_t>(std::min(most, whole.size - whole.started));
  operand.key = reduction_name(parts_.ranks.node_of(whole.dest), whole.named.members, whole.a,
                               whole.started / most);
  operand.ready = whole.with_entry;
  if (whole.with_entry) {
    std::memcpy(parts_.packets.payload(part), parts_.packets.payload(message) + whole.started,
                operand.bytes);
  }
  reducing_[operand.key] = {message, whole.started, operand.bytes};
  whole.started += operand.bytes;
  return part;
}

void RdmaNi::leave_operand(std::uint32_t id) {
  const RdmaPacket& operand = packet(id);
  const Ps gone = sender_.acquire(now(), ni_.packet) + ni_.packet;
  const Peer first = parts_.ranks.node_of(operand.dest);
  parts_.network.reductions()->inject(
      gone, {id, self_, first, first + operand.named.members - 1, operand.key,
             parts_.network_params.header_bytes + operand.bytes});
}

void RdmaNi::reduced(std::uint32_t id) {
  const Ps takes = ni_.packet + ni_.translate;
  at<&RdmaNi::on_result>(responder_.acquire(now(), takes) + takes, hw::kNiTurnEvent, id);
}

void RdmaNi::on_result(std::uint32_t id) {
  const std::uint32_t mine = parts_.packets.take();
  RdmaPacket& result = packet(id);
  const auto found = reducing_.find(result.key);
  const Reducing part = found->second;
  reducing_.erase(found);
  RdmaPacket& message = packet(part.message);
  RdmaPacket& here = packet(mine);
  here.kind = RdmaKind::reduced;
  here.source = message.dest;
  here.dest = message.source;
  here.operation = message.operation;
  here.parent = part.message;
  here.reply_address = message.reply_address + part.offset;
  // Members that do not agree get nothing, and hear of it at the end.
  if (result.b != 0 || result.bytes != part.bytes) message.b = 1;
  here.bytes = message.b == 0 ? part.bytes : 0;
  std::memcpy(parts_.packets.payload(mine), parts_.packets.payload(id), here.bytes);
  message.acknowledged += part.bytes;
  here.last = message.acknowledged == message.size;
  if (--result.users == 0) parts_.packets.give(id);
  to_host(mine, here.bytes, RdmaStore::reduced);
  pump_reduction(part.message);
}

// Transfers end in order: the last one's end is the whole result's.
void RdmaNi::on_reduced(std::uint32_t id) {
  RdmaPacket& here = packet(id);
  (void)of(here.dest).memory->write(here.reply_address, parts_.packets.payload(id), here.bytes);
  if (!here.last) return parts_.packets.give(id);
  here.ok = packet(here.parent).b == 0;
  parts_.packets.give(here.parent);
  complete(id);
}

}  // namespace fairlead::fabric::model
