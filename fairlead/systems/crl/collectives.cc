#include "fairlead/systems/crl/collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace fairlead::crl {
namespace {

const char* name_of(Collective what) {
  switch (what) {
    case Collective::barrier:
      return "rgn_barrier";
    case Collective::add:
      return "rgn_reduce_dadd";
    case Collective::least:
      return "rgn_reduce_dmin";
    default:
      return "rgn_reduce_dmax";
  }
}

double combine(Collective what, double a, double b) {
  switch (what) {
    case Collective::add:
      return a + b;
    case Collective::least:
      return std::min(a, b);
    case Collective::greatest:
      return std::max(a, b);
    default:
      return 0;
  }
}

constexpr lci::Dest kEverybody{0, true};

}  // namespace

Collectives::Collectives(run::Context& context, lci::Chan meetings, lci::Chan broadcasts)
    : context_(context), port_(context.port()), meetings_(meetings), broadcasts_(broadcasts) {
  const std::uint64_t first = std::uint64_t{port_.self()} * kChildren + 1;
  if (first < port_.size()) {
    children_ =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(kChildren, port_.size() - first));
  }
  port_.bind(meetings_,
             {[](void* self, lci::Packet*, const lci::Arrival& arrival) {
                static_cast<Collectives*>(self)->met(arrival);
                return Keep::no;
              },
              this},
             {});
  port_.bind(broadcasts_,
             {[](void* self, lci::Packet* packet, const lci::Arrival& arrival) {
                return static_cast<Collectives*>(self)->broadcast_came(packet, arrival);
              },
              this},
             {});
}

Collectives::~Collectives() {
  for (const Early& each : early_) port_.release(each.packet);
  port_.bind(meetings_, {}, {});
  port_.bind(broadcasts_, {}, {});
}

void Collectives::await(const Counter& counter, std::uint64_t at, const char* what,
                        const Caller& caller) {
  if (port_.wait({.counter = &counter, .at = at, .what = what}) != Post::done) {
    fail(context_, caller, fmt::format("a rank was lost while this one waited for {}", what));
  }
}

void Collectives::met(const lci::Arrival& arrival) {
  const double value =
      std::bit_cast<double>(arrival.words[2] | std::uint64_t{arrival.words[3]} << 32);
  if (arrival.via_group) {
    outcome_ = value;
    outcomes_.ok.fetch_add(1, std::memory_order_release);
    return;
  }
  Gathered& gathered = gathered_[arrival.words[1] % 2];
  const std::uint32_t child = (arrival.source - 1) % kChildren;
  gathered.values[child] = value;
  gathered.kinds[child] = static_cast<Collective>(arrival.words[0]);
  gathered.came.ok.fetch_add(1, std::memory_order_release);
}

double Collectives::gather(Collective what, double mine, const Caller& caller) {
  Gathered& gathered = gathered_[meeting_ % 2];
  // Arrivals of this meeting and of all earlier ones of its parity.
  await(gathered.came, std::uint64_t{meeting_ / 2 + 1} * children_, "the others to come here",
        caller);
  double value = mine;
  for (std::uint32_t i = 0; i < children_; ++i) {
    if (gathered.kinds[i] != what) {
      fail(context_, caller,
           fmt::format("rank {} called {} instead", port_.self() * kChildren + 1 + i,
                       name_of(gathered.kinds[i])));
    }
    value = combine(what, value, gathered.values[i]);
  }
  return value;
}

double Collectives::reduce(Collective what, double mine, const Caller& caller) {
  const double value = gather(what, mine, caller);
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const lci::Words words = {static_cast<std::uint32_t>(what), meeting_,
                            static_cast<std::uint32_t>(bits),
                            static_cast<std::uint32_t>(bits >> 32)};
  ++meeting_;
  if (port_.size() == 1) return value;
  const bool root = port_.self() == 0;
  const lci::Dest to = root ? kEverybody : lci::Dest{(port_.self() - 1) / kChildren};
  if (port_.send_small(to, meetings_, lci::Lane::request, words, {}, lci::kNoFlags) != Post::done) {
    fail(context_, caller, "a rank was lost");
  }
  if (root) return value;
  await(outcomes_, meeting_, "all ranks to come here", caller);
  return outcome_;
}

void Collectives::meet_if_far_ahead(std::size_t bytes, const Caller& caller) {
  ++number_;
  ++ahead_;
  ahead_bytes_ += bytes;
  if (ahead_ < kAheadMax && ahead_bytes_ < kAheadBytesMax) return;
  ahead_ = 0;
  ahead_bytes_ = 0;
  (void)reduce(Collective::barrier, 0, caller);
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

void Collectives::send(const void* buffer, std::size_t bytes, const Caller& caller) {
  if (port_.size() == 1) return;
  const std::size_t mtu = least_mtu();
  const auto* const from = static_cast<const std::byte*>(buffer);
  std::size_t sent = 0;
  do {
    const std::size_t part = std::min(mtu, bytes - sent);
    const Piece piece{from + sent, part};
    const lci::Words words = {number_, static_cast<std::uint32_t>(sent),
                              static_cast<std::uint32_t>(bytes), 0};
    lci::Packet* const packet = port_.alloc(kEverybody, lci::Lane::request, part, lci::kNoFlags);
    const Post answer =
        packet == nullptr ? Post::peer_down
                          : port_.send(packet, broadcasts_, words, 0, {&piece, part > 0 ? 1u : 0u},
                                       nullptr, sent == 0 ? lci::kNoFlags : lci::kPart);
    if (answer != Post::done && answer != Post::pending) fail(context_, caller, "a rank was lost");
    sent += part;
  } while (sent < bytes);
  meet_if_far_ahead(bytes, caller);
}

// The packets of the broadcast that this rank receives now.
void Collectives::take(std::uint32_t offset, std::uint32_t all, std::span<const std::byte> data) {
  sent_bytes_ = all;
  got_bytes_ += data.size();
  const std::size_t room = into_.size() - std::min<std::size_t>(into_.size(), offset);
  const std::size_t part = std::min(room, data.size());
  if (part > 0) std::memcpy(into_.data() + offset, data.data(), part);
  port_.charge({.working_set_bytes = into_.size(), .copied_bytes = part});
  if (got_bytes_ == all) {
    receives_ = false;
    received_.ok.fetch_add(1, std::memory_order_release);
  }
}

Keep Collectives::broadcast_came(lci::Packet* packet, const lci::Arrival& arrival) {
  const std::uint32_t* const words = arrival.words;
  if (receives_ && words[0] == number_) {
    take(words[1], words[2], arrival.data);
    return Keep::no;
  }
  early_.push_back({packet, words[0], words[1], words[2], arrival.data});
  return Keep::yes;
}

void Collectives::receive(void* buffer, std::size_t bytes, const Caller& caller) {
  if (port_.size() == 1) fail(context_, caller, "there is no other rank that could send");
  port_.hold();
  into_ = {static_cast<std::byte*>(buffer), bytes};
  got_bytes_ = 0;
  receives_ = true;
  const std::uint64_t received = received_.ok.load(std::memory_order_acquire);
  std::erase_if(early_, [this](const Early& each) {
    if (each.number != number_) return false;
    take(each.offset, each.all, each.data);
    port_.release(each.packet);
    return true;
  });
  port_.allow();
  await(received_, received + 1, "a broadcast", caller);
  if (sent_bytes_ != bytes) {
    fail(context_, caller,
         fmt::format("{} bytes are expected here, {} were sent", bytes, sent_bytes_));
  }
  meet_if_far_ahead(bytes, caller);
}

}  // namespace fairlead::crl
