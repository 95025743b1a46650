#include "fairlead/systems/panda/outgoing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

namespace fairlead::panda {

Source::Source(const Message& message) {
  const std::span<const std::byte> header = message.header();
  if (!header.empty()) pieces[count++] = {header.data(), header.size()};
  for (const Piece& piece : message.pieces()) pieces[count++] = piece;
}

std::size_t Source::look(std::size_t size, Piece* to) const {
  std::size_t made = 0;
  std::size_t from = offset;
  for (std::size_t i = at; size > 0; ++i) {
    const std::size_t part = std::min(size, pieces[i].size - from);
    to[made++] = {static_cast<const std::byte*>(pieces[i].data) + from, part};
    size -= part;
    from = 0;
  }
  return made;
}

void Source::pass(std::size_t size) {
  offset += size;
  for (; at < count && offset >= pieces[at].size; ++at) offset -= pieces[at].size;
}

// True: the packet is the port's. False: no room now.
bool Outgoing::accepted(Post answer, const Under& message) {
  if (answer == Post::done || answer == Post::pending) [[likely]]
    return true;
  if (answer == Post::again_credit || answer == Post::again_buffer) return false;
  const std::string to = message.group ? "all ranks" : fmt::format("rank {}", message.to);
  owner_.fatal(
      owner_.context,
      fmt::format("cannot send to {}, service {}: {}", to, message.head.service(),
                  answer == Post::peer_down ? "it is gone" : "the network refused the packet"));
  return false;
}

bool Outgoing::send_packet(const Under& message, const Head& head, std::size_t size,
                           std::uint32_t flags) {
  constexpr std::size_t kSmallMax = 128;
  const lci::Dest dest{message.to, message.group};
  lci::Words words;
  std::memcpy(words, &head, sizeof words);
  Piece pieces[kPiecesMax + 1];
  const std::size_t count = message.source.look(size, pieces);
  const lci::Caps& caps = port_.caps(message.group ? port_.self() : message.to);
  if (size <= std::min<std::size_t>(caps.inline_bytes_max, kSmallMax)) {
    std::array<std::byte, kSmallMax> data;
    std::size_t at = 0;
    for (std::size_t i = 0; i < count; at += pieces[i++].size) {
      std::memcpy(data.data() + at, pieces[i].data, pieces[i].size);
    }
    return accepted(port_.send_small(dest, kChannel, lci::Lane::request, words,
                                     std::span(data).first(size), flags),
                    message);
  }
  lci::Packet* const packet = port_.alloc(dest, lci::Lane::request, size, flags & lci::kNoBlock);
  if (packet == nullptr) return false;
  if (accepted(port_.send(packet, kChannel, words, 0, {pieces, count}, nullptr, flags), message)) {
    return true;
  }
  port_.release(packet);
  return false;
}

// Packets of the message until it is sent (true), there is no room, or it has had its turn.
bool Outgoing::push(Under& message, std::uint32_t flags, std::uint32_t packets_max) {
  const std::size_t size = message.head.size;
  const std::size_t mtu = port_.caps(message.group ? port_.self() : message.to).mtu_bytes;
  do {
    if (packets_max-- == 0) return false;
    const std::size_t part = std::min(mtu, size - message.moved);
    const bool last = message.moved + part == size;
    if (message.packets == 0) message.head = message.head.numbered(next_number(message));
    const Head head = message.packets == 0
                          ? message.head
                          : Head::following(message.packets, size).numbered(message.head.number());
    const std::uint32_t place = (last ? 0u : lci::kMore) | (message.packets == 0 ? 0u : lci::kPart);
    if (!send_packet(message, head, part, flags | place)) return false;
    if (message.packets++ == 0) {
      Number& next = next_number(message);
      next = (next + 1) & kNumberMask;
    } else {
      port_.charge({.ops = costs_.of(run::LayerStep::panda_st_fragment)});
    }
    ++counts_.fragments_sent;
    message.moved += part;
    message.source.pass(part);
  } while (message.moved < size);
  return true;
}

void Outgoing::send(Rank to, bool group, const Head& head, const Message& message, Room room) {
  port_.charge({.ops = costs_.of(run::LayerStep::panda_st_send)});
  counts_.bytes_sent += head.size;
  Under under{to, group, head, 0, 0, Source(message)};
  if (room == Room::wait) {
    if (waiting_for(under) != 0) [[unlikely]]
      wait_behind(under);
    const bool sent = push(under, lci::kNoFlags);
    FAIRLEAD_CHECK(sent, "a send that waits for room found none");
    return;
  }
  const std::uint32_t packets_max = room == Room::queue ? kTurnPackets : UINT32_MAX;
  if (waiting_for(under) == 0 && push(under, lci::kNoBlock, packets_max)) return;
  room == Room::copy ? queue_copy(under) : queue_and_wait(under);
}

// Until all that waits for the same destination is sent.
void Outgoing::wait_behind(const Under& message) {
  while (waiting_for(message) != 0) {
    if (!flush()) owner_.wait_for_room(owner_.context);
  }
}

[[gnu::noinline]] void Outgoing::queue_and_wait(Under& message) {
  Counter sent;
  ++waiting_for(message);
  waiting_.push_back({message, nullptr, 0, &sent});
  owner_.wait_until_sent(owner_.context, sent);
}

[[gnu::noinline]] void Outgoing::queue_copy(Under& message) {
  const std::size_t bytes = message.head.size - message.moved;
  if (waiting_bytes_ + bytes > kWaitingBytesMax) {
    owner_.fatal(owner_.context,
                 fmt::format("{} bytes wait for room, the last of them for rank {}, service {}: "
                             "handlers send faster than their receivers poll",
                             waiting_bytes_ + bytes, message.to, message.head.service()));
  }
  waiting_bytes_ += bytes;
  ++waiting_for(message);
  auto own = std::make_unique_for_overwrite<std::byte[]>(bytes);
  Piece pieces[kPiecesMax + 1];
  const std::size_t count = message.source.look(bytes, pieces);
  std::size_t at = 0;
  for (std::size_t i = 0; i < count; at += pieces[i++].size) {
    std::memcpy(own.get() + at, pieces[i].data, pieces[i].size);
  }
  Waiting waiting{message, std::move(own), bytes, nullptr};
  waiting.message.source = Source();
  if (bytes > 0) {
    waiting.message.source.pieces[0] = {waiting.own.get(), bytes};
    waiting.message.source.count = 1;
  }
  waiting_.push_back(std::move(waiting));
}

// Messages to this one's destination go behind those to others.
void Outgoing::give_turn(const Under& message) {
  const Rank to = message.to;
  const bool group = message.group;
  std::list<Waiting> behind;
  for (auto each = waiting_.begin(); each != waiting_.end();) {
    const auto next = std::next(each);
    if (each->message.to == to && each->message.group == group) {
      behind.splice(behind.end(), waiting_, each);
    }
    each = next;
  }
  waiting_.splice(waiting_.end(), behind);
}

bool Outgoing::flush(std::uint32_t packets_max) {
  const bool had_some = !waiting_.empty();
  bool any_moved = false;
  constexpr std::size_t kBlockedMax = 16;
  std::array<lci::Dest, kBlockedMax> blocked;
  std::size_t blocked_count = 0;
  const auto is_blocked = [&](const Under& message) {
    return std::any_of(blocked.begin(),
                       blocked.begin() + static_cast<std::ptrdiff_t>(blocked_count),
                       [&](const lci::Dest& each) {
                         return each.id == message.to && each.group == message.group;
                       });
  };
  for (auto each = waiting_.begin(); each != waiting_.end() && blocked_count < kBlockedMax;) {
    Under& message = each->message;
    const std::size_t packets_before = message.packets;
    const bool sent = !is_blocked(message) && push(message, lci::kNoBlock, packets_max);
    any_moved |= message.packets != packets_before;
    if (sent) {
      --waiting_for(message);
      waiting_bytes_ -= each->bytes;
      if (each->sent != nullptr) each->sent->ok.fetch_add(1, std::memory_order_relaxed);
      each = waiting_.erase(each);
      continue;
    }
    if (!is_blocked(message)) blocked[blocked_count++] = {message.to, message.group};
    ++each;
  }
  if (any_moved && waiting_.size() > 1) give_turn(waiting_.front().message);
  if (had_some && waiting_.empty()) emptied_.ok.fetch_add(1, std::memory_order_relaxed);
  return any_moved;
}

}  // namespace fairlead::panda
