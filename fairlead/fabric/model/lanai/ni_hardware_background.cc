// Another job's process on a node: it sends one message after the other from its host's memory, as
// fast as the interface takes them, a packet of each at a time: the next one leaves when its peer's
// interface has acknowledged that the last is in its host's memory. Its packets take the steps of
// the control program that those of every implementation take, in turns of their own, and cross
// bus and network beside the ranks'. Who receives looks at its own memory, on a processor of its
// own.
#include <algorithm>

#include "fairlead/fabric/model/lanai/ni_hardware.h"
#include "fairlead/hw/event_kinds.h"

namespace fairlead::fabric::model {

void NiHardware::begin_background(const hw::NetworkParams& network) {
  const hw::BackgroundParams& params = parts_.params.background;
  if (params.pattern == hw::BackgroundParams::kNone) return;
  other_job_ = std::make_unique<OtherJob>(params, network, self());
  if (!other_job_->traffic.sends(parts_.engine.nodes())) return;
  other_job_->messages.resize(params.ahead);
  for (std::uint32_t message = 0; message < params.ahead; ++message) {
    parts_.engine.at(other_job_->traffic.first(), self(), hw::kDoorbellEvent,
                     &NiHardware::on_other_message, this, message);
  }
}

// Its descriptor is in NI memory.
void NiHardware::on_other_message(void* self, std::uint64_t number, std::uint64_t) {
  auto* ni = static_cast<NiHardware*>(self);
  BackgroundTraffic& traffic = ni->other_job_->traffic;
  if (traffic.ended()) return;
  if (const Ps due = traffic.due(); ni->parts_.engine.now() < due) {
    return ni->parts_.engine.at(due, ni->self(), hw::kDoorbellEvent, &NiHardware::on_other_message,
                                self, number);
  }
  OtherJob::Message& message = ni->other_job_->messages[number];
  message.to = traffic.leaves(ni->parts_.engine.now(), ni->parts_.engine.nodes());
  message.left = ni->parts_.params.background.bytes;
  ni->post_other(static_cast<std::uint32_t>(number));
}

void NiHardware::post_other(std::uint32_t number) {
  OtherJob::Message& message = other_job_->messages[number];
  const std::uint32_t bytes = std::min(message.left, payload_max());
  message.left -= bytes;
  message.under_way = true;
  const PacketId id = make(PacketKind::data, message.to, bytes);
  NiPacket& made = packet(id);
  made.place = kOtherJob;
  made.cookie = number;
  made.header.client.size = bytes;
  processor_.submit({kOtherPosted, id});
}

void NiHardware::other_turn(hw::NiWork work) {
  const PacketId id = work.packet;
  switch (work.kind) {
    case kOtherPosted:
      charge(Step::dequeue);
      charge(Step::window);
      charge(Step::dma_queue);
      charge(Step::dma_program);
      return request(DmaKind::other_fetch, 0, id);
    case kOtherFetched:
      charge(Step::dma_complete);
      charge(Step::header);
      return send_other(id);
    case kOtherReceived:
      charge(Step::detect);
      charge(Step::dispatch);
      if (packet(id).header.client.kind == PacketKind::ack) return other_acknowledged(id);
      charge(Step::deliver);
      charge(Step::dma_program);
      return request(DmaKind::other_deliver, 0, id);
    default:
      charge(Step::dma_complete);
      charge(Step::release);
      charge(Step::ack);
      packet(id).header.client.kind = PacketKind::ack;
      packet(id).header.client.size = 0;
      return send_other(id);
  }
}

// To its peer, for which this node is then the peer.
void NiHardware::send_other(PacketId id) {
  charge(Step::transmit);
  NiPacket& sent = packet(id);
  const Peer to = sent.peer;
  sent.peer = self();
  parts_.network.inject(processor_.now(), id, self(), to,
                        parts_.header_bytes + sent.header.client.size);
}

// A rank may have damaged its packets: what answers nothing is nobody's.
void NiHardware::other_acknowledged(PacketId id) {
  charge(Step::credit);
  const std::uint64_t number = packet(id).cookie;
  free_packet(id);
  if (number >= other_job_->messages.size() || !other_job_->messages[number].under_way) return;
  OtherJob::Message& message = other_job_->messages[number];
  message.under_way = false;
  if (message.left > 0) return post_other(static_cast<std::uint32_t>(number));
  // Its process sees the end and posts the next one.
  const Ps posts = parts_.host_rates.step[static_cast<std::size_t>(Step::reap_completion)] +
                   parts_.host_rates.step[static_cast<std::size_t>(Step::send)];
  parts_.engine.at(processor_.now() + parts_.params.host_visible + posts, self(),
                   hw::kDoorbellEvent, &NiHardware::on_other_message, this, number);
}

void NiHardware::other_copied(const DmaRequest& done, Ps seen) {
  const bool fetched = done.kind == DmaKind::other_fetch;
  parts_.engine.at(
      seen, self(), hw::kDmaEvent,
      [](void* self, std::uint64_t id, std::uint64_t turn) {
        static_cast<NiHardware*>(self)->processor_.submit(
            {static_cast<std::uint32_t>(turn), static_cast<PacketId>(id)});
      },
      this, done.id, fetched ? kOtherFetched : kOtherDelivered);
}

}  // namespace fairlead::fabric::model
