#include "fairlead/systems/elan/outbox.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "fairlead/lci/insist.h"
#include "fairlead/systems/elan/errors.h"

namespace fairlead::elan {

std::size_t Outbox::mtu_of(lci::Dest to) {
  if (!to.group) return port_.caps(to.id).mtu_bytes;
  if (group_mtu_ == 0) {
    group_mtu_ = port_.caps(port_.self()).mtu_bytes;
    for (Rank rank = 0; rank < port_.size(); ++rank) {
      group_mtu_ = std::min<std::size_t>(group_mtu_, port_.caps(rank).mtu_bytes);
    }
  }
  return group_mtu_;
}

void Outbox::lost(lci::Dest to) {
  fail(context_, what_,
       fmt::format("{} {} cannot be sent to: it was lost", to.group ? "group" : "process", to.id));
}

void Outbox::send(lci::Dest to, const Key& key, const void* data, std::size_t size) {
  std::size_t moved = 0;
  if (!to.group) {
    (void)send_on(to.id, key, 0, data, size, moved, true);
    return;
  }
  const auto* const bytes = static_cast<const std::byte*>(data);
  const Head head(key, 0, size);
  const std::size_t mtu = mtu_of(to);
  do {
    const Piece piece{bytes + moved, std::min(mtu, size - moved)};
    lci::Packet* const packet = port_.alloc(to, lci::Lane::request, piece.size, lci::kNoFlags);
    const Post answer = packet == nullptr ? Post::peer_down : lci::insist(port_, [&] {
      return port_.send(packet, chan_, head.words, 0, {&piece, piece.size > 0 ? 1u : 0u}, nullptr,
                        moved == 0 ? lci::kNoFlags : lci::kPart);
    });
    if (!accepted(answer)) lost(to);
    moved += piece.size;
  } while (moved < size);
}

bool Outbox::send_on(Rank to, const Key& key, std::uint32_t note, const void* data,
                     std::size_t size, std::size_t& moved, bool may_wait) {
  const auto* const bytes = static_cast<const std::byte*>(data);
  const Head head(key, note, size);
  const std::uint32_t flags = may_wait ? lci::kNoFlags : lci::kNoBlock;
  const auto goes = [&](auto&& begin) {
    const Post answer = may_wait ? lci::insist(port_, begin) : begin();
    if (answer == Post::again_credit || answer == Post::again_buffer) return false;
    if (!accepted(answer)) lost({to});
    return true;
  };
  if (size <= port_.caps(to).inline_bytes_max) {
    return goes([&] {
      return port_.send_small({to}, chan_, lci::Lane::request, head.words, {bytes, size}, flags);
    });
  }
  const std::size_t mtu = mtu_of({to});
  do {
    const Piece piece{bytes + moved, std::min(mtu, size - moved)};
    lci::Packet* const packet = port_.alloc({to}, lci::Lane::request, piece.size, flags);
    if (packet == nullptr) {
      if (may_wait) lost({to});
      return false;
    }
    if (!goes([&] {
          return port_.send(packet, chan_, head.words, 0, {&piece, 1}, nullptr,
                            moved == 0 ? flags : flags | lci::kPart);
        })) {
      port_.release(packet);
      return false;
    }
    moved += piece.size;
  } while (moved < size);
  return true;
}

bool Outbox::send_offer(Rank to, const Key& key, std::uint32_t note, const Offer& offer,
                        bool may_wait) {
  const Head head(key, note);
  const std::span<const std::byte> body = std::as_bytes(std::span(&offer, 1));
  const auto begin = [&] {
    return port_.send_small({to}, chan_, lci::Lane::request, head.words, body,
                            may_wait ? lci::kNoFlags : lci::kNoBlock);
  };
  const Post answer = may_wait ? lci::insist(port_, begin) : begin();
  if (answer == Post::again_credit || answer == Post::again_buffer) return false;
  if (!accepted(answer)) lost({to});
  return true;
}

}  // namespace fairlead::elan
