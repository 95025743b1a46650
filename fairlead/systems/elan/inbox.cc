#include "fairlead/systems/elan/inbox.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fairlead/lci/insist.h"
#include "fairlead/systems/elan/errors.h"

namespace fairlead::elan {

Inbox::Inbox(run::Context& context, lci::Chan chan, const char* what)
    : context_(context), port_(context.port()), chan_(chan), what_(what) {
  port_.bind(chan_,
             {[](void* self, lci::Packet*, const lci::Arrival& arrival) {
                const std::uint32_t* const w = arrival.words;
                static_cast<Inbox*>(self)->arrived(arrival.source, arrival.via_group,
                                                   {{w[0], w[1], w[2]}}, w[3], arrival.data);
                return Keep::no;
              },
              this},
             {});
}

Inbox::~Inbox() { port_.bind(chan_, {}, {}); }

// --- What arrives.

bool Inbox::fits(const Receive& receive, Rank from, const Key& key) {
  if (((receive.source ^ from) & receive.source_mask) != 0) return false;
  for (int i = 0; i < 3; ++i) {
    if (((receive.want.words[i] ^ key.words[i]) & receive.mask.words[i]) != 0) return false;
  }
  return true;
}

// The first receive in line for it, taken out. Probes ahead of it are told and leave it.
Receive* Inbox::taker_of(Rank from, const Key& key, std::size_t size) {
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    Receive* const receive = *at;
    if (!fits(*receive, from, key)) {
      ++at;
      continue;
    }
    at = waiting_.erase(at);
    receive->from = from;
    receive->key = key;
    receive->size = size;
    if (!receive->probe) return receive;
    end(*receive);
  }
  return nullptr;
}

void Inbox::begin(Receive& receive, Rank from, const Key& key, std::size_t size) {
  receive.from = from;
  receive.key = key;
  receive.size = size;
  if (receive.into == nullptr && !receive.probe) {
    receive.buffer = std::make_unique_for_overwrite<std::byte[]>(std::max<std::size_t>(size, 1));
    receive.into = receive.buffer.get();
    receive.room = size;
  }
}

void Inbox::fill(Receive& receive, std::size_t offset, std::span<const std::byte> data) {
  if (offset >= receive.room) return;
  const std::size_t part = std::min(data.size(), receive.room - offset);
  if (part == 0) return;
  std::memcpy(static_cast<std::byte*>(receive.into) + offset, data.data(), part);
  port_.charge({.working_set_bytes = receive.size, .copied_bytes = part});
}

void Inbox::end(Receive& receive) {
  if (!receive.probe && taken_ != nullptr) taken_(taken_context_, receive);
  receive.done = true;
  changes_.ok.fetch_add(1, std::memory_order_release);
}

void Inbox::arrived(Rank from, bool via_group, const Key& key, std::size_t size,
                    std::span<const std::byte> data) {
  const std::uint64_t way = std::uint64_t{from} * 2 + (via_group ? 1 : 0);
  if (const auto under_way = streams_.find(way); under_way != streams_.end()) {
    go_on(under_way->second, data);
    if (under_way->second.here >= under_way->second.size) streams_.erase(under_way);
    return;
  }
  Stream stream;
  stream.size = size;
  stream.receive = taker_of(from, key, size);
  if (stream.receive != nullptr) {
    begin(*stream.receive, from, key, size);
  } else {
    auto memory = std::make_unique_for_overwrite<std::byte[]>(std::max<std::size_t>(size, 1));
    kept_.push_back({from, key, size, 0, std::move(memory), nullptr});
    stream.kept = std::prev(kept_.end());
  }
  go_on(stream, data);
  if (stream.here < stream.size) streams_.emplace(way, stream);
}

void Inbox::go_on(Stream& stream, std::span<const std::byte> data) {
  const std::span<const std::byte> part =
      data.subspan(0, std::min(data.size(), stream.size - stream.here));
  const std::size_t at = stream.here;
  stream.here += part.size();
  if (stream.receive != nullptr) {
    fill(*stream.receive, at, part);
    if (stream.here == stream.size) end(*stream.receive);
    return;
  }
  Message& message = *stream.kept;
  if (!part.empty()) std::memcpy(message.data.get() + at, part.data(), part.size());
  port_.charge({.working_set_bytes = message.size, .copied_bytes = part.size()});
  message.here = stream.here;
  if (message.here == message.size && message.taker != nullptr) {
    hand_over(stream.kept, *message.taker);
  }
}

// --- What is asked for.

void Inbox::hand_over(std::list<Message>::iterator message, Receive& receive) {
  if (receive.into == nullptr) {
    receive.buffer = std::move(message->data);
    receive.into = receive.buffer.get();
    receive.room = message->size;
  } else {
    fill(receive, 0, {message->data.get(), message->size});
  }
  kept_.erase(message);
  end(receive);
}

void Inbox::post(Receive& receive) {
  for (auto at = kept_.begin(); at != kept_.end(); ++at) {
    if (at->taker != nullptr || !fits(receive, at->from, at->key)) continue;
    receive.from = at->from;
    receive.key = at->key;
    receive.size = at->size;
    if (receive.probe) {
      end(receive);
    } else if (at->here == at->size) {
      hand_over(at, receive);
    } else {
      at->taker = &receive;
    }
    return;
  }
  waiting_.push_back(&receive);
}

bool Inbox::withdraw(Receive& receive) { return std::erase(waiting_, &receive) != 0; }

void Inbox::await(const Receive& receive, const char* call) {
  for (;;) {
    const std::uint64_t seen = changes_.ok.load(std::memory_order_acquire);
    if (receive.done) return;
    if (port_.wait({.counter = &changes_, .at = seen + 1, .what = what_}) != Post::done) {
      fail(context_, call, "a process was lost while this one waited for a message");
    }
  }
}

void Inbox::receive(Rank source, const Key& key, void* into, std::size_t size, const char* call) {
  constexpr std::uint32_t kAll = ~std::uint32_t{0};
  Receive receive;
  receive.want = key;
  receive.mask = {{kAll, kAll, kAll}};
  receive.source = source;
  std::byte nothing{};
  receive.into = size > 0 ? into : &nothing;
  receive.room = size;
  post(receive);
  await(receive, call);
  if (receive.size != size) {
    fail(context_, call,
         fmt::format("process {} sent {} bytes, {} are expected: do all members call the same?",
                     source, receive.size, size));
  }
}

// --- What is sent.

std::size_t Inbox::mtu_of(lci::Dest to) {
  if (!to.group) return port_.caps(to.id).mtu_bytes;
  if (group_mtu_ == 0) {
    group_mtu_ = port_.caps(port_.self()).mtu_bytes;
    for (Rank rank = 0; rank < port_.size(); ++rank) {
      group_mtu_ = std::min<std::size_t>(group_mtu_, port_.caps(rank).mtu_bytes);
    }
  }
  return group_mtu_;
}

void Inbox::send(lci::Dest to, const Key& key, const void* data, std::size_t size) {
  const auto* const bytes = static_cast<const std::byte*>(data);
  if (!to.group && to.id == port_.self()) {
    arrived(to.id, false, key, size, {bytes, size});
    return;
  }
  const lci::Words words = {key.words[0], key.words[1], key.words[2],
                            static_cast<std::uint32_t>(size)};
  Post answer;
  if (!to.group && size <= port_.caps(to.id).inline_bytes_max) {
    answer = insist(port_, [&] {
      return port_.send_small(to, chan_, lci::Lane::request, words, {bytes, size}, lci::kNoFlags);
    });
  } else {
    const std::size_t mtu = mtu_of(to);
    std::size_t sent = 0;
    do {
      const std::size_t part = std::min(mtu, size - sent);
      const Piece piece{bytes + sent, part};
      lci::Packet* const packet = port_.alloc(to, lci::Lane::request, part, lci::kNoFlags);
      answer = packet == nullptr ? Post::peer_down : insist(port_, [&] {
        return port_.send(packet, chan_, words, 0, {&piece, part > 0 ? 1u : 0u}, nullptr,
                          lci::kNoFlags);
      });
      sent += part;
    } while (sent < size && (answer == Post::done || answer == Post::pending));
  }
  if (answer != Post::done && answer != Post::pending) {
    fail(
        context_, what_,
        fmt::format("{} {} cannot be sent to: it was lost", to.group ? "group" : "process", to.id));
  }
}

}  // namespace fairlead::elan
