// The receiving half of the engine: upcalls, and messages that came before their receive.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fairlead/base/copy_small.h"
#include "fairlead/systems/mpi/engine.h"
#include "fairlead/systems/mpi/mpi.h"
#include "fairlead/systems/mpi/thresholds.h"

namespace fairlead::mpi {

inline void Engine::charge_copy(std::uint64_t ops, std::uint64_t copied, std::uint64_t buffer) {
  if (free_work_) return;
  port_.charge({.ops = ops, .working_set_bytes = buffer, .copied_bytes = copied});
}

// `receive` got its message: from here on the envelope tells what came.
inline void Engine::matched(Request& receive, Rank source, std::int32_t tag, std::uint64_t size) {
  receive.envelope.peer = source;
  receive.envelope.tag = tag;
  receive.size = size;
  if (size > receive.capacity) [[unlikely]]
    receive.error = MPI_ERR_TRUNCATE;
}

// The whole message is at `from`.
inline void Engine::deliver(Request& receive, const void* from, std::uint64_t size) {
  const std::uint64_t fits = std::min(size, receive.capacity);
  if (fits <= kCopySmallMax) [[likely]]
    copy_small(receive.to, from, fits);
  else
    std::memcpy(receive.to, from, fits);
  receive.state = State::done;
  charge_copy(kMatchOps, fits, receive.capacity);
}

// What most messages are, with few instructions: a small one whose receive is posted, no work to
// declare, nobody who waits for an answer. All else as it comes.
bool Engine::upcall_small(void* self, Rank source, lci::WordVector words, const std::byte* data,
                          std::size_t size) {
  Engine& engine = *static_cast<Engine*>(self);
  if (kind_of(words[0]) != Kind::eager || words[2] != 0 || size > kCopyLineMax ||
      !engine.free_work_) [[unlikely]] {
    return false;
  }
  const auto tag = static_cast<std::int32_t>(words[1]);
  Request* const receive = engine.matcher_.arrive_first({words[0] & kContextMask, source, tag});
  if (receive == nullptr) [[unlikely]]
    return false;
  matched(*receive, source, tag, size);
  copy_line(receive->to, data, std::min(size, receive->capacity));
  receive->state = State::done;
  return true;
}

// What comes from the rank that `request` waits for, as upcall_small() does it, but at once and
// until it is done. False: it is not, or only wait_slow() can see to it.
bool Engine::receive_straight(Request& request) {
  const Envelope wanted = request.envelope;
  if (straight_left_ == 0 || request.state != State::posted || wanted.peer == kAnySource ||
      wanted.peer == self_ || has_work() || lock_ != nullptr) [[unlikely]] {
    straight_left_ = kStraightMax;
    return false;
  }
  --straight_left_;
  const std::uint32_t eager = first_word(Kind::eager, wanted.context);
  Matcher::Posted& posted = matcher_.posted(wanted);
  return straight_.receive(
      wanted.peer,
      [&](lci::WordVector words, const auto& bytes,
          std::uint64_t size) __attribute__((always_inline)) {
        if (words[0] != eager || words[2] != 0) [[unlikely]]
          return false;
        const auto tag = static_cast<std::int32_t>(words[1]);
        Request* const receive = matcher_.take_first(posted, {wanted.context, wanted.peer, tag});
        if (receive == nullptr) [[unlikely]]
          return false;
        matched(*receive, wanted.peer, tag, size);
        bytes.copy_to(receive->to, std::min(size, receive->capacity));
        receive->state = State::done;
        return true;
      },
      [&] { return request.done(); });
}

Keep Engine::upcall(void* self, lci::Packet* packet, const lci::Arrival& arrival) {
  return static_cast<Engine*>(self)->arrived(packet, arrival);
}

Keep Engine::arrived(lci::Packet* packet, const lci::Arrival& arrival) {
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
    default:
      ++strays_;
  }
  return Keep::no;
}

void Engine::returned(void* self, const lci::Arrival& arrival, Post) {
  static_cast<Engine*>(self)->fatal(fmt::format(
      "a message of {} bytes could not be delivered: its rank is gone", arrival.data.size()));
}

Keep Engine::on_eager(lci::Packet* packet, const lci::Arrival& arrival) {
  const auto tag = static_cast<std::int32_t>(arrival.words[1]);
  const Envelope envelope{arrival.words[0] & kContextMask, arrival.source, tag};
  const std::uint32_t sender_id = arrival.words[2];
  const std::size_t size = arrival.data.size();
  if (Request* receive = matcher_.arrive(envelope); receive != nullptr) [[likely]] {
    matched(*receive, arrival.source, tag, size);
    deliver(*receive, arrival.data.data(), size);
    if (sender_id != 0)
      reply({arrival.source, {first_word(Kind::finished, 0), sender_id, 0, 0}, 0});
    return Keep::no;
  }
  Unexpected* u = keep_early(envelope, Unexpected::Place::bytes, size);
  u->sender_id = sender_id;
  if (size > Unexpected::kInside && packet != nullptr) {
    u->packet = packet;
    u->data = arrival.data.data();
    charge_copy(kMatchOps, 0, 0);
    return Keep::yes;
  }
  std::byte* copy = size <= Unexpected::kInside ? u->inside : heap_for(*u);
  if (size != 0) std::memcpy(copy, arrival.data.data(), size);
  u->data = copy;
  charge_copy(kMatchOps, size, size);
  return Keep::no;
}

void Engine::on_eager_first(const lci::Arrival& arrival) {
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
  stream->request = matcher_.arrive(envelope);
  streams_of(arrival.source).push_back(stream);
  if (stream->request != nullptr) {
    matched(*stream->request, arrival.source, tag, size);
    stream->request->state = State::receiving;
  } else {
    stream->early = keep_early(envelope, Unexpected::Place::bytes, size);
    stream->early->sender_id = 0;
    stream->early->stream = stream;
    stream->early->data = heap_for(*stream->early);
  }
  charge_copy(kMatchOps, 0, 0);
  stream_bytes(*stream, arrival.data.data(), arrival.data.size());
}

void Engine::on_eager_more(const lci::Arrival& arrival) {
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

void Engine::stream_bytes(Stream& stream, const std::byte* from, std::uint64_t size) {
  std::byte* to = nullptr;
  std::uint64_t room = stream.size;
  if (stream.request != nullptr) {
    to = stream.request->to;
    room = stream.request->capacity;
  } else {
    to = stream.early->heap.get();
  }
  const std::uint64_t left = room > stream.received ? room - stream.received : 0;
  const std::uint64_t fits = std::min(size, left);
  if (fits != 0) std::memcpy(to + stream.received, from, fits);
  charge_copy(0, fits, std::min(room, stream.size));
  stream.received += size;
  if (stream.received == stream.size) end_stream(stream);
}

void Engine::end_stream(Stream& stream) {
  if (stream.request != nullptr) {
    stream.request->state = State::done;
  } else {
    stream.early->stream = nullptr;
  }
  streams_of(stream.source).remove(&stream);
  stream_pool_.give(&stream);
}

void Engine::on_offer(const lci::Arrival& arrival) {
  Offer offer;
  if (arrival.data.size() != sizeof offer) {
    ++strays_;
    return;
  }
  std::memcpy(&offer, arrival.data.data(), sizeof offer);
  const auto tag = static_cast<std::int32_t>(arrival.words[1]);
  const Envelope envelope{arrival.words[0] & kContextMask, arrival.source, tag};
  charge_copy(kMatchOps, 0, 0);
  if (Request* receive = matcher_.arrive(envelope); receive != nullptr) {
    matched(*receive, arrival.source, tag, offer.size);
    start_rendezvous(*receive, arrival.words[2], offer);
    return;
  }
  Unexpected* u = keep_early(envelope, Unexpected::Place::offer, offer.size);
  u->sender_id = arrival.words[2];
  u->offer = offer;
}

void Engine::start_rendezvous(Request& receive, std::uint32_t sender_id, const Offer& offer) {
  const std::uint64_t wanted = std::min(offer.size, receive.capacity);
  receive.peer_id = sender_id;
  receive.moved = 0;
  receive.asked = kNever;
  if (wanted != 0 && offer.exposed != 0) {
    receive.asked = port_.now();
    const bool by_network = (port_.caps(receive.envelope.peer).flags & lci::kRemoteCopy) != 0;
    if (choice_.choose(wanted, by_network) == CopyChoice::Way::single_copy) {
      return start_copy(receive, offer);
    }
  }
  receive.state = wanted == 0 ? State::done : State::receiving;
  reply({receive.envelope.peer, {first_word(Kind::accept, 0), sender_id, receive.id, 0}, wanted});
}

void Engine::on_accept(const lci::Arrival& arrival) {
  Request* send = requests_.find(arrival.words[1]);
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
    complete_send(*send);
    return;
  }
  // Bytes go on the request lane, which an upcall may not use.
  send->state = State::data_queued;
  outgoing_.push_back(send);
}

void Engine::on_data(const lci::Arrival& arrival) {
  Request* receive = requests_.find(arrival.words[1]);
  const std::uint64_t offset = arrival.words[2] | std::uint64_t{arrival.words[3]} << 32;
  if (receive == nullptr || receive->state != State::receiving || receive->is_send ||
      receive->envelope.peer != arrival.source || offset != receive->moved) {
    ++strays_;
    return;
  }
  const std::uint64_t wanted = std::min(receive->size, receive->capacity);
  const std::uint64_t size = arrival.data.size();
  if (size > wanted - receive->moved) {
    ++strays_;
    return;
  }
  if (size != 0) std::memcpy(receive->to + offset, arrival.data.data(), size);
  charge_copy(0, size, wanted);
  receive->moved += size;
  if (receive->moved < wanted) return;
  receive->state = State::done;
  if (receive->asked != kNever) {
    choice_.arrived(CopyChoice::Way::pieces, wanted, receive->asked, port_.now());
  }
}

void Engine::on_finished(const lci::Arrival& arrival) {
  Request* send = requests_.find(arrival.words[1]);
  if (send != nullptr && send->state == State::helping && send->begun == 0) {
    copies_.remove(send);  // asked too late
    send->state = State::offered;
  }
  if (send == nullptr || send->state != State::offered || send->envelope.peer != arrival.source) {
    ++strays_;
    return;
  }
  complete_send(*send);
}

Unexpected* Engine::keep_early(const Envelope& envelope, Unexpected::Place place,
                               std::uint64_t size) {
  Unexpected* u = early_.take();
  u->envelope = envelope;
  u->place = place;
  u->size = size;
  u->stream = nullptr;
  u->packet = nullptr;
  u->sender = nullptr;
  matcher_.add(u);
  return u;
}

std::byte* Engine::heap_for(Unexpected& message) {
  early_bytes_ += message.size;
  if (early_bytes_ > kUnexpectedBytesMax) {
    fatal(
        fmt::format("messages that no receive was posted for hold {} bytes, the last from rank "
                    "{} with tag {}; post the receives earlier or send less ahead (MPI_Ssend)",
                    early_bytes_, message.envelope.peer, message.envelope.tag));
  }
  message.heap = std::make_unique_for_overwrite<std::byte[]>(message.size);
  return message.heap.get();
}

void Engine::drop_early(Unexpected* message) {
  if (message->packet != nullptr) port_.release(message->packet);
  if (message->heap != nullptr) {
    early_bytes_ -= message->size;
    message->heap.reset();
  }
  early_.give(message);
}

void Engine::take_early(Request& receive, Unexpected* message) {
  const Rank source = message->envelope.peer;
  matched(receive, source, message->envelope.tag, message->size);
  switch (message->place) {
    case Unexpected::Place::offer:
      charge_copy(kMatchOps, 0, 0);
      start_rendezvous(receive, message->sender_id, message->offer);
      break;
    case Unexpected::Place::self:
      take_from_self(receive, message);
      break;
    default:
      if (Stream* stream = message->stream; stream != nullptr) {
        const std::uint64_t fits = std::min(stream->received, receive.capacity);
        std::memcpy(receive.to, message->data, fits);
        charge_copy(kMatchOps, fits, receive.capacity);
        receive.state = State::receiving;
        stream->request = &receive;
        stream->early = nullptr;
      } else {
        deliver(receive, message->data, message->size);
      }
      if (message->sender_id != 0)
        reply({source, {first_word(Kind::finished, 0), message->sender_id, 0, 0}, 0});
  }
  drop_early(message);
}

void Engine::take_from_self(Request& receive, Unexpected* message) {
  deliver(receive, message->sender->from, message->size);
  complete_send(*message->sender);
}

// A rank's message to itself does not cross the port. Up to the eager limit it is copied away when
// no receive is posted, as it would be on the way to another rank.
void Engine::send_to_self(Request& send) {
  const Envelope& envelope = send.envelope;
  if (Request* receive = matcher_.arrive(envelope); receive != nullptr) {
    matched(*receive, self_, envelope.tag, send.size);
    deliver(*receive, send.from, send.size);
    complete_send(send);
    return;
  }
  if (send.sync || send.size > kEagerBytesMax) {
    Unexpected* u = keep_early(envelope, Unexpected::Place::self, send.size);
    u->sender = &send;
    u->sender_id = 0;
    send.state = State::offered;
    return;
  }
  Unexpected* u = keep_early(envelope, Unexpected::Place::bytes, send.size);
  u->sender_id = 0;
  std::byte* copy = send.size <= Unexpected::kInside ? u->inside : heap_for(*u);
  if (send.size != 0) std::memcpy(copy, send.from, send.size);
  u->data = copy;
  charge_copy(0, send.size, send.size);
  complete_send(send);
}

}  // namespace fairlead::mpi
