#include "fairlead/systems/am/wire.h"

#include <algorithm>
#include <utility>

namespace fairlead::am {
namespace {

bool no_room(Post answer) { return answer == Post::again_credit || answer == Post::again_buffer; }

}  // namespace

Wire::Wire(lci::Port& port, lci::Chan chan, const Departures& departures, Owner owner)
    : port_(port),
      ranks_(port.size()),
      chan_(chan),
      straight_{port.fast_path(chan, lci::Lane::request), port.fast_path(chan, lci::Lane::reply)},
      departures_(departures),
      owner_(owner) {}

void Wire::send_all(Rank to, const Head& head, const std::byte* data) {
  Post sent;
  while (no_room(sent = send_short(to, head))) await_room();
  if (sent == Post::done) [[likely]]
    return;
  Item item = item_of(to, head, data);
  const std::deque<Item>& before = items_of(head);
  while (!before.empty() || !post(item)) await_room();
}

void Wire::await_room() {
  (void)port_.wait({.any_change = true, .what = "room for an Active Message"});
  pump();
  owner_.serve(owner_.context);
}

Post Wire::send_short(Rank to, const Head& head) {
  constexpr std::size_t kBytesMax = 32;  // more than that has room in a small packet of few paths
  const std::size_t bytes = short_bytes(head.argc);
  if (!is_short(head) || bytes > kBytesMax || !idle() || departures_.gone(to)) {
    return Post::invalid;
  }
  std::byte front[kBytesMax];
  encode_short(head, front);
  const lci::Words words = {first_word(head), head.to | std::uint32_t{head.from} << 16, 0, to};
  const lci::FastPath& straight = straight_[head.kind == Kind::reply ? 1 : 0];
  const lci::WordVector block = {words[0], words[1], words[2], words[3]};
  if (to < ranks_ && !port_.wakes() && straight.post(to, block, front, bytes)) [[likely]]
    return Post::done;
  const Post answer =
      port_.send_small({to}, chan_, lane_of(head), words, {front, bytes}, lci::kNoBlock);
  return answer == Post::done || no_room(answer) ? answer : Post::invalid;
}

void Wire::send_soon(Rank to, const Head& head, const std::byte* data) {
  if (send_short(to, head) == Post::done) [[likely]]
    return;
  Item item = item_of(to, head, data);
  if (items_of(head).empty() && post(item)) return;
  queue(item);
}

bool Wire::try_send(Rank to, const Head& head, const std::byte* data) {
  if (const Post sent = send_short(to, head); sent != Post::invalid) return sent == Post::done;
  Item item = item_of(to, head, data);
  if (!items_of(head).empty()) return false;
  if (post(item)) return true;
  if (!item.begun) return false;
  queue(item);
  return true;
}

void Wire::queue(Item& item) {
  const std::size_t bytes = item.head.data_bytes();
  if (bytes > 0) {
    item.own = std::make_unique<std::byte[]>(bytes);
    std::copy_n(item.data, bytes, item.own.get());
    item.data = item.own.get();
    port_.charge({.working_set_bytes = bytes, .copied_bytes = bytes});
  }
  items_of(item.head).push_back(std::move(item));
  ++waiting_;
  come_back_later();
}

void Wire::pump() {
  if (idle()) return;
  for (std::deque<Item>& items : outbox_) {
    while (!items.empty() && post(items.front())) {
      items.pop_front();
      --waiting_;
    }
  }
  if (!idle()) come_back_later();
}

void Wire::come_back_later() {
  if (coming_back_) return;
  coming_back_ = true;
  port_.after(microseconds(kRetryUs), {[](void* self) {
                                         Wire& wire = *static_cast<Wire*>(self);
                                         wire.coming_back_ = false;
                                         wire.pump();
                                       },
                                       this});
}

bool Wire::post(Item& item) {
  const Head& head = item.head;
  const std::size_t bytes = head.data_bytes();
  if (departures_.gone(item.to)) [[unlikely]] {
    const bool asks = head.kind == Kind::request || head.kind == Kind::get;
    if (asks) owner_.lost(owner_.context, item.to, head, item.data);
    return true;
  }
  do {
    const Post answer =
        item.begun ? post_packet(item, piece_of(item)) : post_packet(item, item.head);
    if (no_room(answer)) return false;
    if (answer != Post::done && answer != Post::pending) {
      owner_.lost(owner_.context, item.to, head, item.data);
      return true;
    }
    item.begun = true;
  } while (item.sent < bytes);
  return true;
}

Head Wire::piece_of(const Item& item) {
  Head piece = item.head;
  piece.kind = Kind::piece;
  piece.bytes = static_cast<std::uint32_t>(item.sent);
  return piece;
}

Post Wire::post_packet(Item& item, const Head& head) {
  std::byte front[kHeadBytesMax];
  const std::size_t front_bytes = encode(head, front);
  const std::byte* const data = item.data + item.sent;
  const std::size_t left = item.head.data_bytes() - item.sent;
  const std::size_t bytes =
      left == 0 ? 0 : std::min<std::size_t>(port_.caps(item.to).mtu_bytes - front_bytes, left);
  const Post answer = post_bytes(item, head, {front, front_bytes}, {data, bytes});
  if (answer == Post::done || answer == Post::pending) item.sent += bytes;
  return answer;
}

Post Wire::post_bytes(const Item& item, const Head& head, std::span<const std::byte> front,
                      std::span<const std::byte> data) {
  const std::size_t front_bytes = front.size();
  const std::size_t bytes = data.size();
  const lci::Words words = {first_word(head), head.to | std::uint32_t{head.from} << 16, head.bytes,
                            head.rank};
  const lci::Lane lane = lane_of(item.head);
  const std::uint32_t flags = item.begun ? lci::kNoBlock | lci::kPart : lci::kNoBlock;
  const std::size_t inline_max = port_.caps(item.to).inline_bytes_max;
  if (front_bytes + bytes <= inline_max) {
    std::byte small[kHeadBytesMax + 256];
    if (bytes == 0) {
      return port_.send_small({item.to}, chan_, lane, words, front, flags);
    }
    if (front_bytes + bytes <= sizeof small) {
      std::copy_n(front.data(), front_bytes, small);
      std::copy_n(data.data(), bytes, small + front_bytes);
      return port_.send_small({item.to}, chan_, lane, words, {small, front_bytes + bytes}, flags);
    }
  }
  lci::Packet* const packet = port_.alloc({item.to}, lane, front_bytes + bytes, lci::kNoBlock);
  if (packet == nullptr) return Post::again_buffer;
  std::copy_n(front.data(), front_bytes, port_.body(packet).data());
  const Piece piece{data.data(), bytes};
  const Post answer =
      port_.send(packet, chan_, words, front_bytes, {&piece, bytes > 0 ? 1u : 0u}, nullptr, flags);
  if (answer != Post::done && answer != Post::pending) port_.release(packet);
  return answer;
}

}  // namespace fairlead::am
