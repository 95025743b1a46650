// The receiving half of the engine: messages that came before their receive.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "fairlead/systems/mpi/engine.h"
#include "fairlead/systems/mpi/thresholds.h"

namespace fairlead::mpi {

Unexpected* Engine::make_early(const Envelope& envelope, Unexpected::Place place,
                               std::uint64_t size) {
  Unexpected* u = early_.take();
  u->envelope = envelope;
  u->place = place;
  u->size = size;
  u->stream = nullptr;
  u->packet = nullptr;
  u->held = nullptr;
  u->sender = nullptr;
  count_more(sizeof(Unexpected), envelope.peer);
  return u;
}

Unexpected* Engine::keep(const Envelope& envelope, Unexpected::Place place, std::uint64_t size) {
  Unexpected* const u = make_early(envelope, place, size);
  matcher_.add(u);
  return u;
}

void Engine::hold(const Unexpected& message) {
  hold(message.size, message.envelope.peer, message.envelope.tag);
}

void Engine::hold(std::uint64_t size, Rank from, std::int32_t tag) {
  count_more(size, from);
  if (early_bytes_ > kUnexpectedBytesMax) {
    failed(
        fmt::format("messages that no receive was posted for hold {} bytes, the last from rank "
                    "{} with tag {}; post the receives earlier or send less ahead (MPI_Ssend)",
                    early_bytes_, from, tag));
  }
}

void Engine::ask_slower(Rank peer) {
  if (peer == self_ ||
      std::find(asked_slower_.begin(), asked_slower_.end(), peer) != asked_slower_.end()) {
    return;
  }
  asked_slower_.push_back(peer);
  device_->slow_down(peer, true);
}

void Engine::let_faster() {
  for (const Rank peer : std::exchange(asked_slower_, {})) device_->slow_down(peer, false);
}

std::byte* Engine::memory_for(Unexpected& message) {
  hold(message);
  message.heap = std::make_unique_for_overwrite<std::byte[]>(message.size);
  return message.heap.get();
}

void Engine::irecv_by(Request& request, void* to, std::uint64_t capacity, Envelope from, Comm* comm,
                      const Layout* layout) {
  requests_.renew(&request);
  set_layout(request, layout);
  describe(request, to, capacity, from.context, from.peer, from.tag, comm);
  if (matches_itself_) return device_->post(request);
  if (Unexpected* const message = matcher_.post(&request); message != nullptr) {
    take_early(request, message);
  }
}

Unexpected* Engine::take(const Envelope& wanted) {
  if (matches_itself_) return device_->take(wanted);
  Unexpected* const found = matcher_.probe(wanted);
  if (found != nullptr) matcher_.remove(found);
  return found;
}

Request* Engine::receive_early(Unexpected* message, void* to, std::uint64_t capacity, Comm* comm,
                               const Layout* layout) {
  Request* const request = requests_.take();
  if (layout != nullptr) set_layout(*request, layout);
  describe(*request, to, capacity, message->envelope.context, message->envelope.peer,
           message->envelope.tag, comm);
  take_early(*request, message);
  return request;
}

bool Engine::cancel(Request& receive) {
  if (receive.is_send || receive.state != State::posted) return false;
  if (!matches_itself_) {
    matcher_.withdraw(&receive);
  } else if (!device_->cancel(receive)) {
    return false;
  }
  receive.error = kCancelled;
  receive.state = State::done;
  return true;
}

void Engine::take_early(Request& receive, Unexpected* message) {
  matched(receive, message->envelope.peer, message->envelope.tag, message->size);
  const bool held = message->heap != nullptr || message->packet != nullptr;
  if (message->place == Unexpected::Place::self) {
    take_from_self(receive, message);
  } else {
    device_->accept(receive, *message);
  }
  message->heap.reset();
  count_less(sizeof(Unexpected) + (held ? message->size : 0));
  early_.give(message);
}

void Engine::take_from_self(Request& receive, Unexpected* message) {
  deliver_to_self(receive, *message->sender);
  sent(*message->sender);
}

// Where the bytes do not lie in a row they go through a short one.
void Engine::deliver_to_self(Request& receive, const Request& send) {
  if (send.layout == nullptr) return deliver(receive, send.from, send.size);
  constexpr std::uint64_t kRow = 1024;  // fiber stacks are short
  std::byte row[kRow];
  const std::uint64_t fits = std::min(send.size, receive.capacity);
  for (std::uint64_t done = 0; done < fits;) {
    const std::uint64_t piece = std::min(kRow, fits - done);
    gather(send, done, row, piece);
    place(receive, done, row, piece);
    done += piece;
  }
  receive.state = State::done;
  charge_copy(match_ops(), 2 * fits, receive.capacity);
}

// A rank's message to itself does not cross the port. Up to the eager limit it is copied away when
// no receive is posted, as it would be on the way to another rank.
void Engine::send_to_self(Request& send) {
  const Envelope& envelope = send.envelope;
  if (Request* receive = matcher_.arrive(envelope); receive != nullptr) {
    matched(*receive, self_, envelope.tag, send.size);
    deliver_to_self(*receive, send);
    sent(send);
    return;
  }
  if (send.sync || send.size > kEagerBytesMax) {
    Unexpected* u = keep(envelope, Unexpected::Place::self, send.size);
    u->sender = &send;
    u->sender_id = 0;
    send.state = State::offered;
    return;
  }
  Unexpected* u = keep(envelope, Unexpected::Place::bytes, send.size);
  u->sender_id = 0;
  std::byte* copy = send.size <= Unexpected::kInside ? u->inside : memory_for(*u);
  gather(send, 0, copy, send.size);
  u->data = copy;
  charge_copy(0, send.size, send.size);
  sent(send);
}

}  // namespace fairlead::mpi
