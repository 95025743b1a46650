#include "fairlead/lci/group/software_group.h"

#include <cstring>
#include <utility>

#include "fairlead/lci/internal_channels.h"

namespace fairlead::lci {

Arrival SoftwareGroup::Early::arrival() const {
  Arrival a{source, kGroupChan, lane, false, {}, data};
  std::memcpy(a.words, words, sizeof words);
  return a;
}

SoftwareGroup::SoftwareGroup(Port& port, const GroupTable& groups, PortCounters& counters)
    : port_(port), groups_(groups), counters_(counters) {
  static_assert(sizeof(Prefix) <= kPrefixBytes);
  port.bind(kGroupAckChan, Upcall{&SoftwareGroup::on_ack, this}, Returned{});
}

void SoftwareGroup::named(std::uint16_t id) {
  const auto early = early_.find(id);
  if (early == early_.end()) return;
  for (Early& packet : early->second) ready_.push_back(std::move(packet));
  early_.erase(early);
}

bool SoftwareGroup::window_open(std::uint32_t id, Windows& windows) const {
  if (windows.passed.empty()) windows.passed.resize(groups_.size(id));
  bool open = true;
  groups_.for_each_member(id, [&, i = std::size_t{0}](Rank rank) mutable {
    const std::uint32_t under_way = windows.sent - windows.passed[i++];
    if (rank != port_.self() && !is_lost(rank) && under_way >= kWindow) open = false;
  });
  return open;
}

Post SoftwareGroup::send(std::uint32_t id, Chan chan, Lane lane, const Words& words,
                         std::span<const Piece> pieces) {
  if (!groups_.knows(id)) return Post::invalid;
  if (groups_.size(id) == 1) return Post::done;
  Windows& windows = windows_[id];
  if (!window_open(id, windows)) return Post::again_credit;
  std::uint64_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.size;
  const Prefix prefix{static_cast<std::uint16_t>(id), chan, port_.self()};
  std::vector<Piece> whole{{&prefix, sizeof prefix}};
  whole.insert(whole.end(), pieces.begin(), pieces.end());
  (void)groups_.for_each_child(id, port_.self(),
                               [&](Rank child) { pass(child, lane, words, whole); });
  ++windows.sent;
  ++counters_.multicasts_sent;
  counters_.bytes_sent += bytes;
  return Post::done;
}

bool SoftwareGroup::open(const Arrival& outer, Arrival* inner) {
  Prefix prefix;
  if (outer.data.size() < sizeof prefix) {
    ++counters_.corrupt_dropped;
    return false;
  }
  std::memcpy(&prefix, outer.data.data(), sizeof prefix);
  if (!groups_.knows(prefix.group)) {
    Early early{outer.source, outer.lane, {}, {outer.data.begin(), outer.data.end()}};
    std::memcpy(early.words, outer.words, sizeof early.words);
    early_[prefix.group].push_back(std::move(early));
    return false;
  }
  if (!groups_.index_of(prefix.group, prefix.origin) || prefix.origin == port_.self() ||
      prefix.chan >= kClientChannels) {
    ++counters_.corrupt_dropped;
    return false;
  }
  const Piece whole{outer.data.data(), outer.data.size()};
  (void)groups_.for_each_child(prefix.group, prefix.origin, [&](Rank child) {
    pass(child, outer.lane, outer.words, {&whole, 1});
    ++counters_.multicasts_forwarded;
  });
  ++counters_.multicasts_received;
  acknowledge(prefix.group, prefix.origin);
  *inner = outer;
  inner->source = prefix.origin;
  inner->chan = prefix.chan;
  inner->via_group = true;
  inner->data = outer.data.subspan(sizeof prefix);
  return true;
}

bool SoftwareGroup::transmit(Rank to, Lane lane, const Words& words,
                             std::span<const Piece> pieces) {
  if (is_lost(to)) return true;
  const Dest dest{to, false};
  std::size_t size = 0;
  for (const Piece& piece : pieces) size += piece.size;
  Packet* packet = port_.alloc(dest, lane, size, kNoBlock);
  if (packet == nullptr) return false;
  const Post answer = port_.send(packet, kGroupChan, words, 0, pieces, nullptr, kNoBlock | kPart);
  if (answer == Post::done || answer == Post::pending) return true;
  port_.release(packet);
  return answer != Post::again_credit && answer != Post::again_buffer;
}

// To one child, now or from progress(). The queue's bound is the roots' windows.
void SoftwareGroup::pass(Rank to, Lane lane, const Words& words, std::span<const Piece> pieces) {
  if (forwards_.empty() && transmit(to, lane, words, pieces)) return;
  Forward forward{to, lane, false, {}, {}};
  std::memcpy(forward.words, words, sizeof forward.words);
  for (const Piece& piece : pieces) {
    const auto* data = static_cast<const std::byte*>(piece.data);
    forward.data.insert(forward.data.end(), data, data + piece.size);
  }
  forwards_.push_back(std::move(forward));
}

int SoftwareGroup::progress() {
  int n = 0;
  while (!forwards_.empty()) {
    const Forward& f = forwards_.front();
    const Piece piece{f.data.data(), f.data.size()};
    const bool gone =
        f.is_ack ? transmit_ack(f.to, f.words) : transmit(f.to, f.lane, f.words, {&piece, 1});
    if (!gone) break;
    forwards_.pop_front();
    ++n;
  }
  return n;
}

// Every half window: the root's next packets need not wait for the last answer.
void SoftwareGroup::acknowledge(std::uint32_t id, Rank root) {
  Windows& windows = windows_[id];
  const std::uint32_t count = ++windows.received.of(*groups_.index_of(id, root));
  if (count % (kWindow / 2) != 0) return;
  if (is_lost(root)) return;
  ++counters_.acks_sent;
  const Words words = {id, count, 0, 0};
  if (transmit_ack(root, words)) return;
  Forward ack{root, Lane::control, true, {}, {}};
  std::memcpy(ack.words, words, sizeof ack.words);
  forwards_.push_back(std::move(ack));
}

bool SoftwareGroup::transmit_ack(Rank to, const Words& words) {
  const Post answer =
      port_.send_small(Dest{to, false}, kGroupAckChan, Lane::control, words, {}, kNoBlock | kPart);
  return answer != Post::again_credit && answer != Post::again_buffer;
}

Keep SoftwareGroup::on_ack(void* self, Packet*, const Arrival& arrival) {
  auto& me = *static_cast<SoftwareGroup*>(self);
  const std::uint32_t id = arrival.words[0];
  const auto found = me.windows_.find(id);
  if (found == me.windows_.end() || found->second.passed.empty()) return Keep::no;
  const std::optional<std::uint32_t> member = me.groups_.index_of(id, arrival.source);
  if (!member) return Keep::no;
  ++me.counters_.acks_received;
  Windows& windows = found->second;
  std::uint32_t& passed = windows.passed[*member];
  // One that was under way when a group of that id was forgotten may name more than this group has
  // sent; or less, which opens the window a little early until the next one.
  if (arrival.words[1] - passed <= windows.sent - passed) passed = arrival.words[1];
  return Keep::no;
}

void SoftwareGroup::peer_lost(Rank rank) {
  if (lost_.empty()) lost_.resize(port_.size());
  lost_[rank] = true;
}

}  // namespace fairlead::lci
