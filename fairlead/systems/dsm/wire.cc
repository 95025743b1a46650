#include "fairlead/systems/dsm/wire.h"

#include <algorithm>
#include <cstring>

namespace fairlead::dsm {

// `bytes` of content follow, then padding to 8.
struct Wire::Put {
  Rank from;
  std::uint32_t words[4];
  std::uint32_t bytes;
};

Wire::Wire(lci::Port& port, lci::Chan chan)
    : port_(port),
      chan_(chan),
      parts_(port.size()),
      inbox_(static_cast<std::byte*>(map_sparse(kInboxBytes))) {
  port_.bind(chan_,
             {[](void* self, lci::Packet*, const lci::Arrival& arrival) {
                static_cast<Wire*>(self)->came(arrival.source, arrival.words, arrival.data);
                return Keep::no;
              },
              this},
             {});
}

Wire::~Wire() { unmap_sparse(inbox_, kInboxBytes); }

Post Wire::send(Rank to, Kind kind, std::uint64_t value, std::span<const std::uint32_t> body) {
  const std::span<const std::byte> bytes = std::as_bytes(body);
  const bool here = to == port_.self();
  const std::size_t most =
      here ? std::max<std::size_t>(bytes.size(), 4) : port_.caps(to).mtu_bytes & ~std::size_t{3};
  std::size_t sent = 0;
  do {
    const std::span<const std::byte> part =
        bytes.subspan(sent, std::min(most, bytes.size() - sent));
    sent += part.size();
    const lci::Words words = {static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(value),
                              static_cast<std::uint32_t>(value >> 32),
                              static_cast<std::uint32_t>(bytes.size() - sent)};
    if (here) {
      came(to, words, part);
      continue;
    }
    Post answer;
    if (part.size() <= port_.caps(to).inline_bytes_max) {
      answer = port_.send_small({to}, chan_, lci::Lane::request, words, part, lci::kNoFlags);
    } else {
      lci::Packet* const packet = port_.alloc({to}, lci::Lane::request, part.size(), lci::kNoFlags);
      if (packet == nullptr) return Post::peer_down;
      const Piece piece{part.data(), part.size()};
      answer = port_.send(packet, chan_, words, 0, {&piece, 1}, nullptr, lci::kNoFlags);
    }
    if (answer != Post::done && answer != Post::pending) return answer;
  } while (sent < bytes.size());
  return Post::done;
}

void Wire::came(Rank from, const std::uint32_t* words, std::span<const std::byte> data) {
  const std::size_t room = sizeof(Put) + (data.size() + 7) / 8 * 8;
  if (kInboxBytes - written_ < room) {
    overrun_ = true;
    return;
  }
  Put put{from, {}, static_cast<std::uint32_t>(data.size())};
  std::memcpy(put.words, words, sizeof put.words);
  std::memcpy(inbox_ + written_, &put, sizeof put);
  if (!data.empty()) std::memcpy(inbox_ + written_ + sizeof put, data.data(), data.size());
  written_ += room;
}

bool Wire::next(Message& message) {
  while (read_ < written_) {
    Put put;
    std::memcpy(&put, inbox_ + read_, sizeof put);
    const std::byte* const data = inbox_ + read_ + sizeof put;
    read_ += sizeof put + (std::size_t{put.bytes} + 7) / 8 * 8;
    std::vector<std::uint32_t>& words = parts_[put.from].words;
    const std::size_t before = words.size();
    words.resize(before + put.bytes / 4);
    if (put.bytes >= 4) std::memcpy(words.data() + before, data, put.bytes / 4 * 4);
    if (read_ == written_) read_ = written_ = 0;
    if (put.words[3] != 0) continue;
    message.kind = static_cast<Kind>(put.words[0]);
    message.from = put.from;
    message.value = put.words[1] | (std::uint64_t{put.words[2]} << 32);
    message.body = std::move(words);
    words.clear();
    return true;
  }
  return false;
}

}  // namespace fairlead::dsm
