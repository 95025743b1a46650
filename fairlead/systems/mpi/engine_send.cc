// The sending half of the engine: the queue of what waits for room.
#include <algorithm>

#include "fairlead/systems/mpi/engine.h"
#include "fairlead/systems/mpi/thresholds.h"

namespace fairlead::mpi {

int Engine::send(const void* from, std::uint64_t size, Envelope to, bool sync, const char* call,
                 const Layout* layout) {
  if (!sync && layout == nullptr && send_now(from, size, to, lci::kNoFlags)) return 0;
  Request* request = start_send(from, size, to, sync, layout);
  wait(*request, call);
  const int error = request->error;
  finish(request);
  return error;
}

Request* Engine::isend(const void* from, std::uint64_t size, Envelope to, bool sync,
                       const Layout* layout) {
  if (!sync && layout == nullptr && send_now(from, size, to, lci::kNoBlock)) return nullptr;
  return start_send(from, size, to, sync, layout);
}

// The whole message at once, when it is short and nothing is queued before it.
bool Engine::send_now(const void* from, std::uint64_t size, const Envelope& to,
                      std::uint32_t flags) {
  if (!sends_at_once_ || to.peer == self_) return false;
  if (!is_direct()) {
    if (!free_work_ || !device_->send_whole(from, size, to)) return false;
    if (++unlooked_ % kUnlookedMax == 0) poll();
    return true;
  }
  if (!direct_.send_now(from, size, to, flags)) return false;
  look_around();
  return true;
}

Request* Engine::start_send(const void* from, std::uint64_t size, Envelope to, bool sync,
                            const Layout* layout) {
  Request* const request = requests_.take();
  request->comm = nullptr;
  if (layout != nullptr) [[unlikely]]
    set_layout(*request, layout);
  begin_send(*request, from, size, to, sync);
  return request;
}

void Engine::begin_send(Request& request, const void* from, std::uint64_t size, Envelope to,
                        bool sync) {
  if (!is_direct()) port_.charge({.ops = send_ops_});
  request.is_send = true;
  request.sync = sync;
  request.awaited = false;
  request.exposed = false;
  request.envelope = to;
  request.from = static_cast<const std::byte*>(from);
  request.size = size;
  request.moved = 0;
  request.error = 0;
  if (to.peer == self_ && !matches_itself_) return send_to_self(request);
  request.state =
      size <= device_->eager_max(to.peer, sync) ? State::eager_queued : State::offer_queued;
  if (!slow_peers_.empty()) make_slow(request);
  queue(request);
  push_outgoing();
}

// A late packet for the request's last message does not reach this one.
void Engine::isend_by(Request& request, const void* from, std::uint64_t size, Envelope to,
                      bool sync, const Layout* layout) {
  requests_.renew(&request);
  set_layout(request, layout);
  request.is_send = true;
  request.error = 0;
  if (!sync && layout == nullptr &&
      (send_small(from, size, to, lci::kNoBlock) || send_now(from, size, to, lci::kNoBlock))) {
    request.state = State::done;
    return;
  }
  begin_send(request, from, size, to, sync);
}

// Sends what is queued, in order per destination; a destination without room blocks its own later
// messages only (past kBlockedMax such destinations the round ends).
bool Engine::push_outgoing(bool may_wait) {
  bool any_moved = false;
  constexpr std::size_t kBlockedMax = 16;
  Rank blocked[kBlockedMax];
  std::size_t blocked_count = 0;
  for (Request* r = outgoing_.front(); r != nullptr && blocked_count < kBlockedMax;) {
    const Rank peer = r->envelope.peer;
    if (std::find(blocked, blocked + blocked_count, peer) != blocked + blocked_count) {
      r = Requests::next(r);
      continue;
    }
    if (!slow_peers_.empty()) make_slow(*r);
    const std::uint64_t moved_before = r->moved;
    const Device::Sent sent = device_->start(*r, may_wait && r->awaited);
    any_moved |= sent == Device::Sent::all || r->moved != moved_before;
    Request* const following = Requests::next(r);  // upcalls may have appended
    if (sent == Device::Sent::blocked) {
      blocked[blocked_count++] = peer;
    } else {
      outgoing_.remove(r);
      note_outgoing();
      if (r->state == State::offer_queued || (r->state == State::eager_queued && r->sync)) {
        r->state = State::offered;
      } else if (!r->done()) {  // a device that matches may have found it over at once
        this->sent(*r);
      }
    }
    r = following;
  }
  return any_moved;
}

void Engine::slow(Rank peer, bool slow) {
  std::erase(slow_peers_, peer);
  if (slow) slow_peers_.push_back(peer);
  note_outgoing();
}

// A send that has not begun and whose message the peer would have to keep. What fits the little
// that it keeps of each message in any case goes, but ends only when it is matched; messages
// without bytes are not worth it.
void Engine::make_slow(Request& send) const {
  if (send.state != State::eager_queued || send.moved != 0 || send.size == 0) return;
  const Rank peer = send.envelope.peer;
  if (std::find(slow_peers_.begin(), slow_peers_.end(), peer) == slow_peers_.end()) return;
  if (send.size <= Unexpected::kInside) {
    send.sync = true;
  } else {
    send.state = State::offer_queued;
  }
}

void Engine::sent(Request& send) {
  if (send.exposed) device_->withdraw(send);
  send.state = State::done;
}

}  // namespace fairlead::mpi
