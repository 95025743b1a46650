#include "fairlead/systems/crl/wire.h"

#include <algorithm>

#include "fairlead/base/check.h"

namespace fairlead::crl {

Message Wire::message_of(const lci::Arrival& arrival) {
  return {static_cast<Kind>(arrival.words[0]), arrival.words[1], arrival.words[2],
          arrival.words[3]};
}

void Wire::send(Rank to, const Message& message, Region* region) {
  const auto lane = static_cast<std::uint8_t>(lane_of(message.kind));
  std::deque<Item>& before = outbox_[lane];
  Item item{to, message, region, 0};
  if (lane >= lowest_ && before.empty() && post(item)) return;
  if (region != nullptr) ++region->unsent;
  before.push_back(item);
  come_back_later(lane < lowest_);
}

void Wire::pump() {
  for (std::deque<Item>& items : outbox_) {
    while (!items.empty() && post(items.front())) {
      if (items.front().region != nullptr) --items.front().region->unsent;
      items.pop_front();
    }
  }
  if (!idle()) come_back_later(false);
}

void Wire::come_back_later(bool at_once) {
  if (coming_back_) return;
  coming_back_ = true;
  const lci::Task task{[](void* self) {
                         Wire& wire = *static_cast<Wire*>(self);
                         wire.coming_back_ = false;
                         wire.pump();
                       },
                       this};
  at_once ? port_.defer(task) : port_.after(microseconds(kRetryUs), task);
}

bool Wire::post(Item& item) {
  if (item.region == nullptr) return post_packet(item, {});
  const std::span<const std::byte> content(item.region->content(), item.region->bytes);
  const std::size_t mtu = port_.caps(item.to).mtu_bytes;
  do {
    const auto part = content.subspan(item.sent, std::min(mtu, content.size() - item.sent));
    if (!post_packet(item, part)) return false;
    item.sent += part.size();
  } while (item.sent < content.size());
  return true;
}

bool Wire::post_packet(const Item& item, std::span<const std::byte> data) {
  const Message& m = item.message;
  const std::uint32_t extra =
      item.region != nullptr ? static_cast<std::uint32_t>(item.sent) : m.extra;
  const lci::Words words = {static_cast<std::uint32_t>(m.kind), m.rid, m.version, extra};
  const lci::Lane lane = lane_of(m.kind);
  const std::uint32_t flags =
      item.region != nullptr && item.sent > 0 ? lci::kNoBlock | lci::kPart : lci::kNoBlock;
  Post answer;
  if (data.size() <= port_.caps(item.to).inline_bytes_max) {
    answer = port_.send_small({item.to}, chan_, lane, words, data, flags);
  } else {
    lci::Packet* const packet = port_.alloc({item.to}, lane, data.size(), lci::kNoBlock);
    if (packet == nullptr) return false;
    const Piece piece{data.data(), data.size()};
    answer = port_.send(packet, chan_, words, 0, {&piece, 1}, nullptr, flags);
    if (answer != Post::done && answer != Post::pending) port_.release(packet);
  }
  // To a rank that is gone: the job is about to end, which who waits is told.
  return answer != Post::again_credit && answer != Post::again_buffer;
}

}  // namespace fairlead::crl
