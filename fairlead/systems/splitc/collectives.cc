#include "fairlead/systems/splitc/collectives.h"

#include <fmt/format.h>

#include <algorithm>

namespace fairlead::splitc {
namespace {

constexpr lci::Dest kEverybody{0, true};

// Tells calls of different names and sizes apart; the same on every rank.
std::uint32_t number_of(const char* call, std::size_t bytes) {
  std::uint32_t hash = 2166136261u;
  for (; *call != '\0'; ++call) hash = (hash ^ static_cast<unsigned char>(*call)) * 16777619u;
  return hash ^ static_cast<std::uint32_t>(bytes);
}

bool no_room(Post answer) { return answer == Post::again_credit || answer == Post::again_buffer; }

// A channel of the four, bound to a member.
template <void (Collectives::*F)(const lci::Arrival&)>
lci::Upcall upcall(Collectives* self) {
  return {[](void* context, lci::Packet*, const lci::Arrival& arrival) {
            (static_cast<Collectives*>(context)->*F)(arrival);
            return Keep::no;
          },
          self};
}

}  // namespace

Collectives::Collectives(lci::Port& port, lci::Chan first, Owner owner)
    : port_(port), first_(first), owner_(owner) {
  const std::uint64_t child = std::uint64_t{port_.self()} * kChildren + 1;
  if (child < port_.size()) {
    children_ =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(kChildren, port_.size() - child));
  }
  port_.bind(first_, upcall<&Collectives::barrier_came>(this), {});
  port_.bind(static_cast<lci::Chan>(first_ + 1), upcall<&Collectives::reduce_came>(this), {});
  port_.bind(static_cast<lci::Chan>(first_ + 2), upcall<&Collectives::scan_came>(this), {});
  port_.bind(static_cast<lci::Chan>(first_ + 3), upcall<&Collectives::broadcast_came>(this), {});
}

Collectives::~Collectives() {
  for (lci::Chan i = 0; i < 4; ++i) port_.bind(static_cast<lci::Chan>(first_ + i), {}, {});
}

void Collectives::await(const Counter& counter, std::uint64_t at, const char* what) {
  while (counter.ok.load(std::memory_order_acquire) < at) {
    owner_.wait(owner_.context, {.counter = &counter, .at = at, .what = what});
  }
}

void Collectives::send(lci::Dest to, lci::Chan chan, const lci::Words& words, const void* data,
                       std::size_t bytes) {
  // Without a wait of the Port's own, in which Active Messages would come and not be served.
  Post answer;
  while (no_room(answer = try_send(to, chan, words, data, bytes))) {
    owner_.wait(owner_.context, {.any_change = true, .what = "room"});
  }
  if (answer != Post::done && answer != Post::pending) {
    owner_.fail(owner_.context, "a rank was lost");
  }
}

Post Collectives::try_send(lci::Dest to, lci::Chan chan, const lci::Words& words, const void* data,
                           std::size_t bytes) {
  if (!to.group && bytes <= port_.caps(to.id).inline_bytes_max) {
    return port_.send_small(to, chan, lci::Lane::request, words,
                            {static_cast<const std::byte*>(data), bytes}, lci::kNoBlock);
  }
  lci::Packet* const packet = port_.alloc(to, lci::Lane::request, bytes, lci::kNoBlock);
  if (packet == nullptr) return Post::again_buffer;
  const Piece piece{data, bytes};
  const Post answer =
      port_.send(packet, chan, words, 0, {&piece, bytes > 0 ? 1u : 0u}, nullptr, lci::kNoBlock);
  if (answer != Post::done && answer != Post::pending) port_.release(packet);
  return answer;
}

void Collectives::barrier() {
  const std::uint32_t procs = port_.size();
  ++barriers_;
  std::uint32_t round = 0;
  for (std::uint32_t distance = 1; distance < procs; distance *= 2, ++round) {
    send({(port_.self() + distance) % procs}, first_, {round, 0, 0, 0}, nullptr, 0);
    await(came_[round], barriers_, "other ranks at a barrier");
  }
}

void Collectives::reduce_came(const lci::Arrival& arrival) {
  const std::size_t bytes = std::min(arrival.data.size(), access::kValueMax);
  if (arrival.via_group) {
    std::copy_n(arrival.data.data(), bytes, outcome_.data());
    outcomes_.ok.fetch_add(1, std::memory_order_release);
    return;
  }
  Gathered& gathered = gathered_[arrival.words[0] % 2];
  Came& came = gathered.of[(arrival.source - 1) % kChildren];
  came.call = arrival.words[1];
  std::copy_n(arrival.data.data(), bytes, came.value.data());
  gathered.came.ok.fetch_add(1, std::memory_order_release);
}

void Collectives::reduce(void* value, std::size_t bytes, access::Combine combine,
                         const char* call) {
  Gathered& gathered = gathered_[reductions_ % 2];
  // This reduction's values, and those of all earlier ones of its parity.
  await(gathered.came, (std::uint64_t{reductions_} / 2 + 1) * children_, "other ranks' values");
  const std::uint32_t number = number_of(call, bytes);
  for (std::uint32_t i = 0; i < children_; ++i) {
    if (gathered.of[i].call != number) {
      owner_.fail(owner_.context, fmt::format("{} of {} bytes: rank {} called something else", call,
                                              bytes, port_.self() * kChildren + 1 + i));
    }
    Value theirs = gathered.of[i].value;
    combine(value, theirs.data());
  }
  const lci::Words words = {reductions_, number, 0, 0};
  ++reductions_;
  if (port_.size() == 1) return;
  const auto chan = static_cast<lci::Chan>(first_ + 1);
  if (port_.self() == 0) return send(kEverybody, chan, words, value, bytes);
  send({(port_.self() - 1) / kChildren}, chan, words, value, bytes);
  await(outcomes_, reductions_, "all ranks' values");
  std::memcpy(value, outcome_.data(), bytes);
}

void Collectives::scan_came(const lci::Arrival& arrival) {
  const std::uint64_t key = std::uint64_t{arrival.words[0]} << 32 | arrival.words[1];
  std::copy_n(arrival.data.data(), std::min(arrival.data.size(), access::kValueMax),
              scanned_[key].data());
}

void Collectives::scan(void* value, std::size_t bytes, access::Combine combine) {
  const std::uint32_t self = port_.self();
  std::uint32_t round = 0;
  const auto chan = static_cast<lci::Chan>(first_ + 2);
  ++scans_;
  for (std::uint32_t distance = 1; distance < port_.size(); distance *= 2, ++round) {
    if (self + distance < port_.size()) {
      send({self + distance}, chan, {scans_, round, 0, 0}, value, bytes);
    }
    if (self < distance) continue;
    const std::uint64_t key = std::uint64_t{scans_} << 32 | round;
    while (!scanned_.contains(key)) {
      owner_.wait(owner_.context, {.what = "lower ranks' values of a scan"});
    }
    Value theirs = scanned_[key];
    scanned_.erase(key);
    combine(value, theirs.data());
  }
  meet_if_far_ahead(bytes);
}

void Collectives::meet_if_far_ahead(std::size_t bytes) {
  ++ahead_;
  ahead_bytes_ += bytes;
  if (ahead_ < kAheadMax && ahead_bytes_ < kAheadBytesMax) return;
  ahead_ = 0;
  ahead_bytes_ = 0;
  barrier();
}

// A packet for everybody fits every path.
std::size_t Collectives::least_mtu() {
  if (mtu_ > 0) return mtu_;
  mtu_ = port_.caps(port_.self()).mtu_bytes;
  for (Rank rank = 0; rank < port_.size(); ++rank) {
    mtu_ = std::min<std::size_t>(mtu_, port_.caps(rank).mtu_bytes);
  }
  return mtu_;
}

void Collectives::broadcast_came(const lci::Arrival& arrival) {
  Broadcast& broadcast = came_broadcasts_[arrival.words[0]];
  if (broadcast.data.empty()) broadcast.data.resize(arrival.words[2]);
  const std::size_t at = arrival.words[1];
  if (at <= broadcast.data.size() && arrival.data.size() <= broadcast.data.size() - at) {
    std::copy_n(arrival.data.data(), arrival.data.size(), broadcast.data.data() + at);
    port_.charge({.working_set_bytes = broadcast.data.size(), .copied_bytes = arrival.data.size()});
  }
  broadcast.got += arrival.data.size();
  broadcast.whole = broadcast.got >= broadcast.data.size();
}

void Collectives::broadcast(void* data, std::size_t bytes, Rank root) {
  if (root >= port_.size() || bytes > UINT32_MAX) {
    owner_.fail(owner_.context, fmt::format("a broadcast of {} bytes by rank {}", bytes, root));
  }
  const std::uint32_t number = ++broadcasts_;
  if (port_.size() == 1) return;
  if (port_.self() == root) {
    const std::size_t mtu = least_mtu();
    std::size_t sent = 0;
    do {
      const std::size_t part = std::min(mtu, bytes - sent);
      send(kEverybody, static_cast<lci::Chan>(first_ + 3),
           {number, static_cast<std::uint32_t>(sent), static_cast<std::uint32_t>(bytes), 0},
           static_cast<const std::byte*>(data) + sent, part);
      sent += part;
    } while (sent < bytes);
  } else {
    while (!came_broadcasts_[number].whole) {
      owner_.wait(owner_.context, {.what = "a broadcast"});
    }
    const Broadcast& came = came_broadcasts_[number];
    if (came.data.size() != bytes) {
      owner_.fail(owner_.context, fmt::format("a broadcast: {} bytes are expected here, rank {} "
                                              "sent {}",
                                              bytes, root, came.data.size()));
    }
    std::copy(came.data.begin(), came.data.end(), static_cast<std::byte*>(data));
    came_broadcasts_.erase(number);
  }
  meet_if_far_ahead(bytes);
}

}  // namespace fairlead::splitc
