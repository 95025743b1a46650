#include "fairlead/systems/dsm/wire.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fairlead::dsm {

Wire::Wire(lci::Port& port, lci::Chan chan, Sink sink)
    : port_(port), chan_(chan), sink_(sink), parts_(port.size()) {
  port_.bind(chan_,
             {[](void* self, lci::Packet*, const lci::Arrival& arrival) {
                static_cast<Wire*>(self)->came(arrival);
                return Keep::no;
              },
              this},
             {});
}

Wire::~Wire() { port_.bind(chan_, {}, {}); }

void Wire::send(Rank to, Kind kind, std::uint64_t value, std::span<const std::uint32_t> body,
                bool behind_puts) {
  if (to == port_.self()) {
    Message message{kind, to, value, {body.begin(), body.end()}};
    sink_.run(sink_.context, message);
    return;
  }
  const auto lane = static_cast<std::uint8_t>(lane_of(kind));
  std::deque<Item>& before = outbox_[lane];
  std::size_t sent = 0;
  if (lane >= lowest_ && before.empty() &&
      post(to, kind, value, std::as_bytes(body), behind_puts, sent)) {
    return;
  }
  before.push_back({to, kind, value, {body.begin(), body.end()}, sent, behind_puts});
  come_back_later(lane < lowest_);
}

void Wire::pump() {
  for (std::deque<Item>& items : outbox_) {
    while (!items.empty()) {
      Item& item = items.front();
      if (!post(item.to, item.kind, item.value, std::as_bytes(std::span(item.body)),
                item.behind_puts, item.sent)) {
        break;
      }
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

bool Wire::post(Rank to, Kind kind, std::uint64_t value, std::span<const std::byte> body,
                bool behind_puts, std::size_t& sent) {
  const lci::Caps& caps = port_.caps(to);
  const std::size_t most = caps.mtu_bytes & ~std::size_t{3};
  const std::uint32_t whole = lci::kNoBlock | (behind_puts ? lci::kAfter : lci::kNoFlags) |
                              (calls(kind) ? lci::kSolicited : lci::kNoFlags);
  do {
    const std::uint32_t flags = sent == 0 ? whole : whole | lci::kPart;
    const auto part = body.subspan(sent, std::min(most, body.size() - sent));
    const std::size_t left = body.size() - sent - part.size();
    const lci::Words words = {static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(value),
                              static_cast<std::uint32_t>(value >> 32),
                              static_cast<std::uint32_t>(left)};
    Post answer;
    if (part.size() <= caps.inline_bytes_max) {
      answer = port_.send_small({to}, chan_, lane_of(kind), words, part, flags);
    } else {
      lci::Packet* const packet = port_.alloc({to}, lane_of(kind), part.size(), flags);
      if (packet == nullptr) return false;
      const Piece piece{part.data(), part.size()};
      answer = port_.send(packet, chan_, words, 0, {&piece, 1}, nullptr, flags);
      if (answer != Post::done && answer != Post::pending) port_.release(packet);
    }
    if (answer == Post::again_credit || answer == Post::again_buffer) return false;
    if (answer != Post::done && answer != Post::pending) {
      // The job is about to end, which who waits is told.
      peer_down_ = true;
      return true;
    }
    sent += part.size();
  } while (sent < body.size());
  return true;
}

void Wire::came(const lci::Arrival& arrival) {
  std::vector<std::uint32_t>& words =
      parts_[arrival.source][static_cast<std::size_t>(arrival.lane)];
  const std::size_t before = words.size();
  const std::size_t count = arrival.data.size() / sizeof(std::uint32_t);
  words.resize(before + count);
  if (count != 0) std::memcpy(words.data() + before, arrival.data.data(), count * 4);
  if (arrival.words[3] != 0) return;
  Message message{static_cast<Kind>(arrival.words[0]), arrival.source,
                  arrival.words[1] | (std::uint64_t{arrival.words[2]} << 32),
                  std::exchange(words, {})};
  const std::uint8_t lowest = std::exchange(lowest_, static_cast<std::uint8_t>(arrival.lane) + 1);
  sink_.run(sink_.context, message);
  lowest_ = lowest;
}

}  // namespace fairlead::dsm
