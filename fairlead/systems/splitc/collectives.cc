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

}  // namespace

template <Collectives::Kind K>
lci::Upcall Collectives::upcall() {
  return {[](void* self, lci::Packet*, const lci::Arrival& arrival) {
            static_cast<Collectives*>(self)->came(K, arrival.source, arrival.words, arrival.data);
            return Keep::no;
          },
          this};
}

Collectives::Collectives(lci::Port& port, lci::Chan first, Waits& waits, Owner owner)
    : port_(port), first_(first), waits_(waits), owner_(owner) {
  set_children();
  const lci::Upcall all[] = {upcall<kBarrier>(), upcall<kReduce>(), upcall<kScan>(),
                             upcall<kBroadcast>()};
  for (lci::Chan i = 0; i < kKinds; ++i) {
    port_.bind(static_cast<lci::Chan>(first_ + i), all[i], {});
  }
}

void Collectives::set_children() {
  const std::uint64_t child = std::uint64_t{port_.self()} * fan_ + 1;
  children_ = child >= port_.size()
                  ? 0
                  : static_cast<std::uint32_t>(std::min<std::uint64_t>(fan_, port_.size() - child));
}

void Collectives::take(const Road& road) {
  road_ = road;
  if (road_.send == nullptr) return;
  fan_ = kRoadChildren;
  set_children();
}

void Collectives::came(std::uint32_t kind, Rank source, const lci::Words& words,
                       std::span<const std::byte> data) {
  switch (kind) {
    case kBarrier:
      came_[words[0] % kRoundsMax].ok.fetch_add(1, std::memory_order_release);
      break;
    case kReduce:
      reduce_came({source, words, data});
      break;
    case kScan:
      scan_came({source, words, data});
      break;
    case kBroadcast:
      broadcast_came({source, words, data});
      break;
    default:
      break;
  }
}

Collectives::~Collectives() {
  for (lci::Chan i = 0; i < kKinds; ++i) port_.bind(static_cast<lci::Chan>(first_ + i), {}, {});
}

void Collectives::await(const Counter& counter, std::uint64_t at, const char* what,
                        Waits::Whom whom) {
  waits_.until({.counter = &counter, .at = at, .what = what}, whom,
               [&] { return counter.ok.load(std::memory_order_acquire) >= at; });
}

void Collectives::send(lci::Dest to, Kind kind, const lci::Words& words, const void* data,
                       std::size_t bytes) {
  if (road_.send != nullptr) {
    return road_.send(road_.context, to.id, kind, words,
                      {static_cast<const std::byte*>(data), bytes});
  }
  // Without a wait of the Port's own, in which Active Messages would come and not be served.
  Post answer{};
  waits_.until({.any_change = true, .what = "room"},
               to.group ? Waits::Whom{} : Waits::of_rank(to.id), [&] {
                 answer = try_send(to, kind, words, data, bytes);
                 return !no_room(answer);
               });
  if (answer != Post::done && answer != Post::pending) {
    owner_.fail(owner_.context, "a rank was lost");
  }
}

Post Collectives::try_send(lci::Dest to, Kind kind, const lci::Words& words, const void* data,
                           std::size_t bytes) {
  const auto chan = static_cast<lci::Chan>(first_ + kind);
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

void Collectives::send_down(Rank root, Kind kind, const lci::Words& words,
                            std::span<const std::byte> data) {
  const std::uint64_t procs = port_.size();
  const std::uint64_t first = (port_.self() + procs - root) % procs * fan_ + 1;
  for (std::uint64_t place = first; place < std::min(first + fan_, procs); ++place) {
    send({static_cast<Rank>((place + root) % procs)}, kind, words, data.data(), data.size());
  }
}

void Collectives::barrier() {
  const std::uint32_t procs = port_.size();
  if (road_.gather != nullptr) return barrier_of_nodes();
  if (road_.send != nullptr) {
    std::byte none{};
    return reduce(
        &none, 0, [](void*, const void*) {}, "a barrier");
  }
  ++barriers_;
  std::uint32_t round = 0;
  for (std::uint32_t distance = 1; distance < procs; distance *= 2, ++round) {
    send({(port_.self() + distance) % procs}, kBarrier, {round, 0, 0, 0}, nullptr, 0);
    await(came_[round], barriers_, "other ranks at a barrier");
  }
}

// In two phases: those who have come are told of up the tree, that all have, down it.
void Collectives::barrier_of_nodes() {
  enum Phase : std::uint32_t { kUp, kDown };
  ++barriers_;
  if (!road_.gather(road_.context, barriers_)) return;
  const std::span<const Rank> leaders = road_.leaders;
  const auto place = static_cast<std::size_t>(
      std::find(leaders.begin(), leaders.end(), port_.self()) - leaders.begin());
  const std::size_t first = std::min(place * fan_ + 1, leaders.size());
  const std::size_t end = std::min(first + fan_, leaders.size());
  await(came_[kUp], barriers_ * (end - first), "other nodes at a barrier");
  if (place > 0) {
    send({leaders[(place - 1) / fan_]}, kBarrier, {kUp, 0, 0, 0}, nullptr, 0);
    await(came_[kDown], barriers_, "other nodes at a barrier");
  }
  for (const Rank child : leaders.subspan(first, end - first)) {
    send({child}, kBarrier, {kDown, 0, 0, 0}, nullptr, 0);
  }
  road_.let_go(road_.context, barriers_);
}

void Collectives::reduce_came(const Message& message) {
  const std::size_t bytes = std::min(message.data.size(), access::kValueMax);
  if (message.words[2] == 1) {
    std::copy_n(message.data.data(), bytes, outcome_.data());
    outcomes_.ok.fetch_add(1, std::memory_order_release);
    return;
  }
  Gathered& gathered = gathered_[message.words[0] % 2];
  Came& came = gathered.of[(message.source - 1) % fan_];
  came.call = message.words[1];
  std::copy_n(message.data.data(), bytes, came.value.data());
  gathered.came.ok.fetch_add(1, std::memory_order_release);
}

void Collectives::reduce(void* value, std::size_t bytes, access::Combine combine,
                         const char* call) {
  Gathered& gathered = gathered_[reductions_ % 2];
  // This reduction's values, and those of all earlier ones of its parity.
  await(gathered.came, (std::uint64_t{reductions_} / 2 + 1) * children_, call);
  const std::uint32_t number = number_of(call, bytes);
  for (std::uint32_t i = 0; i < children_; ++i) {
    if (gathered.of[i].call != number) {
      owner_.fail(owner_.context, fmt::format("{} of {} bytes: rank {} called something else", call,
                                              bytes, port_.self() * fan_ + 1 + i));
    }
    Value theirs = gathered.of[i].value;
    combine(value, theirs.data());
  }
  const lci::Words words = {reductions_, number, 0, 0};
  const lci::Words outcome = {reductions_, number, 1, 0};
  ++reductions_;
  if (port_.size() == 1) return;
  if (port_.self() == 0 && road_.send == nullptr) {
    return send(kEverybody, kReduce, outcome, value, bytes);
  }
  if (port_.self() > 0) {
    send({(port_.self() - 1) / fan_}, kReduce, words, value, bytes);
    await(outcomes_, reductions_, call);
    std::memcpy(value, outcome_.data(), bytes);
  }
  if (road_.send != nullptr) {
    send_down(0, kReduce, outcome, {static_cast<const std::byte*>(value), bytes});
  }
}

void Collectives::scan_came(const Message& message) {
  const std::uint64_t key = std::uint64_t{message.words[0]} << 32 | message.words[1];
  std::copy_n(message.data.data(), std::min(message.data.size(), access::kValueMax),
              scanned_[key].data());
}

void Collectives::scan(void* value, std::size_t bytes, access::Combine combine) {
  const std::uint32_t self = port_.self();
  std::uint32_t round = 0;
  ++scans_;
  for (std::uint32_t distance = 1; distance < port_.size(); distance *= 2, ++round) {
    if (self + distance < port_.size()) {
      send({self + distance}, kScan, {scans_, round, 0, 0}, value, bytes);
    }
    if (self < distance) continue;
    const std::uint64_t key = std::uint64_t{scans_} << 32 | round;
    waits_.until({.what = "values of a scan"}, Waits::of_rank(self - distance),
                 [&] { return scanned_.contains(key); });
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
  if (road_.send != nullptr) return mtu_ = road_.bytes_max;
  mtu_ = port_.caps(port_.self()).mtu_bytes;
  for (Rank rank = 0; rank < port_.size(); ++rank) {
    mtu_ = std::min<std::size_t>(mtu_, port_.caps(rank).mtu_bytes);
  }
  return mtu_;
}

void Collectives::broadcast_came(const Message& message) {
  Broadcast& broadcast = came_broadcasts_[message.words[0]];
  if (broadcast.data.empty()) broadcast.data.resize(message.words[2]);
  const std::size_t at = message.words[1];
  if (at <= broadcast.data.size() && message.data.size() <= broadcast.data.size() - at) {
    std::copy_n(message.data.data(), message.data.size(), broadcast.data.data() + at);
    port_.charge({.working_set_bytes = broadcast.data.size(), .copied_bytes = message.data.size()});
  }
  broadcast.got += message.data.size();
  broadcast.whole = broadcast.got >= broadcast.data.size();
}

void Collectives::broadcast_pieces(std::uint32_t number, std::span<const std::byte> data,
                                   Rank root) {
  const std::size_t mtu = least_mtu();
  std::size_t sent = 0;
  do {
    const std::span<const std::byte> part = data.subspan(sent, std::min(mtu, data.size() - sent));
    const lci::Words words = {number, static_cast<std::uint32_t>(sent),
                              static_cast<std::uint32_t>(data.size()), 0};
    if (road_.send != nullptr) {
      send_down(root, kBroadcast, words, part);
    } else {
      send(kEverybody, kBroadcast, words, part.data(), part.size());
    }
    sent += part.size();
  } while (sent < data.size());
}

void Collectives::broadcast(void* data, std::size_t bytes, Rank root) {
  if (root >= port_.size() || bytes > UINT32_MAX) {
    owner_.fail(owner_.context, fmt::format("a broadcast of {} bytes by rank {}", bytes, root));
  }
  const std::uint32_t number = ++broadcasts_;
  if (port_.size() == 1) return;
  const std::span<std::byte> all{static_cast<std::byte*>(data), bytes};
  if (port_.self() == root) {
    broadcast_pieces(number, all, root);
  } else {
    const Broadcast& came = came_broadcasts_[number];
    waits_.until({.what = "a broadcast"}, Waits::of_rank(root), [&] { return came.whole; });
    if (came.data.size() != bytes) {
      owner_.fail(owner_.context, fmt::format("a broadcast: {} bytes are expected here, rank {} "
                                              "sent {}",
                                              bytes, root, came.data.size()));
    }
    std::copy(came.data.begin(), came.data.end(), static_cast<std::byte*>(data));
    came_broadcasts_.erase(number);
    if (road_.send != nullptr) broadcast_pieces(number, all, root);
  }
  meet_if_far_ahead(bytes);
}

}  // namespace fairlead::splitc
