// The receiving half of the rsm device.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "fairlead/systems/mpi/devices/rsm/connection.h"
#include "fairlead/systems/mpi/devices/rsm/device.h"
#include "fairlead/systems/mpi/engine.h"

namespace fairlead::mpi {

using rsm::Head;
using rsm::InQueue;

// True: something came.
bool RsmDevice::look(bool all) {
  bool came = false;
  for (std::size_t i = 0; i < incoming_.size(); ++i) came |= take_all(*incoming_[i], all);
  return came;
}

// `all`: whether it is one that the wait has chosen or not.
bool RsmDevice::take_all(Incoming& in, bool all) {
  InQueue::Taken taken;
  // A sender that goes on and on does not keep the others out.
  for (std::uint64_t i = 0; i < in.boxes; ++i) {
    if (!all && !is_chosen(in)) return i > 0;
    const InQueue::Look look = in.queue.take(taken);
    if (look == InQueue::Look::none) return i > 0;
    if (look == InQueue::Look::broken) {
      engine_.failed(fmt::format("rank {} stored no message of MPI: {}", in.from, in.queue.why()));
    }
    take_slot(in, taken);
    if (in.tells()) acknowledge(in);
  }
  return true;
}

void RsmDevice::take_slot(Incoming& in, const InQueue::Taken& taken) {
  if (taken.begins) begin(in, taken.head);
  if (taken.blocks == 0) {
    bytes_came(in, taken.at, taken.bytes);
  } else {
    std::uint64_t left = taken.bytes;
    for (std::uint64_t i = 0; i < taken.blocks; ++i) {
      const std::uint64_t bytes = std::min(left, rsm::kBlockBytes);
      bytes_came(in, in.queue.pool() + taken.block[i], bytes);
      left -= bytes;
      in.untold_bytes += bytes <= rsm::kSmallBlockBytes ? rsm::kSmallBlockBytes : rsm::kBlockBytes;
    }
  }
  if (!in.queue.in_message()) end_message(in);
}

void RsmDevice::begin(Incoming& in, const Head& head) {
  in.receive = nullptr;
  in.early = nullptr;
  in.size = head.size;
  in.moved = 0;
  in.sender_id = 0;
  in.is_data = false;
  switch (kind_of(head.words[0])) {
    case Kind::eager:
      return begin_eager(in, head);
    case Kind::offer:
      return on_offer(in, head);
    default:
      return begin_data(in, head);
  }
}

void RsmDevice::begin_eager(Incoming& in, const Head& head) {
  const auto tag = static_cast<std::int32_t>(head.words[1]);
  const Envelope envelope{head.words[0] & kContextMask, in.from, tag};
  const std::uint32_t sender_id = head.words[2];
  engine_.charge_copy(engine_.match_ops(), 0, 0);
  in.receive = engine_.matcher().arrive(envelope);
  if (in.receive != nullptr) {
    Engine::matched(*in.receive, in.from, tag, head.size);
    in.receive->state = State::receiving;
    in.sender_id = sender_id;
    return;
  }
  ++in.unmatched;
  in.early = engine_.keep(envelope, Unexpected::Place::bytes, head.size);
  in.early->sender_id = sender_id;
  in.early->data =
      head.size <= Unexpected::kInside ? in.early->inside : engine_.memory_for(*in.early);
}

// The bytes of a message that a receive has taken.
void RsmDevice::begin_data(Incoming& in, const Head& head) {
  Request* const receive = engine_.find(head.words[1]);
  if (receive == nullptr || receive->is_send || receive->state != State::receiving ||
      receive->envelope.peer != in.from || receive->moved != 0 ||
      head.size != std::min(receive->size, receive->capacity)) {
    ++strays_;
    return;
  }
  in.receive = receive;
  in.is_data = true;
}

void RsmDevice::on_offer(Incoming& in, const Head& head) {
  const auto tag = static_cast<std::int32_t>(head.words[1]);
  const Envelope envelope{head.words[0] & kContextMask, in.from, tag};
  engine_.charge_copy(engine_.match_ops(), 0, 0);
  if (Request* const receive = engine_.matcher().arrive(envelope); receive != nullptr) {
    Engine::matched(*receive, in.from, tag, head.size);
    return start_rendezvous(*receive, head.words[2], head.size);
  }
  ++in.unmatched;
  engine_.keep(envelope, Unexpected::Place::offer, head.size)->sender_id = head.words[2];
}

void RsmDevice::start_rendezvous(Request& receive, std::uint32_t sender_id, std::uint64_t size) {
  const std::uint64_t wanted = std::min(size, receive.capacity);
  receive.moved = 0;
  receive.state = wanted == 0 ? State::done : State::receiving;
  Incoming* const in = peers_[receive.envelope.peer]->in.get();
  if (wanted != 0 && in != nullptr) ++in->expected;
  write({receive.envelope.peer, {first_word(Kind::accept, 0), sender_id, receive.id, 0}, wanted});
}

// What a peer has stored is read from memory: a buffer of any size is too large for the caches.
void RsmDevice::bytes_came(Incoming& in, const std::byte* at, std::uint64_t bytes) {
  const std::uint64_t buffer = in.is_stored ? ~std::uint64_t{0} : in.size;
  if (in.receive != nullptr) {
    const std::uint64_t room =
        in.receive->capacity > in.moved ? in.receive->capacity - in.moved : 0;
    const std::uint64_t fits = std::min(bytes, room);
    if (fits != 0) Engine::place(*in.receive, in.moved, at, fits);
    engine_.charge_copy(0, fits, buffer);
  } else if (in.early != nullptr) {
    std::byte* const to = in.early->heap != nullptr ? in.early->heap.get() : in.early->inside;
    if (bytes != 0) std::memcpy(to + in.moved, at, bytes);
    engine_.charge_copy(0, bytes, buffer);
  }
  in.moved += bytes;
}

// Only now the sender, which may have been waiting for room, is behind its message.
void RsmDevice::end_message(Incoming& in) {
  if (in.sender_id != 0) {
    write({in.from, {first_word(Kind::finished, 0), in.sender_id, 0, 0}, 0});
  }
  if (in.receive != nullptr) in.receive->state = State::done;
  if (in.is_data && in.expected > 0) --in.expected;
  in.receive = nullptr;
  in.early = nullptr;
}

void RsmDevice::accept(Request& receive, Unexpected& message) {
  const Rank source = message.envelope.peer;
  if (source != port_.self() && peers_[source]->in->unmatched > 0) --peers_[source]->in->unmatched;
  if (message.place == Unexpected::Place::offer) {
    engine_.charge_copy(engine_.match_ops(), 0, 0);
    return start_rendezvous(receive, message.sender_id, message.size);
  }
  // From this rank itself it has come without a queue.
  Incoming* const coming = source == port_.self() ? nullptr : peers_[source]->in.get();
  if (coming == nullptr || coming->early != &message) {
    if (message.sender_id != 0) {
      write({source, {first_word(Kind::finished, 0), message.sender_id, 0, 0}, 0});
    }
    return engine_.deliver(receive, message.data, message.size);
  }
  Incoming& in = *coming;
  // The rest of the message goes to the receive.
  const std::uint64_t fits = std::min(in.moved, receive.capacity);
  Engine::place(receive, 0, message.data, fits);
  engine_.charge_copy(engine_.match_ops(), fits, receive.capacity);
  receive.state = State::receiving;
  in.early = nullptr;
  in.receive = &receive;
  in.sender_id = message.sender_id;
}

// Tells the sender how much is taken. One word, which only grows: acknowledgments that pass each
// other would take some back, so each comes behind the one before. Where puts may be lost it is a
// line, which is put again, and the next one waits until it is known to be there.
void RsmDevice::acknowledge(Incoming& in) {
  if (in.late) return;
  if (!in.raw || in.told_is_over()) {
    in.line.taken = in.queue.taken();
    const bool whole = port_.caps(in.from).put_grain_bytes > sizeof in.line.taken;
    const lci::PutPiece piece{port_.self() * rsm::kBoxBytes, &in.line,
                              whole ? sizeof in.line : sizeof in.line.taken};
    const std::uint64_t lost = in.acks.failed.load(std::memory_order_acquire);
    const Post answer =
        port_.put({in.from}, kRsmAcknowledged, {&piece, 1}, in.raw ? &in.acks : nullptr,
                  lci::kNoCounter, in.raw ? lci::kRaw : lci::kAfter);
    if (accepted(answer, in.from)) {
      if (in.raw) ++in.acks_begun;
      in.acks_lost = lost;
      in.told = in.line.taken;
      in.untold_bytes = 0;
      return;
    }
  }
  in.late = true;
  late_in_.push_back(&in);
}

}  // namespace fairlead::mpi
