#include "fairlead/systems/mpi/devices/panda/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "fairlead/base/check.h"
#include "fairlead/systems/mpi/engine.h"
#include "fairlead/systems/mpi/thresholds.h"

namespace fairlead::mpi {

PandaDevice::PandaDevice(Engine& engine, panda::Panda& panda, bool owned)
    : engine_(engine),
      panda_(panda),
      owned_(owned),
      kept_(panda.port(), kSendSegmentBase, kSendSegments) {
  panda_.serve(kMessages, {&PandaDevice::on_message, this});
  panda_.serve(kBroadcasts, {&PandaDevice::on_broadcast, this});
}

std::string PandaDevice::describe(Rank peer) const {
  std::string way = fmt::format("panda: messages of Panda-ST, packets of {} bytes",
                                panda_.port().caps(peer).mtu_bytes);
  if (puts_to(peer)) way += fmt::format(", from {} bytes on put", kPutBytesMin);
  return way;
}

void PandaDevice::stop() {
  kept_.withdraw();
  if (owned_) panda_.stop();
}

// --- Sending.

void PandaDevice::send(Rank to, const Head& head, const void* from, std::uint64_t size) {
  panda::Message message(from, size);
  message.push(&head, sizeof head);
  panda_.send(to, kMessages, message);
}

// The next `size` bytes of the message, at most a block of them. Panda is done with them when it
// returns.
void PandaDevice::send_part(const Request& send, const Head& head, std::uint64_t size) {
  if (send.layout == nullptr) {
    return this->send(send.envelope.peer, head, send.from + send.moved, size);
  }
  const auto row = std::make_unique_for_overwrite<std::byte[]>(size);
  Engine::gather(send, send.moved, row.get(), size);
  engine_.charge_copy(0, size, send.size);
  this->send(send.envelope.peer, head, row.get(), size);
}

Device::Sent PandaDevice::start(Request& send, bool) {
  const Envelope& to = send.envelope;
  const auto tag = static_cast<std::uint32_t>(to.tag);
  if (send.state == State::eager_queued) {
    send_part(send, {{first_word(Kind::eager, to.context), tag, send.sync ? send.id : 0, 0}},
              send.size);
    return Sent::all;
  }
  if (send.state == State::offer_queued) {
    const bool by_put = send.layout == nullptr && puts_to(to.peer);
    const Offer offer{send.size, 0, by_put ? 1u : 0u};
    this->send(to.peer, {{first_word(Kind::offer, to.context), tag, send.id, 0}}, &offer,
               sizeof offer);
    return Sent::all;
  }
  // One block: what has arrived is looked at before the next, lest two ranks that send each other
  // long messages keep both whole.
  const std::uint64_t size = std::min(kPandaBlockBytes, send.size - send.moved);
  const Head head{{first_word(Kind::data, 0), send.peer_id, static_cast<std::uint32_t>(send.moved),
                   static_cast<std::uint32_t>(send.moved >> 32)}};
  send_part(send, head, size);
  send.moved += size;
  block_sent_ = true;
  return send.moved == send.size ? Sent::all : Sent::blocked;
}

bool PandaDevice::progress() {
  const bool looked = std::exchange(block_sent_, false) && panda_.poll() > 0;
  return end_puts() || looked;
}

std::uint64_t PandaDevice::eager_max(Rank to, bool) const {
  return puts_to(to) ? kPutBytesMin - 1 : kEagerBytesMax;
}

std::uint64_t PandaDevice::broadcast_max() const { return kPandaBlockBytes; }

void PandaDevice::broadcast(const void* from, std::uint64_t size, std::uint32_t context,
                            std::int32_t tag) {
  const Head head{{first_word(Kind::eager, context), static_cast<std::uint32_t>(tag), 0, 0}};
  panda::Message message(from, size);
  message.push(&head, sizeof head);
  panda_.broadcast(kBroadcasts, message);
}

// --- Receiving.

void PandaDevice::poll() { (void)panda_.poll(); }

// Whatever changes for the engine is a message's doing, or a put's. A lost rank ends the job there.
// A deadline that is over already asks for a look.
Post PandaDevice::wait(const lci::Until& until) {
  const bool looks = until.deadline == Ps{0};
  FAIRLEAD_CHECK(
      until.word == nullptr && until.counter == nullptr && (looks || until.deadline == kNever),
      "{}: the panda device waits for messages only", until.what);
  const std::uint64_t before = handled_.ok.load(std::memory_order_relaxed);
  if (!looks) {
    if (has_work()) return wait_for_puts(until);
    panda_.wait(handled_, before + 1, until.what);
    return Post::done;
  }
  (void)panda_.poll();
  const bool changed = handled_.ok.load(std::memory_order_relaxed) != before || any_put_over();
  return changed ? Post::done : Post::again_credit;
}

bool PandaDevice::pop_head(panda::Incoming& message, Head& head) {
  handled_.ok.fetch_add(1, std::memory_order_relaxed);
  if (message.size() < sizeof head) {
    ++strays_;
    return false;
  }
  message.pop(&head, sizeof head);
  return true;
}

void PandaDevice::on_message(void* self, panda::Incoming message) {
  auto& device = *static_cast<PandaDevice*>(self);
  Head head;
  if (!device.pop_head(message, head)) return;
  switch (kind_of(head.words[0])) {
    case Kind::eager:
      return device.on_eager(head, head.words[0] & kContextMask, message);
    case Kind::offer:
      return device.on_offer(head, message);
    case Kind::accept:
      return device.on_accept(head, message);
    case Kind::data:
      return device.on_data(head, message);
    case Kind::finished:
      return device.on_finished(head, message.source());
    default:
      ++device.strays_;
  }
}

// Panda orders broadcasts apart from messages to one rank: they are matched by themselves.
void PandaDevice::on_broadcast(void* self, panda::Incoming message) {
  auto& device = *static_cast<PandaDevice*>(self);
  Head head;
  if (!device.pop_head(message, head)) return;
  device.on_eager(head, (head.words[0] & kContextMask) | kBroadcastContext, message);
}

void PandaDevice::on_eager(const Head& head, std::uint32_t context, panda::Incoming& message) {
  const auto tag = static_cast<std::int32_t>(head.words[1]);
  const Envelope envelope{context, message.source(), tag};
  const std::uint32_t sender_id = head.words[2];
  if (Request* receive = engine_.matcher().arrive(envelope); receive != nullptr) {
    Engine::matched(*receive, envelope.peer, tag, message.size());
    deliver(*receive, message);
    if (sender_id != 0) {
      send(envelope.peer, {{first_word(Kind::finished, 0), sender_id, 0, 0}}, nullptr, 0);
    }
    return;
  }
  engine_.charge_copy(engine_.match_ops(), 0, 0);
  Unexpected* const kept = engine_.keep(envelope, Unexpected::Place::bytes, message.size());
  kept->sender_id = sender_id;
  engine_.hold(*kept);
  kept->held = held_.take();
  kept->held->incoming = std::move(message);
}

// Takes the next `size` bytes, which are those at `offset` of the message.
void PandaDevice::take(Request& receive, std::uint64_t offset, panda::Incoming& message,
                       std::uint64_t size) {
  if (receive.layout == nullptr) return message.pop(receive.to + offset, size);
  Cursor(*receive.layout, receive.to, offset)
      .each_run(size, [&](std::byte* at, std::uint64_t bytes) { message.pop(at, bytes); });
}

// Panda declares the copy.
void PandaDevice::deliver(Request& receive, panda::Incoming& message) {
  take(receive, 0, message, std::min<std::uint64_t>(message.size(), receive.capacity));
  message.clear();
  engine_.charge_copy(engine_.match_ops(), 0, 0);
  receive.state = State::done;
}

void PandaDevice::accept(Request& receive, Unexpected& message) {
  if (message.place == Unexpected::Place::offer) {
    engine_.charge_copy(engine_.match_ops(), 0, 0);
    return start_rendezvous(receive, message.sender_id, message.offer);
  }
  if (message.held == nullptr) return engine_.deliver(receive, message.data, message.size);
  deliver(receive, message.held->incoming);
  held_.give(std::exchange(message.held, nullptr));
  engine_.let_go(message);
  if (message.sender_id != 0) {
    send(message.envelope.peer, {{first_word(Kind::finished, 0), message.sender_id, 0, 0}}, nullptr,
         0);
  }
}

void PandaDevice::on_offer(const Head& head, panda::Incoming& message) {
  Offer offer;
  if (message.size() != sizeof offer) {
    ++strays_;
    return;
  }
  message.pop(&offer, sizeof offer);
  const auto tag = static_cast<std::int32_t>(head.words[1]);
  const Envelope envelope{head.words[0] & kContextMask, message.source(), tag};
  engine_.charge_copy(engine_.match_ops(), 0, 0);
  if (Request* receive = engine_.matcher().arrive(envelope); receive != nullptr) {
    Engine::matched(*receive, envelope.peer, tag, offer.size);
    return start_rendezvous(*receive, head.words[2], offer);
  }
  Unexpected* const kept = engine_.keep(envelope, Unexpected::Place::offer, offer.size);
  kept->sender_id = head.words[2];
  kept->offer = offer;
}

void PandaDevice::start_rendezvous(Request& receive, std::uint32_t sender_id, const Offer& offer) {
  const std::uint64_t wanted = std::min(offer.size, receive.capacity);
  if (wanted != 0 && offer.exposed != 0 && await_put(receive, sender_id, wanted)) return;
  receive.moved = 0;
  receive.state = wanted == 0 ? State::done : State::receiving;
  send(receive.envelope.peer, {{first_word(Kind::accept, 0), sender_id, receive.id, 0}}, &wanted,
       sizeof wanted);
}

void PandaDevice::on_accept(const Head& head, panda::Incoming& message) {
  Request* const send = engine_.find(head.words[1]);
  Place place{};
  const bool by_put = message.size() == sizeof place;
  if (send == nullptr || send->state != State::offered || send->envelope.peer != message.source() ||
      (!by_put && message.size() != sizeof place.wanted) ||
      (by_put && (send->layout != nullptr || !puts_to(message.source())))) {
    ++strays_;
    return;
  }
  message.pop(&place, message.size());
  send->size = std::min(send->size, place.wanted);
  send->peer_id = head.words[2];
  if (send->size == 0) return engine_.sent(*send);
  if (by_put) return start_put(*send, place);
  // Inside a handler what has no room would be copied.
  send->state = State::data_queued;
  engine_.queue(*send);
}

void PandaDevice::on_data(const Head& head, panda::Incoming& message) {
  Request* const receive = engine_.find(head.words[1]);
  const std::uint64_t offset = head.words[2] | std::uint64_t{head.words[3]} << 32;
  if (receive == nullptr || receive->state != State::receiving || receive->is_send ||
      receive->envelope.peer != message.source() || offset != receive->moved) {
    ++strays_;
    return;
  }
  const std::uint64_t wanted = std::min(receive->size, receive->capacity);
  const std::uint64_t size = message.size();
  if (size > wanted - receive->moved) {
    ++strays_;
    return;
  }
  take(*receive, offset, message, size);
  receive->moved += size;
  if (receive->moved == wanted) receive->state = State::done;
}

void PandaDevice::on_finished(const Head& head, Rank source) {
  Request* const send = engine_.find(head.words[1]);
  if (send == nullptr || send->state != State::offered || send->envelope.peer != source) {
    ++strays_;
    return;
  }
  engine_.sent(*send);
}

}  // namespace fairlead::mpi
