// The receiving half of the direct device: upcalls, and what they leave to do.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fairlead/base/copy_small.h"
#include "fairlead/systems/mpi/direct.h"
#include "fairlead/systems/mpi/engine.h"
#include "fairlead/systems/mpi/thresholds.h"

namespace fairlead::mpi {

Direct::Direct(Engine& engine, lci::Port& port, bool free_work, CopyChoice choice,
               FirstNumbers first)
    : engine_(engine),
      port_(port),
      straight_(free_work ? port.fast_path(kChannel, lci::Lane::request) : lci::FastPath()),
      next_message_(first.message),
      next_segment_(first.segment),
      choice_(choice),
      claims_(first.claim) {}

void Direct::bind(const lci::Upcall& by) {
  port_.bind(kChannel, by, {&Direct::returned, &engine_});
}

std::string Direct::describe(Rank peer) const {
  const lci::Caps& caps = port_.caps(peer);
  const char* const copies = (caps.flags & lci::kSingleCopy) != 0   ? "copies by the kernel"
                             : (caps.flags & lci::kRemoteCopy) != 0 ? "copies by the network"
                                                                    : "packets alone";
  return fmt::format("direct: packets of {} bytes, {}", caps.mtu_bytes, copies);
}

// What most messages are, with few instructions: a small one whose receive is posted, no work to
// declare, nobody who waits for an answer. All else as it comes.
bool Direct::upcall_small(void* self, Rank source, lci::WordVector words, const std::byte* data,
                          std::size_t size) {
  Engine& engine = *static_cast<Engine*>(self);
  if (kind_of(words[0]) != Kind::eager || words[2] != 0 || size > kCopyLineMax ||
      !engine.free_work()) [[unlikely]] {
    return false;
  }
  const auto tag = static_cast<std::int32_t>(words[1]);
  Request* const receive = engine.matcher().arrive_first({words[0] & kContextMask, source, tag});
  if (receive == nullptr) [[unlikely]]
    return false;
  Engine::matched(*receive, source, tag, size);
  if (receive->layout != nullptr) [[unlikely]] {
    engine.deliver(*receive, data, size);
    return true;
  }
  copy_line(receive->to, data, std::min(size, receive->capacity));
  receive->state = State::done;
  return true;
}

// What comes from the rank that `request` waits for, as upcall_small() does it, but at once and
// until it is done. False: it is not, or only the port can see to it.
bool Direct::receive_straight(Request& request) {
  const Envelope wanted = request.envelope;
  if (straight_left_ == 0 || request.state != State::posted || wanted.peer == kAnySource ||
      wanted.peer == engine_.self() || engine_.any_queued() || !idle() || engine_.others_call())
      [[unlikely]] {
    straight_left_ = kStraightMax;
    return false;
  }
  --straight_left_;
  const std::uint32_t eager = first_word(Kind::eager, wanted.context);
  Matcher::Posted& posted = engine_.matcher().posted(wanted);
  return straight_.receive(
      wanted.peer,
      [&](lci::WordVector words, const auto& bytes, std::uint64_t size)
          __attribute__((always_inline)) {
            if (words[0] != eager || words[2] != 0) [[unlikely]]
              return false;
            const Request* const next = posted.front();
            if (next != nullptr && next->layout != nullptr) [[unlikely]]
              return false;
            const auto tag = static_cast<std::int32_t>(words[1]);
            Request* const receive =
                engine_.matcher().take_first(posted, {wanted.context, wanted.peer, tag});
            if (receive == nullptr) [[unlikely]]
              return false;
            Engine::matched(*receive, wanted.peer, tag, size);
            bytes.copy_to(receive->to, std::min(size, receive->capacity));
            receive->state = State::done;
            return true;
          },
      [&] { return request.done(); });
}

Keep Direct::upcall(void* self, lci::Packet* packet, const lci::Arrival& arrival) {
  return static_cast<Engine*>(self)->direct().arrived(packet, arrival);
}

Keep Direct::arrived(lci::Packet* packet, const lci::Arrival& arrival) {
  switch (kind_of(arrival.words[0])) {
    case Kind::eager:
      return on_eager(packet, arrival);
    case Kind::eager_first:
      on_eager_first(arrival);
      break;
    case Kind::eager_more:
      on_eager_more(arrival);
      break;
    case Kind::offer:
      on_offer(arrival);
      break;
    case Kind::accept:
      on_accept(arrival);
      break;
    case Kind::data:
      on_data(arrival);
      break;
    case Kind::finished:
      on_finished(arrival);
      break;
    case Kind::help:
      on_help(arrival);
      break;
    case Kind::helped:
      on_helped(arrival);
      break;
    case Kind::slower:
      engine_.slow(arrival.source, arrival.words[1] != 0);
      break;
    default:
      ++strays_;
  }
  return Keep::no;
}

void Direct::returned(void* self, const lci::Arrival& arrival, Post) {
  static_cast<Engine*>(self)->failed(fmt::format(
      "a message of {} bytes could not be delivered: its rank is gone", arrival.data.size()));
}

Keep Direct::on_eager(lci::Packet* packet, const lci::Arrival& arrival) {
  const auto tag = static_cast<std::int32_t>(arrival.words[1]);
  // Messages to all ranks have an order of their own, and no sender that waits.
  const std::uint32_t order = arrival.via_group ? kBroadcastContext : 0;
  const Envelope envelope{(arrival.words[0] & kContextMask) | order, arrival.source, tag};
  const std::uint32_t sender_id = arrival.via_group ? 0 : arrival.words[2];
  const std::size_t size = arrival.data.size();
  if (Request* receive = engine_.matcher().arrive(envelope); receive != nullptr) [[likely]] {
    Engine::matched(*receive, arrival.source, tag, size);
    engine_.deliver(*receive, arrival.data.data(), size);
    if (sender_id != 0)
      reply({arrival.source, {first_word(Kind::finished, 0), sender_id, 0, 0}, 0});
    return Keep::no;
  }
  Unexpected* u = engine_.keep(envelope, Unexpected::Place::bytes, size);
  u->sender_id = sender_id;
  if (size > Unexpected::kInside && packet != nullptr) {
    u->packet = packet;
    u->data = arrival.data.data();
    engine_.hold(*u);
    engine_.charge_copy(engine_.match_ops(), 0, 0);
    return Keep::yes;
  }
  std::byte* copy = size <= Unexpected::kInside ? u->inside : engine_.memory_for(*u);
  if (size != 0) std::memcpy(copy, arrival.data.data(), size);
  u->data = copy;
  engine_.charge_copy(engine_.match_ops(), size, size);
  return Keep::no;
}

void Direct::on_eager_first(const lci::Arrival& arrival) {
  const auto tag = static_cast<std::int32_t>(arrival.words[1]);
  const Envelope envelope{arrival.words[0] & kContextMask, arrival.source, tag};
  const std::uint64_t size = arrival.words[2];
  if (arrival.data.size() > size) {
    ++strays_;
    return;
  }
  Stream* stream = stream_pool_.take();
  stream->source = arrival.source;
  stream->message = arrival.words[3];
  stream->size = size;
  stream->received = 0;
  stream->early = nullptr;
  stream->request = engine_.matcher().arrive(envelope);
  streams_of(arrival.source).push_back(stream);
  if (stream->request != nullptr) {
    Engine::matched(*stream->request, arrival.source, tag, size);
    stream->request->state = State::receiving;
  } else {
    stream->early = engine_.keep(envelope, Unexpected::Place::bytes, size);
    stream->early->sender_id = 0;
    stream->early->stream = stream;
    stream->early->data = engine_.memory_for(*stream->early);
  }
  engine_.charge_copy(engine_.match_ops(), 0, 0);
  stream_bytes(*stream, arrival.data.data(), arrival.data.size());
}

void Direct::on_eager_more(const lci::Arrival& arrival) {
  Stream* stream = streams_of(arrival.source).front();
  while (stream != nullptr &&
         (stream->source != arrival.source || stream->message != arrival.words[1])) {
    stream = Streams::next(stream);
  }
  // Late, repeated or foreign: the packets of a message come in order, and none twice.
  if (stream == nullptr || stream->received != arrival.words[2] ||
      arrival.data.size() > stream->size - stream->received) {
    ++strays_;
    return;
  }
  stream_bytes(*stream, arrival.data.data(), arrival.data.size());
}

void Direct::stream_bytes(Stream& stream, const std::byte* from, std::uint64_t size) {
  const std::uint64_t room = stream.request != nullptr ? stream.request->capacity : stream.size;
  const std::uint64_t left = room > stream.received ? room - stream.received : 0;
  const std::uint64_t fits = std::min(size, left);
  if (stream.request != nullptr) {
    Engine::place(*stream.request, stream.received, from, fits);
  } else if (fits != 0) {
    std::memcpy(stream.early->heap.get() + stream.received, from, fits);
  }
  engine_.charge_copy(0, fits, std::min(room, stream.size));
  stream.received += size;
  if (stream.received == stream.size) end_stream(stream);
}

void Direct::end_stream(Stream& stream) {
  if (stream.request != nullptr) {
    stream.request->state = State::done;
  } else {
    stream.early->stream = nullptr;
  }
  streams_of(stream.source).remove(&stream);
  stream_pool_.give(&stream);
}

void Direct::on_offer(const lci::Arrival& arrival) {
  Offer offer;
  if (arrival.data.size() != sizeof offer) {
    ++strays_;
    return;
  }
  std::memcpy(&offer, arrival.data.data(), sizeof offer);
  const auto tag = static_cast<std::int32_t>(arrival.words[1]);
  const Envelope envelope{arrival.words[0] & kContextMask, arrival.source, tag};
  engine_.charge_copy(engine_.match_ops(), 0, 0);
  if (Request* receive = engine_.matcher().arrive(envelope); receive != nullptr) {
    Engine::matched(*receive, arrival.source, tag, offer.size);
    start_rendezvous(*receive, arrival.words[2], offer);
    return;
  }
  Unexpected* u = engine_.keep(envelope, Unexpected::Place::offer, offer.size);
  u->sender_id = arrival.words[2];
  u->offer = offer;
}

void Direct::start_rendezvous(Request& receive, std::uint32_t sender_id, const Offer& offer) {
  const std::uint64_t wanted = std::min(offer.size, receive.capacity);
  receive.peer_id = sender_id;
  receive.moved = 0;
  receive.asked = kNever;
  if (wanted != 0 && offer.exposed != 0 && receive.layout == nullptr) {
    receive.asked = port_.now();
    const bool by_network = (port_.caps(receive.envelope.peer).flags & lci::kRemoteCopy) != 0;
    if (choice_.choose(wanted, by_network) == CopyChoice::Way::single_copy) {
      return start_copy(receive, offer);
    }
  }
  receive.state = wanted == 0 ? State::done : State::receiving;
  reply({receive.envelope.peer, {first_word(Kind::accept, 0), sender_id, receive.id, 0}, wanted});
}

void Direct::on_accept(const lci::Arrival& arrival) {
  Request* send = engine_.find(arrival.words[1]);
  std::uint64_t wanted = 0;
  if (send == nullptr || send->state != State::offered || send->envelope.peer != arrival.source ||
      arrival.data.size() != sizeof wanted) {
    ++strays_;
    return;
  }
  std::memcpy(&wanted, arrival.data.data(), sizeof wanted);
  send->size = std::min(send->size, wanted);
  send->peer_id = arrival.words[2];
  if (send->size == 0) {
    engine_.sent(*send);
    return;
  }
  // Bytes go on the request lane, which an upcall may not use.
  send->state = State::data_queued;
  engine_.queue(*send);
}

void Direct::on_data(const lci::Arrival& arrival) {
  Request* receive = engine_.find(arrival.words[1]);
  const std::uint64_t offset = arrival.words[2] | std::uint64_t{arrival.words[3]} << 32;
  if (receive == nullptr || receive->state != State::receiving || receive->is_send ||
      receive->envelope.peer != arrival.source) {
    ++strays_;
    return;
  }
  const std::uint64_t wanted = std::min(receive->size, receive->capacity);
  const std::uint64_t size = arrival.data.size();
  // Several rails bring the parts in any order, each once; one rail in order.
  const bool in_turn = offset == receive->moved || port_.caps(arrival.source).rails > 1;
  if (!in_turn || offset > wanted || size > wanted - std::max(offset, receive->moved)) {
    ++strays_;
    return;
  }
  Engine::place(*receive, offset, arrival.data.data(), size);
  engine_.charge_copy(0, size, wanted);
  receive->moved += size;
  if (receive->moved < wanted) return;
  receive->state = State::done;
  if (receive->asked != kNever) {
    choice_.arrived(CopyChoice::Way::pieces, wanted, receive->asked, port_.now());
  }
}

void Direct::on_finished(const lci::Arrival& arrival) {
  Request* send = engine_.find(arrival.words[1]);
  if (send != nullptr && send->state == State::helping && send->begun == 0) {
    copies_.remove(send);  // asked too late
    send->state = State::offered;
  }
  if (send == nullptr || send->state != State::offered || send->envelope.peer != arrival.source) {
    ++strays_;
    return;
  }
  engine_.sent(*send);
}

void Direct::accept(Request& receive, Unexpected& message) {
  const Rank source = message.envelope.peer;
  if (message.place == Unexpected::Place::offer) {
    engine_.charge_copy(engine_.match_ops(), 0, 0);
    start_rendezvous(receive, message.sender_id, message.offer);
  } else {
    if (message.stream != nullptr) {
      join_stream(receive, message);
    } else {
      engine_.deliver(receive, message.data, message.size);
    }
    if (message.sender_id != 0) {
      reply({source, {first_word(Kind::finished, 0), message.sender_id, 0, 0}, 0});
    }
  }
  if (message.packet != nullptr) port_.release(message.packet);
}

// The rest of the message goes to the receive.
void Direct::join_stream(Request& receive, Unexpected& message) {
  Stream& stream = *message.stream;
  const std::uint64_t fits = std::min(stream.received, receive.capacity);
  Engine::place(receive, 0, message.data, fits);
  engine_.charge_copy(engine_.match_ops(), fits, receive.capacity);
  receive.state = State::receiving;
  stream.request = &receive;
  stream.early = nullptr;
}

}  // namespace fairlead::mpi
