#include "fairlead/systems/panda/received.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "fairlead/base/check.h"

namespace fairlead::panda {

Received* ReceivedPool::take(Rank source, const Head& head, bool via_group) {
  if (free_ == nullptr) {
    all_.push_back(std::make_unique<Received>());
    free_ = all_.back().get();
    free_->pool = this;
  }
  Received* message = free_;
  free_ = std::exchange(message->next_free, nullptr);
  message->source = source;
  message->service = head.service();
  message->kind = head.kind();
  message->via_group = via_group;
  message->early = false;
  message->gathers = gathering_.test(head.service()) && head.kind() != Kind::answer &&
                     head.size <= kGatheredBytesMax;
  message->extra = head.extra;
  message->size = message->left = head.size;
  message->arrived = 0;
  message->packets = 0;
  message->at = 0;
  return message;
}

Keep ReceivedPool::append(Received& message, lci::Packet* packet, std::span<const std::byte> data) {
  ++message.packets;
  const bool whole = message.arrived == 0 && data.size() == message.size;
  message.arrived += data.size();
  if (data.empty()) return Keep::no;
  if (message.gathers && !whole) return append_to_own(message, data);
  if (whole && data.size() <= kSmallBytes) {
    std::memcpy(message.small, data.data(), data.size());
    message.chunks.push_back({nullptr, {message.small, data.size()}});
    return Keep::no;
  }
  message.chunks.push_back({packet, data});
  return Keep::yes;
}

Keep ReceivedPool::append_to_own(Received& message, std::span<const std::byte> data) {
  if (message.own == nullptr) {
    message.own = std::make_unique_for_overwrite<std::byte[]>(message.size);
    message.chunks.push_back({nullptr, {message.own.get(), message.size}});
  }
  port_.charge({.working_set_bytes = message.size, .copied_bytes = data.size()});
  std::memcpy(message.own.get() + message.arrived - data.size(), data.data(), data.size());
  return Keep::no;
}

void ReceivedPool::fill(Received& message, const Message& from) {
  message.arrived = message.size;
  if (message.size == 0) return;
  std::byte* to = message.small;
  if (message.size > kSmallBytes) {
    message.own = std::make_unique_for_overwrite<std::byte[]>(message.size);
    to = message.own.get();
    port_.charge({.working_set_bytes = message.size, .copied_bytes = message.size});
  }
  message.chunks.push_back({nullptr, {to, message.size}});
  const std::span<const std::byte> header = from.header();
  if (!header.empty()) std::memcpy(to, header.data(), header.size());
  to += header.size();
  for (const Piece& piece : from.pieces()) {
    if (piece.size > 0) std::memcpy(to, piece.data, piece.size);
    to += piece.size;
  }
}

void ReceivedPool::give(Received* message) {
  if (held_) port_.hold();
  for (; !message->chunks.empty(); message->chunks.pop_front()) {
    if (lci::Packet* const packet = message->chunks.front().packet) port_.release(packet);
  }
  message->own.reset();
  message->next_free = free_;
  free_ = message;
  if (held_) port_.allow();
}

// Over `size` bytes, at most what is left of the front chunk.
void ReceivedPool::pass(Received& message, std::size_t size) {
  message.left -= size;
  message.at += size;
  const Chunk& chunk = message.chunks.front();
  if (message.at < chunk.data.size()) return;
  if (chunk.packet != nullptr) port_.release(chunk.packet);
  message.chunks.pop_front();
  message.at = 0;
}

void ReceivedPool::pop(Received& message, void* to, std::size_t size) {
  FAIRLEAD_CHECK(size <= message.left, "{} bytes popped of {} left, from rank {}, service {}", size,
                 message.left, message.source, message.service);
  if (size > kSmallBytes) {
    port_.charge({.working_set_bytes = message.size, .copied_bytes = size});
  }
  auto* at = static_cast<std::byte*>(to);
  while (size > 0) {
    const std::span<const std::byte> data = message.chunks.front().data.subspan(message.at);
    const std::size_t part = std::min(size, data.size());
    std::memcpy(at, data.data(), part);
    at += part;
    size -= part;
    pass(message, part);
  }
}

void ReceivedPool::skip(Received& message, std::size_t size) {
  FAIRLEAD_CHECK(size <= message.left, "{} bytes skipped of {} left, from rank {}, service {}",
                 size, message.left, message.source, message.service);
  while (size > 0) {
    const std::size_t part = std::min(size, message.chunks.front().data.size() - message.at);
    size -= part;
    pass(message, part);
  }
}

std::span<const std::byte> ReceivedPool::front(Received& message) {
  if (message.left == 0) return {};
  const std::span<const std::byte> data = message.chunks.front().data.subspan(message.at);
  const std::size_t wanted = std::min(message.left, kHeaderBytesMax);
  if (data.size() >= wanted) return data;
  std::memcpy(message.joined, data.data(), data.size());
  std::size_t have = data.size();
  for (std::size_t i = 1; have < wanted; ++i) {
    const std::span<const std::byte> next = message.chunks[i].data;
    const std::size_t part = std::min(wanted - have, next.size());
    std::memcpy(message.joined + have, next.data(), part);
    have += part;
  }
  return {message.joined, wanted};
}

std::span<const std::byte> ReceivedPool::block(const Received& message) const {
  if (message.own == nullptr || message.left == 0) return {};
  return message.chunks.front().data.subspan(message.at);
}

}  // namespace fairlead::panda
