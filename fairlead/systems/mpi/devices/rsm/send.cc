// The sending half of the rsm device.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "fairlead/systems/mpi/devices/rsm/connection.h"
#include "fairlead/systems/mpi/devices/rsm/device.h"
#include "fairlead/systems/mpi/engine.h"

namespace fairlead::mpi {

using rsm::Box;
using rsm::BoxKind;
using rsm::Head;

// nullptr: the receiver has yet to make the area, which it was asked for.
RsmDevice::Outgoing* RsmDevice::connected(Rank to) {
  Peer& receiver = peer(to);
  if (receiver.out != nullptr) [[likely]]
    return receiver.out->open ? receiver.out.get() : nullptr;
  if (acknowledgments_ == nullptr) {
    acknowledgments_ = memory(kRsmAcknowledged, std::size_t{port_.size()} * rsm::kBoxBytes);
  }
  const auto& word =
      *reinterpret_cast<std::atomic<std::uint64_t>*>(acknowledgments_ + to * rsm::kBoxBytes);
  const rsm::Protocol& how = protocol_of(to);
  receiver.out = std::make_unique<Outgoing>(port_, to, how, word);
  outgoing_.push_back(receiver.out.get());
  ask(*receiver.out);
  return nullptr;
}

std::uint32_t RsmDevice::room(Outgoing& out) {
  const std::uint32_t free = out.queue.room();
  if (out.queue.broken()) [[unlikely]] {
    engine_.failed(
        fmt::format("rank {} acknowledged messages that this rank did not send", out.to));
  }
  return free;
}

void RsmDevice::push(Outgoing& out) {
  if (accepted(out.queue.push(), out.to) || out.late) return;
  out.late = true;
  late_out_.push_back(&out);
}

Device::Sent RsmDevice::start(Request& send, bool) {
  Outgoing* const out = connected(send.envelope.peer);
  if (out == nullptr) return Sent::blocked;
  const bool is_short = send.state == State::offer_queued || send.size <= out->protocol.short_bytes;
  const Sent sent = is_short ? send_short(*out, send) : send_long(*out, send);
  out->blocked = sent == Sent::blocked;
  return sent;
}

bool RsmDevice::send_whole(const void* from, std::uint64_t size, const Envelope& to) {
  constexpr std::uint64_t kMost = rsm::kHeadBytes + 4 * rsm::kMoreBytes;
  if (size > kMost) return false;
  Outgoing* const out = connected(to.peer);
  if (out == nullptr || size > out->protocol.short_bytes || room(*out) < rsm::boxes_for(size)) {
    return false;
  }
  const auto* at = static_cast<const std::byte*>(from);
  const Head head{{first_word(Kind::eager, to.context), static_cast<std::uint32_t>(to.tag), 0, 0},
                  size};
  std::uint64_t bytes = std::min(size, rsm::kHeadBytes);
  Box& first = out->queue.next();
  std::memcpy(first.body, &head, sizeof head);
  if (bytes > 0) std::memcpy(first.body + sizeof head, at, bytes);
  out->queue.fill(BoxKind::head, bytes);
  for (std::uint64_t moved = bytes; moved < size; moved += bytes) {
    bytes = std::min(size - moved, rsm::kMoreBytes);
    std::memcpy(out->queue.next().body, at + moved, bytes);
    out->queue.fill(BoxKind::more, bytes);
  }
  push(*out);
  return true;
}

Head RsmDevice::head_of(const Request& send) const {
  const Envelope& to = send.envelope;
  const auto tag = static_cast<std::uint32_t>(to.tag);
  switch (send.state) {
    case State::offer_queued:
      return {{first_word(Kind::offer, to.context), tag, send.id, 0}, send.size};
    case State::data_queued:
      return {{first_word(Kind::data, 0), send.peer_id, 0, 0}, send.size};
    default:
      return {{first_word(Kind::eager, to.context), tag, send.sync ? send.id : 0, 0}, send.size};
  }
}

// The message in postboxes, as far as there is room; send.moved says how far it is.
Device::Sent RsmDevice::send_short(Outgoing& out, Request& send) {
  const bool offers = send.state == State::offer_queued;
  std::uint32_t free = room(out);
  if (send.moved == 0) {
    if (free == 0) return Sent::blocked;
    --free;
    Box& box = out.queue.next();
    const Head head = head_of(send);
    std::memcpy(box.body, &head, sizeof head);
    const std::uint64_t bytes = offers ? 0 : std::min(send.size, rsm::kHeadBytes);
    Engine::gather(send, 0, box.body + sizeof head, bytes);
    out.queue.fill(BoxKind::head, bytes);
    send.moved = bytes;
  }
  while (!offers && send.moved < send.size && free > 0) {
    --free;
    Box& box = out.queue.next();
    const std::uint64_t bytes = std::min(send.size - send.moved, rsm::kMoreBytes);
    Engine::gather(send, send.moved, box.body, bytes);
    out.queue.fill(BoxKind::more, bytes);
    send.moved += bytes;
  }
  push(out);
  if (!offers && send.moved < send.size) return Sent::blocked;
  if (offers) send.moved = 0;
  return Sent::all;
}

}  // namespace fairlead::mpi
