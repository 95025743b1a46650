// The sending half of the engine: how a message becomes packets.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fairlead/systems/mpi/engine.h"
#include "fairlead/systems/mpi/thresholds.h"

namespace fairlead::mpi {
namespace {

std::span<const std::byte> bytes_of(const void* from, std::size_t size) {
  return {static_cast<const std::byte*>(from), size};
}

}  // namespace

// True: the packet is the port's. False: no room now. A peer that is gone ends the job.
bool Engine::accepted(Post answer, Rank peer) {
  if (answer == Post::done || answer == Post::pending) [[likely]]
    return true;
  if (answer == Post::again_credit || answer == Post::again_buffer) return false;
  fatal(fmt::format("cannot send to rank {}: {}", peer,
                    answer == Post::peer_down ? "it is gone" : "the network refused the packet"));
}

bool Engine::send_packet(Rank to, lci::Lane lane, const lci::Words& words, Piece piece,
                         std::uint32_t flags) {
  const std::uint32_t alloc_flags = flags & lci::kNoBlock;
  lci::Packet* packet = port_.alloc({to}, lane, piece.size, alloc_flags);
  if (packet == nullptr) return false;
  const Post answer = port_.send(packet, kChannel, words, 0,
                                 std::span(&piece, piece.size == 0 ? 0u : 1u), nullptr, flags);
  if (accepted(answer, to)) return true;
  port_.release(packet);
  return false;
}

// The whole message at once, when it is small and nothing is queued before it.
bool Engine::send_now(const void* from, std::uint64_t size, Envelope to, std::uint32_t flags) {
  const lci::Caps& caps = port_.caps(to.peer);
  if (size > caps.mtu_bytes || !outgoing_.empty() || to.peer == self_) return false;
  const lci::WordVector made = eager_words(to);
  if (straight_.post_longer(to.peer, made, from, size)) return true;
  lci::Words words;
  std::memcpy(words, &made, sizeof words);
  if (size <= caps.inline_bytes_max) [[likely]] {
    const Post answer = port_.send_small({to.peer}, kChannel, lci::Lane::request, words,
                                         bytes_of(from, size), flags);
    return answer == Post::done || accepted(answer, to.peer);
  }
  if (size > kEagerBytesMax) return false;
  return send_packet(to.peer, lci::Lane::request, words, {from, size}, flags);
}

int Engine::send(const void* from, std::uint64_t size, Envelope to, bool sync, const char* call) {
  if (!sync && send_now(from, size, to, lci::kNoFlags)) return 0;
  Request* request = start_send(from, size, to, sync);
  wait(*request, call);
  const int error = request->error;
  finish(request);
  return error;
}

Request* Engine::isend(const void* from, std::uint64_t size, Envelope to, bool sync) {
  if (!sync && send_now(from, size, to, lci::kNoBlock)) return nullptr;
  return start_send(from, size, to, sync);
}

Request* Engine::start_send(const void* from, std::uint64_t size, Envelope to, bool sync) {
  Request* request = requests_.take();
  request->is_send = true;
  request->sync = sync;
  request->awaited = false;
  request->exposed = false;
  request->envelope = to;
  request->from = static_cast<const std::byte*>(from);
  request->size = size;
  request->moved = 0;
  request->error = 0;
  request->comm = nullptr;
  if (to.peer == self_) {
    send_to_self(*request);
    return request;
  }
  const lci::Caps& caps = port_.caps(to.peer);
  // A synchronous message of one packet asks for an answer by its own packet.
  const bool eager =
      size <= (sync ? std::min<std::uint64_t>(caps.mtu_bytes, kEagerBytesMax) : kEagerBytesMax);
  request->state = eager ? State::eager_queued : State::offer_queued;
  outgoing_.push_back(request);
  push_outgoing();
  return request;
}

Engine::Sent Engine::push(Request& send) {
  const std::uint32_t flags = send.awaited ? lci::kNoFlags : lci::kNoBlock;
  switch (send.state) {
    case State::eager_queued:
      return push_eager(send, flags);
    case State::offer_queued:
      return push_offer(send, flags);
    default:
      return push_data(send, flags);
  }
}

// Sends what is queued, in order per destination; a destination without room blocks its own later
// messages only (past kBlockedMax such destinations the round ends).
bool Engine::push_outgoing() {
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
    const std::uint64_t moved_before = r->moved;
    const Sent sent = push(*r);
    any_moved |= sent == Sent::all || r->moved != moved_before;
    Request* const following = Requests::next(r);  // upcalls may have appended
    if (sent == Sent::blocked) {
      blocked[blocked_count++] = peer;
    } else {
      outgoing_.remove(r);
      if (r->state == State::offer_queued || (r->state == State::eager_queued && r->sync)) {
        r->state = State::offered;
      } else {
        complete_send(*r);
      }
    }
    r = following;
  }
  return any_moved;
}

Engine::Sent Engine::push_eager(Request& send, std::uint32_t flags) {
  const Envelope& to = send.envelope;
  const lci::Caps& caps = port_.caps(to.peer);
  const auto tag = static_cast<std::uint32_t>(to.tag);
  if (send.size <= caps.mtu_bytes) {
    const lci::Words words = {first_word(Kind::eager, to.context), tag, send.sync ? send.id : 0, 0};
    if (send.size <= caps.inline_bytes_max) {
      return accepted(port_.send_small({to.peer}, kChannel, lci::Lane::request, words,
                                       bytes_of(send.from, send.size), flags),
                      to.peer)
                 ? Sent::all
                 : Sent::blocked;
    }
    return send_packet(to.peer, lci::Lane::request, words, {send.from, send.size}, flags)
               ? Sent::all
               : Sent::blocked;
  }
  if (send.moved == 0) send.segment = next_message_++;
  while (send.moved < send.size) {
    const std::uint64_t size = std::min<std::uint64_t>(caps.mtu_bytes, send.size - send.moved);
    const bool last = send.moved + size == send.size;
    const auto offset = static_cast<std::uint32_t>(send.moved);
    const lci::Words first = {first_word(Kind::eager_first, to.context), tag,
                              static_cast<std::uint32_t>(send.size), send.segment};
    const lci::Words more = {first_word(Kind::eager_more, to.context), send.segment, offset, 0};
    if (!send_packet(to.peer, lci::Lane::request, send.moved == 0 ? first : more,
                     {send.from + send.moved, size}, flags | (last ? 0u : lci::kMore))) {
      return Sent::blocked;
    }
    send.moved += size;
  }
  return Sent::all;
}

Engine::Sent Engine::push_offer(Request& send, std::uint32_t flags) {
  const Envelope& to = send.envelope;
  const bool exposed = expose(send);
  const lci::Words words = {first_word(Kind::offer, to.context), static_cast<std::uint32_t>(to.tag),
                            send.id, 0};
  const Offer offer{send.size, send.segment, exposed ? 1u : 0u};
  const Post answer = port_.send_small({to.peer}, kChannel, lci::Lane::request, words,
                                       bytes_of(&offer, sizeof offer), flags);
  return accepted(answer, to.peer) ? Sent::all : Sent::blocked;
}

Engine::Sent Engine::push_data(Request& send, std::uint32_t flags) {
  const Rank to = send.envelope.peer;
  const std::uint64_t mtu = port_.caps(to).mtu_bytes;
  while (send.moved < send.size) {
    const std::uint64_t size = std::min(mtu, send.size - send.moved);
    const bool last = send.moved + size == send.size;
    const lci::Words words = {first_word(Kind::data, 0), send.peer_id,
                              static_cast<std::uint32_t>(send.moved),
                              static_cast<std::uint32_t>(send.moved >> 32)};
    if (!send_packet(to, lci::Lane::request, words, {send.from + send.moved, size},
                     flags | (last ? 0u : lci::kMore))) {
      return Sent::blocked;
    }
    send.moved += size;
  }
  return Sent::all;
}

void Engine::complete_send(Request& send) {
  if (send.exposed) {
    const Post answer = port_.withdraw(send.segment);
    FAIRLEAD_CHECK(answer == Post::done, "segment {}", send.segment);
    send.exposed = false;
  }
  send.state = State::done;
}

}  // namespace fairlead::mpi
