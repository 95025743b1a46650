// The sending half of the direct device: how a message becomes packets.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fairlead/systems/mpi/direct.h"
#include "fairlead/systems/mpi/engine.h"
#include "fairlead/systems/mpi/thresholds.h"

namespace fairlead::mpi {
namespace {

std::span<const std::byte> bytes_of(const void* from, std::size_t size) {
  return {static_cast<const std::byte*>(from), size};
}

}  // namespace

Device::Sent Direct::start(Request& send, bool may_wait) {
  const std::uint32_t flags = may_wait ? lci::kNoFlags : lci::kNoBlock;
  switch (send.state) {
    case State::eager_queued:
      return push_eager(send, flags);
    case State::offer_queued:
      return push_offer(send, flags);
    default:
      return push_data(send, flags);
  }
}

// A synchronous message of one packet asks for an answer by its own packet.
std::uint64_t Direct::eager_max(Rank to, bool sync) const {
  return sync ? std::min<std::uint64_t>(port_.caps(to).mtu_bytes, kEagerBytesMax) : kEagerBytesMax;
}

void Direct::withdraw(Request& send) {
  const Post answer = port_.withdraw(send.segment);
  FAIRLEAD_CHECK(answer == Post::done, "segment {}", send.segment);
  send.exposed = false;
}

bool Direct::progress() {
  const bool replied = push_replies();
  const bool fetched = push_copies();
  return replied || fetched;
}

// True: the packet is the port's. False: no room now. A peer that is gone ends the job.
bool Direct::accepted(Post answer, Rank peer) {
  if (answer == Post::done || answer == Post::pending) [[likely]]
    return true;
  if (answer == Post::again_credit || answer == Post::again_buffer) return false;
  engine_.failed(fmt::format(
      "cannot send to rank {}: {} ({})", peer,
      answer == Post::peer_down ? "it is gone" : "the network refused the packet", describe(peer)));
}

bool Direct::send_packet(Rank to, lci::Lane lane, const lci::Words& words, Piece piece,
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

// The next `size` bytes of the message, in one packet.
bool Direct::send_part(const Request& send, const lci::Words& words, std::uint64_t size,
                       std::uint32_t flags) {
  const Rank to = send.envelope.peer;
  if (send.layout == nullptr) [[likely]]
    return send_packet(to, lci::Lane::request, words, {send.from + send.moved, size}, flags);
  lci::Packet* const packet = port_.alloc({to}, lci::Lane::request, size, flags & lci::kNoBlock);
  if (packet == nullptr) return false;
  Engine::gather(send, send.moved, port_.body(packet).data(), size);
  engine_.charge_copy(0, size, send.size);
  const Post answer = port_.send(packet, kChannel, words, size, {}, nullptr, flags);
  if (accepted(answer, to)) return true;
  port_.release(packet);
  return false;
}

bool Direct::send_now(const void* from, std::uint64_t size, const Envelope& to,
                      std::uint32_t flags) {
  const lci::Caps& caps = port_.caps(to.peer);
  if (size > caps.mtu_bytes) return false;
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

Device::Sent Direct::push_eager(Request& send, std::uint32_t flags) {
  const Envelope& to = send.envelope;
  const lci::Caps& caps = port_.caps(to.peer);
  const auto tag = static_cast<std::uint32_t>(to.tag);
  if (send.size <= caps.mtu_bytes) {
    const lci::Words words = {first_word(Kind::eager, to.context), tag, send.sync ? send.id : 0, 0};
    if (send.size <= caps.inline_bytes_max && send.layout == nullptr) {
      return accepted(port_.send_small({to.peer}, kChannel, lci::Lane::request, words,
                                       bytes_of(send.from, send.size), flags),
                      to.peer)
                 ? Sent::all
                 : Sent::blocked;
    }
    return send_part(send, words, send.size, flags) ? Sent::all : Sent::blocked;
  }
  if (send.moved == 0) send.segment = next_message_++;
  while (send.moved < send.size) {
    const std::uint64_t size = std::min<std::uint64_t>(caps.mtu_bytes, send.size - send.moved);
    const bool last = send.moved + size == send.size;
    const auto offset = static_cast<std::uint32_t>(send.moved);
    const lci::Words first = {first_word(Kind::eager_first, to.context), tag,
                              static_cast<std::uint32_t>(send.size), send.segment};
    const lci::Words more = {first_word(Kind::eager_more, to.context), send.segment, offset, 0};
    const bool begins = send.moved == 0;
    if (!send_part(send, begins ? first : more, size,
                   flags | (last ? 0u : lci::kMore) | (begins ? 0u : lci::kPart))) {
      return Sent::blocked;
    }
    send.moved += size;
  }
  return Sent::all;
}

Device::Sent Direct::push_offer(Request& send, std::uint32_t flags) {
  const Envelope& to = send.envelope;
  const bool exposed = expose(send);
  const lci::Words words = {first_word(Kind::offer, to.context), static_cast<std::uint32_t>(to.tag),
                            send.id, 0};
  const Offer offer{send.size, send.segment, exposed ? 1u : 0u};
  const Post answer = port_.send_small({to.peer}, kChannel, lci::Lane::request, words,
                                       bytes_of(&offer, sizeof offer), flags);
  return accepted(answer, to.peer) ? Sent::all : Sent::blocked;
}

Device::Sent Direct::push_data(Request& send, std::uint32_t flags) {
  const Rank to = send.envelope.peer;
  const std::uint64_t mtu = port_.caps(to).mtu_bytes;
  while (send.moved < send.size) {
    const std::uint64_t size = std::min(mtu, send.size - send.moved);
    const bool last = send.moved + size == send.size;
    const lci::Words words = {first_word(Kind::data, 0), send.peer_id,
                              static_cast<std::uint32_t>(send.moved),
                              static_cast<std::uint32_t>(send.moved >> 32)};
    // The offer was the message's first packet.
    if (!send_part(send, words, size,
                   flags | lci::kPart | lci::kAnyOrder | (last ? 0u : lci::kMore))) {
      return Sent::blocked;
    }
    send.moved += size;
  }
  return Sent::all;
}

void Direct::reply(const Reply& made) {
  if (!replies_.empty() || !send_reply(made)) replies_.push_back(made);
}

bool Direct::send_reply(const Reply& reply) {
  static_assert(sizeof reply.wanted <= 32, "send_small carries it on every fabric");
  const Post answer =
      port_.send_small({reply.to}, kChannel, lci::Lane::reply, reply.words,
                       std::as_bytes(std::span(&reply.wanted, 1)), lci::kNoBlock | lci::kPart);
  return accepted(answer, reply.to);
}

bool Direct::push_replies() {
  std::size_t sent = 0;
  while (sent < replies_.size() && send_reply(replies_[sent])) ++sent;
  replies_.erase(replies_.begin(), replies_.begin() + static_cast<std::ptrdiff_t>(sent));
  return sent != 0;
}

}  // namespace fairlead::mpi
