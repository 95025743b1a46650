#include "fairlead/lci/direct/direct_port.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fairlead/base/check.h"
#include "fairlead/fabric/raw_copies.h"
#include "fairlead/lci/client/waking_port.h"
#include "fairlead/lci/direct/direct_port_impl.h"

namespace fairlead::lci {
namespace {

// Gets that are packets are queued, served and answered one after the other.
bool gets_in_order(const fabric::NicCaps& nic, const DirectOptions& options) {
  if (options.may_lose) return false;
  if (options.software_remote_memory) return true;
  if ((nic.flags & (fabric::kMappable | fabric::kSingleCopy)) != 0) return false;
  return (nic.flags & fabric::kRemoteMemory) == 0 || nic.copy_bytes_min >= kRemoteCopyBytesMin ||
         (nic.copy_bytes_min == 1 && (nic.flags & fabric::kOrderedReads) != 0);
}

// `own`: of the rank to itself.
std::uint64_t caps_flags(const fabric::NicCaps& nic, const DirectOptions& options, bool raw,
                         bool own) {
  std::uint64_t flags = 0;
  if (options.site == nullptr) flags |= kFreeWork;
  if (options.helper != nullptr) flags |= kInterrupt;
  if (options.site != nullptr && options.site->interrupts()) flags |= kInterrupt;
  if (options.raw.lost != nullptr && !own) flags |= kRawPuts;
  if (options.may_lose && !own) flags |= kMayLose;
  if (gets_in_order(nic, options)) flags |= kOrderedGet;
  if (options.software_remote_memory) return flags;
  if ((nic.flags & fabric::kMappable) != 0)
    flags |= kMappable | kHwAtomic | kHwFetchAdd | kHwPut | kOrderedPut;
  if ((nic.flags & fabric::kSingleCopy) != 0) flags |= kSingleCopy | kHwRdma;
  if ((nic.flags & fabric::kRemoteMemory) != 0) {
    flags |= kRemoteCopy;
    if (raw) flags |= kRawPuts;
    if (nic.copy_bytes_min == 1) {
      flags |= kHwRdma | kHwPut;
      if ((nic.flags & fabric::kImmediate) != 0) flags |= kCountedPut;
    }
  }
  if ((nic.flags & fabric::kRemoteAtomics) != 0) flags |= kRemoteAtomic;
  return flags;
}

// Before all else is looked at, too: a few microseconds.
constexpr std::uint64_t kStraightLooks = 64;

std::size_t total(std::span<const Piece> pieces) {
  std::size_t sum = 0;
  for (const Piece& piece : pieces) sum += piece.size;
  return sum;
}

}  // namespace

std::unique_ptr<Port> make_direct_port(fabric::Nic& nic, const DirectOptions& options) {
  if (options.helper == nullptr) return std::make_unique<DirectPort>(nic, options);
  return std::make_unique<WakingPort<DirectPort>>(*options.helper, nic, options);
}

bool send_overflow(Port& direct) { return static_cast<DirectPort&>(direct).send_overflow(); }

DirectPort::DirectPort(fabric::Nic& nic, const DirectOptions& options)
    : nic_(nic),
      options_(options),
      counters_(nic.counters()),
      self_(nic.self()),
      size_(nic.peers()),
      raw_copies_(dynamic_cast<fabric::RawCopies*>(&nic)),
      caps_(caps_to(self_)),
      reliable_((nic.caps(self_).flags & fabric::kReliable) != 0),
      small_below_(reliable_ ? caps_.inline_bytes_max + 1 : 0),
      packets_(nic.caps(self_).mtu_bytes),
      spare_(take_spare()),
      memory_(nic, {!options.software_remote_memory, options.memory_bytes,
                    options.site == nullptr ? ReservedMemory::Pages::shared
                                            : ReservedMemory::Pages::private_to_process}),
      remote_(*this, memory_.own().table(), memory_.own().region(), backlog_),
      copies_(*this, nic, memory_.own(), remote_, raw_copies_),
      groups_(self_, size_, proto::TreeShape::binomial),
      multicast_(*this, groups_, counters_),
      queries_(*this, groups_, remote_.server(), backlog_),
      triggers_(*this, backlog_),
      network_(*this, nic, groups_,
               options.software_remote_memory ? NetworkUse::nothing : options.network) {
  caps_.flags |= network_.flags();
  find_other_caps();
  std::uint64_t all_flags = caps_.flags;
  for (const Caps& other : other_caps_) all_flags |= other.flags;
  copies_.start(all_flags, options_.own_atomics_by_fabric);
  if (!reliable_) {
    next_out_.resize(pair(size_, 0), options.first);
    next_in_.resize(pair(size_, 0), options.first);
  }
  nic_.attach({&DirectPort::on_arrived, &DirectPort::on_peer_lost, this,
               reliable_ ? &DirectPort::on_arrived_small : nullptr, &take_spare()->small,
               &DirectPort::on_copied, nullptr, &DirectPort::on_path_changed,
               &DirectPort::on_told});
}

// What the network does for groups apart.
Caps DirectPort::caps_to(Rank peer) const {
  const fabric::NicCaps& own = nic_.caps(self_);
  const fabric::NicCaps& way = nic_.caps(peer);
  return {.mtu_bytes = own.mtu_bytes - kPrefixBytes,
          .inline_bytes_max = own.inline_bytes_max,
          .put_atomic_bytes = way.put_atomic_bytes,
          .flags = caps_flags(way, options_, raw_copies_ != nullptr, peer == self_),
          .put_grain_bytes = way.put_grain_bytes,
          .rails = way.rails};
}

// For a fabric that has several kinds of paths.
void DirectPort::find_other_caps() {
  if (options_.one_path) return;
  for (Rank peer = 0; peer < size_; ++peer) {
    Caps caps = caps_to(peer);
    caps.flags |= network_.flags();
    if (caps == caps_) continue;
    auto same = std::find(other_caps_.begin(), other_caps_.end(), caps);
    if (same == other_caps_.end()) same = other_caps_.insert(same, caps);
    kinds_.resize(size_);
    kinds_[peer] = static_cast<std::uint8_t>(same - other_caps_.begin() + 1);
  }
  FAIRLEAD_CHECK(other_caps_.size() < UINT8_MAX, "{} kinds of paths", other_caps_.size());
}

DirectPort::~DirectPort() {
  packets_.for_each([this](DirectPacket& p) {
    if (p.where != DirectPacket::Body::nic) return;
    if (p.received)
      nic_.release(p.token);
    else
      nic_.cancel_buffer(p.dest.id, p.buffer);
  });
  fabric::Sink nobody;
  nobody.arrived = [](void*, const fabric::Incoming&) { return Keep::no; };
  nic_.attach(nobody);
}

void DirectPort::fatal(const std::string& reason) {
  if (options_.fatal != nullptr) options_.fatal(options_.fatal_context, reason);
  std::fprintf(stderr, "rank %u: %s\n", self_, reason.c_str());
  std::abort();
}

// --- Sending

Post DirectPort::post(const fabric::PacketHeader& header, std::span<const Piece> pieces) {
  if (reliable_) [[likely]]
    return nic_.post(header.dest_rank, header, pieces);
  if (header.dest_rank >= size_) return Post::invalid;
  fabric::PacketHeader numbered = header;
  std::uint32_t& next = next_out_[pair(header.dest_rank, header.client.lane)];
  numbered.sequence = next;
  const Post answer = nic_.post(header.dest_rank, numbered, pieces);
  if (answer == Post::done) ++next;
  return answer;
}

Post DirectPort::post_buffer(const fabric::PacketHeader& header, std::byte* buffer) {
  if (reliable_) [[likely]]
    return nic_.post_buffer(header.dest_rank, header, buffer);
  if (header.dest_rank >= size_) return Post::invalid;
  fabric::PacketHeader numbered = header;
  std::uint32_t& next = next_out_[pair(header.dest_rank, header.client.lane)];
  numbered.sequence = next;
  const Post answer = nic_.post_buffer(header.dest_rank, numbered, buffer);
  if (answer == Post::done) ++next;
  return answer;
}

[[gnu::always_inline]] inline Post DirectPort::post_now(Rank dest, std::uint64_t route,
                                                        WordVector words, const void* data,
                                                        std::size_t size) {
  if (size >= small_below_ || !overflow_.empty()) [[unlikely]]
    return Post::again_credit;
  return nic_.post_small(dest, route, words, data, size, counters_);
}

FastPath DirectPort::fast_path(Chan chan, Lane lane) {
  const fabric::ShmParts* const parts = nic_.shm_parts();
  if (parts == nullptr || parts->out->fences()) return {};
  const std::uint64_t looks = std::uint64_t{options_.wait.spins} + options_.wait.pauses;
  return {{*parts, &overflow_, &client_, &counters_,
           static_cast<std::uint32_t>(std::min<std::uint64_t>(looks, kStraightLooks))},
          route(chan, lane)};
}

Post DirectPort::send_small(Dest dest, Chan chan, Lane lane, const Words& words,
                            std::span<const std::byte> data, std::uint32_t flags) {
  client_.check_send(lane);
  WordVector block;
  std::memcpy(&block, words, sizeof block);
  // What asks for a processor is marked where time is virtual.
  constexpr std::uint32_t kRare = kAfter | kUrgent | kPart | kRailMask << kRailShift;
  const std::uint32_t slow = options_.site == nullptr ? kRare : kRare | kSolicited;
  const bool straight = !dest.group && (flags & slow) == 0;
  if (straight && post_now(dest.id, route(chan, lane), block, data.data(), data.size()) ==
                      Post::done) [[likely]] {
    return Post::done;
  }
  return send_small_slow(dest, chan, lane, words, data, flags);
}

[[gnu::noinline]] Post DirectPort::send_small_slow(Dest dest, Chan chan, Lane lane,
                                                   const Words& words,
                                                   std::span<const std::byte> data,
                                                   std::uint32_t flags) {
  const Piece piece{data.data(), data.size()};
  if (!has_rail(dest, flags)) return Post::no_rail;
  if (const Post p = await_puts(dest, lane, flags); p != Post::done) return p;
  if (dest.group) {
    return counted(send_to_group(dest, chan, lane, words, {&piece, 1}, flags), flags);
  }
  if (data.size() > caps_.inline_bytes_max) return Post::invalid;
  const fabric::PacketHeader header =
      marked(header_for(dest, chan, lane, words, data.size()), flags);
  const bool behind = overflow_.size(header.client.lane) != 0;
  Post answer = behind ? Post::again_credit : post(header, {&piece, 1});
  if (answer != Post::done) answer = post_again(answer, header, {&piece, 1}, flags);
  if (answer == Post::done) count_sent(counters_, data.size());
  return counted(answer, flags);
}

// A send found no room. Inside an upcall it may not wait and, having reserved credit, may not be
// lost; outside it waits unless told not to.
[[gnu::noinline, gnu::cold]] Post DirectPort::post_again(Post first,
                                                         const fabric::PacketHeader& header,
                                                         std::span<const Piece> pieces,
                                                         std::uint32_t flags) {
  Post answer = first;
  WaitLadder ladder(options_.wait);
  for (;;) {
    if (answer == Post::again_credit)
      ++counters_.credit_stalls;
    else if (answer == Post::again_buffer)
      ++counters_.buffer_stalls;
    else
      return answer;
    if (client_.in_upcall()) return put_over(header, pieces);
    if ((flags & kNoBlock) != 0) return refuse(answer);
    turn(ladder);
    // What an upcall sent on this lane goes first.
    answer = overflow_.size(header.client.lane) != 0 ? Post::again_credit : post(header, pieces);
  }
}

Post DirectPort::put_over(const fabric::PacketHeader& header, std::span<const Piece> pieces) {
  if (header.dest_rank >= size_) return Post::invalid;
  if (overflow_.full(header.client.lane)) return refuse(Post::again_credit);
  Overflow::Entry entry{header.dest_rank, header, nullptr,
                        std::make_unique<std::byte[]>(header.client.size)};
  std::byte* at = entry.heap.get();
  for (const Piece& piece : pieces) {
    if (piece.size > 0) std::memcpy(at, piece.data, piece.size);
    at += piece.size;
  }
  overflow_.push(header.client.lane, std::move(entry));
  return Post::done;
}

Post DirectPort::await_puts(Dest dest, Lane lane, std::uint32_t flags) {
  if ((flags & kAfter) == 0 || puts_precede(dest, lane)) return Post::done;
  ++counters_.credit_stalls;
  if (client_.quiet() || (flags & kNoBlock) != 0) return refuse(Post::again_credit);
  WaitLadder ladder(options_.wait);
  do {
    turn(ladder);
  } while (!puts_precede(dest, lane));
  return Post::done;
}

[[gnu::noinline, gnu::cold]] Post DirectPort::follow_puts(Rank rank, std::uint32_t flags,
                                                          bool* by_packets) {
  const auto writes = [&] { return copies_.writes_to(rank) || network_.writes_to(rank); };
  if (writes()) {
    ++counters_.credit_stalls;
    if (client_.quiet() || (flags & kNoBlock) != 0) return refuse(Post::again_credit);
    WaitLadder ladder(options_.wait);
    do {
      turn(ladder);
    } while (writes());
  }
  *by_packets = !remote_.puts_precede(rank, Lane::control);
  return Post::done;
}

bool DirectPort::puts_precede(Dest dest, Lane lane) {
  if (!dest.group) {
    return !copies_.writes_to(dest.id) && !network_.writes_to(dest.id) &&
           remote_.puts_precede(dest.id, lane);
  }
  if (!groups_.knows(dest.id)) return true;
  bool all = true;
  // It may come by way of other members, so that no lane of this rank's keeps the order.
  groups_.for_each_member(dest.id, [&](Rank rank) {
    if (copies_.writes_to(rank) || network_.writes_to(rank) ||
        !remote_.puts_precede(rank, Lane::control))
      all = false;
  });
  return all;
}

Post DirectPort::send_to_group(Dest dest, Chan chan, Lane lane, const Words& words,
                               std::span<const Piece> pieces, std::uint32_t flags) {
  if (total(pieces) > caps_.mtu_bytes) return Post::invalid;
  WaitLadder ladder(options_.wait);
  for (;;) {
    const Post answer = multicast_.send(dest.id, chan, lane, words, pieces);
    const bool again = answer == Post::again_credit || answer == Post::again_buffer;
    if (!again) return answer;
    if (client_.in_upcall() || (flags & kNoBlock) != 0) return refuse(answer);
    turn(ladder);
  }
}

Packet* DirectPort::alloc(Dest dest, Lane lane, std::size_t size_hint, std::uint32_t flags) {
  DirectPacket* packet = packets_.take();
  packet->received = false;
  packet->lane = lane;
  packet->dest = dest;
  packet->where = DirectPacket::Body::nic;
  WaitLadder ladder(options_.wait);
  while (!dest.group) {
    packet->buffer = nic_.buffer(dest.id, size_hint);
    if (packet->buffer != nullptr) return handle(packet);
    ++counters_.buffer_stalls;
    if ((flags & kNoBlock) != 0 || client_.in_upcall()) {
      refused_ = true;
      packets_.give(packet);
      return nullptr;
    }
    turn(ladder);
  }
  // A tree copies for each child: the body need not be a fabric's.
  packet->where = DirectPacket::Body::heap;
  packet->heap = packets_.body();
  packet->buffer = packet->heap.get();
  return handle(packet);
}

std::span<std::byte> DirectPort::body(Packet* packet) {
  FAIRLEAD_DCHECK(!object(packet)->received, "a received packet has no writable body");
  return {object(packet)->buffer, caps_.mtu_bytes};
}

Post DirectPort::send(Packet* handed, Chan chan, const Words& words, std::size_t size,
                      std::span<const Piece> gather, Counter* done, std::uint32_t flags) {
  DirectPacket& packet = *object(handed);
  client_.check_send(packet.lane);
  const std::size_t all = size + total(gather);
  // lci's own channels carry a client's bytes and a prefix.
  const std::size_t prefix = chan < kClientChannels ? 0 : kPrefixBytes;
  if (all > caps_.mtu_bytes + prefix) return Post::invalid;
  if (!has_rail(packet.dest, flags)) return Post::no_rail;
  if ((flags & kAfter) != 0) [[unlikely]] {
    if (const Post p = await_puts(packet.dest, packet.lane, flags); p != Post::done) return p;
  }
  std::byte* at = packet.buffer + size;
  for (const Piece& piece : gather) {
    if (piece.size > 0) std::memcpy(at, piece.data, piece.size);
    at += piece.size;
  }
  if (packet.dest.group) {
    const Piece piece{packet.buffer, all};
    const Post answer = send_to_group(packet.dest, chan, packet.lane, words, {&piece, 1}, flags);
    return finish_send(counted(answer, flags), &packet, done);
  }
  const fabric::PacketHeader header =
      marked(header_for(packet.dest, chan, packet.lane, words, all), flags);
  const Post answer = send_buffer(packet, header, flags);
  if (answer == Post::done) count_sent(counters_, all);
  return finish_send(counted(answer, flags), &packet, done);
}

Post DirectPort::send_buffer(DirectPacket& packet, const fabric::PacketHeader& header,
                             std::uint32_t flags) {
  const std::uint32_t lane = header.client.lane;
  WaitLadder ladder(options_.wait);
  for (;;) {
    const Post answer =
        overflow_.size(lane) != 0 ? Post::again_credit : post_buffer(header, packet.buffer);
    if (answer == Post::done) packet.where = DirectPacket::Body::none;
    if (answer != Post::again_credit && answer != Post::again_buffer) return answer;
    ++counters_.credit_stalls;
    if (client_.in_upcall()) {
      if (overflow_.full(lane)) return refuse(Post::again_credit);
      overflow_.push(lane, Overflow::Entry{header.dest_rank, header, packet.buffer, nullptr});
      packet.where = DirectPacket::Body::none;
      return Post::done;
    }
    if ((flags & kNoBlock) != 0) return refuse(answer);
    turn(ladder);
  }
}

// The packet is the system's when the answer is done, else still the client's.
Post DirectPort::finish_send(Post answer, DirectPacket* packet, Counter* done) {
  if (answer != Post::done) return answer;
  if (done != nullptr) done->ok.fetch_add(1, std::memory_order_relaxed);
  release(handle(packet));
  return Post::done;
}

void DirectPort::release(Packet* handed) {
  DirectPacket* packet = object(handed);
  if (packet->where == DirectPacket::Body::nic) {
    if (packet->received)
      nic_.release(packet->token);
    else
      nic_.cancel_buffer(packet->dest.id, packet->buffer);
  }
  packets_.give(packet);
}

// --- Receiving

// What a fabric hands over may come from a broken or hostile process: numbers are checked first.
bool DirectPort::acceptable(const fabric::Incoming& packet) {
  const fabric::ClientHeader& h = packet.header->client;
  if (packet.source >= size_ || h.source != packet.source) {
    ++counters_.foreign_dropped;
    return false;
  }
  if (h.kind == fabric::PacketKind::ack && !reliable_ && h.lane < fabric::kLanes) {
    if (!options_.may_lose) check_sent(packet);
    return false;
  }
  if (!ClientSide::known(h.chan) || h.lane >= fabric::kLanes || h.size != packet.payload.size() ||
      h.kind != fabric::PacketKind::data) {
    ++counters_.corrupt_dropped;
    return false;
  }
  return true;
}

// The sender waits, and says how many packets it has sent: the last one may be missing here, which
// no later packet would show.
[[gnu::noinline, gnu::cold]] void DirectPort::check_sent(const fabric::Incoming& packet) {
  const fabric::PacketHeader& h = *packet.header;
  if (next_in_[pair(packet.source, h.client.lane)] != h.sequence) check_sequence(packet);
}

[[gnu::noinline, gnu::cold]] void DirectPort::check_sequence(const fabric::Incoming& packet) {
  const fabric::PacketHeader& h = *packet.header;
  std::uint32_t& next = next_in_[pair(packet.source, h.client.lane)];
  const std::uint32_t got = h.sequence;
  if (got == next) {
    ++next;
    return;
  }
  const auto ahead = static_cast<std::int32_t>(got - next);
  fatal(fmt::format(
      "the network {} from rank {} (lane {}: expected number {}, got {}), and the direct "
      "composition has no reliability part to mend it: run without --faults",
      ahead > 0 ? "lost or reordered a packet" : "repeated a packet", packet.source, h.client.lane,
      next, got));
}

Keep DirectPort::arrived(const fabric::Incoming& in) {
  if (!acceptable(in)) [[unlikely]]
    return Keep::no;
  if (!reliable_ && !options_.may_lose) [[unlikely]]
    check_sequence(in);
  const fabric::ClientHeader& h = in.header->client;
  DirectPacket* packet = spare_;
  const std::size_t size = in.payload.size();
  const std::byte* data = packet->small.payload;
  // What the client keeps must not move, so where it stays is settled before the upcall.
  if (size <= sizeof packet->small.payload) {
    if (size != 0) std::memcpy(packet->small.payload, in.payload.data(), size);
  } else if (in.keepable) {
    packet->where = DirectPacket::Body::nic;
    packet->token = in.token;
    data = in.payload.data();
  } else {
    packet->where = DirectPacket::Body::heap;
    packet->heap = packets_.body();
    std::memcpy(packet->heap.get(), in.payload.data(), size);
    data = packet->heap.get();
    ++counters_.copied_out;
  }
  count_received(counters_, size);
  Arrival arrival{in.source, h.chan, static_cast<Lane>(h.lane), false, {}, {data, size}};
  std::memcpy(arrival.words, h.words, sizeof arrival.words);
  const bool in_fabric = packet->where == DirectPacket::Body::nic;
  if (deliver(packet, arrival)) {
    spare_ = take_spare();
    return in_fabric ? Keep::yes : Keep::no;
  }
  if (packet->where == DirectPacket::Body::heap) [[unlikely]] {
    packets_.give(packet);
    spare_ = take_spare();
  }
  packet->where = DirectPacket::Body::copied;
  return Keep::no;
}

// The short way for what most packets are; the fabric has checked the header but for the channel.
fabric::SmallPacket* DirectPort::arrived_small(fabric::SmallPacket* small, std::size_t size) {
  const fabric::ClientHeader& h = small->header;
  if (!ClientSide::known(h.chan)) [[unlikely]] {
    ++counters_.corrupt_dropped;
    return small;
  }
  count_received(counters_, size);
  WordVector words;
  std::memcpy(&words, h.words, sizeof words);
  if (client_.deliver_small(h.chan, static_cast<Lane>(h.lane), h.source, words, small->payload,
                            size)) [[likely]] {
    ++upcalls_;
    return small;
  }
  return arrived_small_by_run(small, size);
}

[[gnu::noinline]] fabric::SmallPacket* DirectPort::arrived_small_by_run(fabric::SmallPacket* small,
                                                                        std::size_t size) {
  const fabric::ClientHeader& h = small->header;
  Arrival arrival;
  arrival.source = h.source;
  arrival.chan = h.chan;
  arrival.lane = static_cast<Lane>(h.lane);
  arrival.via_group = false;
  std::memcpy(arrival.words, h.words, sizeof arrival.words);
  arrival.data = {small->payload, size};
  const bool kept = deliver(landing_packet(small), arrival);
  return kept ? &take_spare()->small : small;
}

// True: the client keeps it.
bool DirectPort::deliver(DirectPacket* packet, const Arrival& arrival) {
  Keep keep;
  if (arrival.chan == kGroupChan) [[unlikely]] {
    Arrival inner;
    if (!multicast_.open(arrival, &inner)) return false;
    keep = client_.deliver(handle(packet), inner);
  } else {
    keep = client_.deliver(handle(packet), arrival);
  }
  ++upcalls_;
  return keep == Keep::yes;
}

// A group packet that came before its group: its data is copied, it has no packet yet.
void DirectPort::deliver_early(const Arrival& arrival) {
  DirectPacket* packet = packets_.take();
  packet->received = true;
  packet->where = DirectPacket::Body::heap;
  packet->heap = packets_.body();
  if (!arrival.data.empty())
    std::memcpy(packet->heap.get(), arrival.data.data(), arrival.data.size());
  Arrival copy = arrival;
  copy.data = {packet->heap.get(), arrival.data.size()};
  ++upcalls_;
  if (client_.deliver(handle(packet), copy) == Keep::no) packets_.give(packet);
}

void DirectPort::peer_lost(Peer peer) {
  ++losses_;
  remote_.peer_lost(peer);
  copies_.peer_lost(peer);
  multicast_.peer_lost(peer);
  queries_.peer_lost(peer);
  const char* const why = nic_.why_lost(peer);
  events_.peer_down(peer, why != nullptr ? why : kPeerDown);
}

}  // namespace fairlead::lci
