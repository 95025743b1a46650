// Requests that are kept until they are done, and sent again: where a fault plan's links lose
// packets.
#include <cstdint>
#include <cstring>
#include <utility>

#include "fairlead/fabric/model/rdma/rdma_ni.h"
#include "fairlead/hw/event_kinds.h"

namespace fairlead::fabric::model {
namespace {

// A write of many packets is acknowledged by so many; other requests at once, or by their answers.
constexpr std::uint32_t kAckEvery = 16;

bool is_request(RdmaKind kind) {
  return kind == RdmaKind::send || kind == RdmaKind::write || kind == RdmaKind::read ||
         kind == RdmaKind::atomic || kind == RdmaKind::credit;
}

RcRequester::Ends ends_of(const RdmaPacket& request) {
  using Ends = RcRequester::Ends;
  if (request.kind == RdmaKind::read) return Ends::data;
  const bool answered = request.kind == RdmaKind::atomic ||
                        (request.kind == RdmaKind::write && request.last) ||
                        (request.kind == RdmaKind::send && request.signalled);
  return answered ? Ends::answer : Ends::taken;
}
bool is_answered(const RdmaPacket& request) { return ends_of(request) != RcRequester::Ends::taken; }

}  // namespace

RdmaNi::Connection& RdmaNi::connection(Rank own, Rank peer, std::uint8_t number) {
  return way(own, peer).connections[number];
}

bool RdmaNi::is_full(Rank own, Rank peer, std::uint8_t queue) {
  if (!parts_.loses || queue >= kConnections) return false;
  Connection& to = connection(own, peer, queue);
  return !to.broken && to.requester.full();
}

bool RdmaNi::is_broken(Rank own, Rank peer, std::uint8_t queue) {
  return parts_.loses && queue < kConnections && connection(own, peer, queue).broken;
}

// A request has its number and is kept; what goes on the wire is a copy of it.
std::uint32_t RdmaNi::number_request(std::uint32_t id) {
  RdmaPacket& leaving = packet(id);
  if (!is_request(leaving.kind)) return id;
  leaving.connection = leaving.kind == RdmaKind::credit ? leaving.lane : leaving.queue;
  Connection& to = connection(leaving.source, leaving.dest, leaving.connection);
  if (to.requester.idle()) to.heard = now();
  leaving.number = to.requester.add(id, ends_of(leaving));
  arm(leaving.source, leaving.dest, leaving.connection);
  return copy_of(id);
}

std::uint32_t RdmaNi::copy_of(std::uint32_t id) {
  const std::uint32_t copy = parts_.packets.take();
  packet(copy) = packet(id);
  const bool data = packet(id).kind == RdmaKind::send || packet(id).kind == RdmaKind::write ||
                    packet(id).kind == RdmaKind::read_data;
  if (data && packet(id).bytes > 0) {
    std::memcpy(parts_.packets.payload(copy), parts_.packets.payload(id), packet(id).bytes);
  }
  return copy;
}

// --- What arrives

// False: there is nothing more to do for it.
bool RdmaNi::takes(std::uint32_t id) {
  const RdmaPacket& in = packet(id);
  const Rank own = in.dest;
  const Rank peer = in.source;
  const std::uint8_t number = in.connection;
  if (is_request(in.kind)) return takes_request(id);
  if (in.kind != RdmaKind::ack) return takes_answer(id);
  Connection& to = connection(own, peer, number);
  const std::uint32_t expected = in.number;
  const bool gap = !in.ok;
  if (to.requester.acknowledged(expected)) on_news(own, peer, number);
  if (gap && to.requester.is_gap(expected)) go_back(own, peer, number);
  return false;
}

bool RdmaNi::takes_answer(std::uint32_t id) {
  const RdmaPacket& in = packet(id);
  const Rank own = in.dest;
  const Rank peer = in.source;
  const std::uint8_t number = in.connection;
  Connection& to = connection(own, peer, number);
  bool news = false;
  if (in.kind == RdmaKind::answer) {
    news = to.requester.answered(in.number);
  } else {
    const auto data = to.requester.data(in.number, in.position, in.bytes, in.last, in.execution);
    if (data == RcRequester::Data::gap) go_back(own, peer, number);
    news = data == RcRequester::Data::next;
  }
  if (news) on_news(own, peer, number);
  return news;
}

bool RdmaNi::takes_request(std::uint32_t id) {
  const RdmaPacket& in = packet(id);
  RcResponder& responder = connection(in.dest, in.source, in.connection).responder;
  switch (responder.arrived(in.number)) {
    case RcResponder::Arrival::next:
      if (is_answered(in) && in.kind != RdmaKind::send) return true;
      if (in.kind != RdmaKind::write || in.number % kAckEvery == 0) {
        acknowledge(in.dest, in.source, in.connection, false);
      }
      return true;
    case RcResponder::Arrival::gap:
      acknowledge(in.dest, in.source, in.connection, true);
      return false;
    case RcResponder::Arrival::late:
      return false;
    case RcResponder::Arrival::again:
      break;
  }
  const RcResponder::End* const end = responder.end_of(in.number);
  if (end == nullptr) {
    if (in.kind == RdmaKind::read) return true;
    // One that has an answer has it yet to come.
    if (!is_answered(in) || in.kind == RdmaKind::send) {
      acknowledge(in.dest, in.source, in.connection, false);
    }
    return false;
  }
  const std::uint32_t once_more = parts_.packets.take();
  RdmaPacket& back = packet(once_more);
  back.kind = RdmaKind::answer;
  back.source = packet(id).dest;
  back.dest = packet(id).source;
  back.connection = packet(id).connection;
  back.number = end->number;
  back.operation = end->operation;
  back.a = end->old;
  back.lane = end->lane;
  back.ok = end->ok;
  leave(once_more);
  return false;
}

void RdmaNi::acknowledge(Rank own, Rank peer, std::uint8_t number, bool gap) {
  const std::uint32_t id = parts_.packets.take();
  RdmaPacket& ack = packet(id);
  ack.kind = RdmaKind::ack;
  ack.source = own;
  ack.dest = peer;
  ack.connection = number;
  ack.number = connection(own, peer, number).responder.expected();
  ack.ok = !gap;
  leave(id);
}

// --- The requester

void RdmaNi::on_news(Rank own, Rank peer, std::uint8_t number) {
  Connection& to = connection(own, peer, number);
  to.heard = now();
  to.tries = 0;
  to.requester.end_done([this](std::uint32_t packet) { parts_.packets.give(packet); });
  leave_in_order(own, peer, number);
}

void RdmaNi::arm(Rank own, Rank peer, std::uint8_t number) {
  Connection& to = connection(own, peer, number);
  if (to.armed) return;
  to.armed = true;
  parts_.engine.at(
      to.heard + ni_.ack_timeout, self_, hw::kNiTimerEvent,
      [](void* self, std::uint64_t ranks, std::uint64_t which) {
        static_cast<RdmaNi*>(self)->on_ack_timer(static_cast<Rank>(ranks >> 32),
                                                 static_cast<Rank>(ranks),
                                                 static_cast<std::uint8_t>(which));
      },
      this, std::uint64_t{own} << 32 | peer, number);
}

void RdmaNi::on_ack_timer(Rank own, Rank peer, std::uint8_t number) {
  Connection& to = connection(own, peer, number);
  to.armed = false;
  if (to.broken || to.requester.idle()) return;
  if (to.heard + ni_.ack_timeout > now()) return arm(own, peer, number);
  go_back(own, peer, number);
}

void RdmaNi::go_back(Rank own, Rank peer, std::uint8_t number) {
  Connection& to = connection(own, peer, number);
  if (to.broken) return;
  if (to.tries++ == ni_.retries) return give_up(own, peer, number);
  to.heard = now();
  arm(own, peer, number);
  to.requester.again([this](std::uint32_t id) {
    const std::uint32_t copy = copy_of(id);
    packet(copy).again = true;
    ++repeated_;
    // Its number it has.
    const RdmaPacket& leaving = packet(copy);
    const Ps gone = sender_.acquire(now(), ni_.packet) + ni_.packet;
    const bool data = leaving.kind == RdmaKind::send || leaving.kind == RdmaKind::write;
    parts_.network.inject(gone, copy, self_, parts_.ranks.node_of(leaving.dest),
                          parts_.network_params.header_bytes + (data ? leaving.bytes : 0));
  });
}

// The host hears of it once, and of each operation that it is not done.
void RdmaNi::give_up(Rank own, Rank peer, std::uint8_t number) {
  Connection& to = connection(own, peer, number);
  to.broken = true;
  to.requester.give_up([this](std::uint32_t id, bool done) {
    if (done) {
      parts_.packets.give(id);
    } else {
      fail(id);
    }
  });
  const std::uint32_t lost = parts_.packets.take();
  RdmaPacket& told = packet(lost);
  told.kind = RdmaKind::answer;
  told.source = peer;
  told.dest = own;
  complete(lost);
  pump(own, peer, number);
}

// A request that is not sent, or not again.
void RdmaNi::fail(std::uint32_t id) {
  RdmaPacket& request = packet(id);
  const bool told = request.kind == RdmaKind::read || request.kind == RdmaKind::atomic ||
                    (request.kind == RdmaKind::write && request.last);
  if (!told) return parts_.packets.give(id);
  request.kind = RdmaKind::answer;
  std::swap(request.dest, request.source);
  request.ok = false;
  complete(id);
}

}  // namespace fairlead::fabric::model
