#include "fairlead/lci/software_group.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "fairlead/base/check.h"
#include "fairlead/lci/internal_channels.h"

namespace fairlead::lci {

Arrival SoftwareGroup::Early::arrival() const {
  Arrival a{source, kGroupChan, lane, false, {}, data};
  std::memcpy(a.words, words, sizeof words);
  return a;
}

SoftwareGroup::SoftwareGroup(Port& port, PortCounters& counters, proto::TreeShape shape)
    : port_(port), counters_(counters), shape_(shape), lost_(port.size()) {
  static_assert(sizeof(Prefix) <= kPrefixBytes);
  port.bind(kGroupAckChan, Upcall{&SoftwareGroup::on_ack, this}, Returned{});
  Group all;
  for (Rank rank = 0; rank < port.size(); ++rank) all.members.push_back(rank);
  all.mine = port.self();
  groups_.emplace(0, std::move(all));
}

Post SoftwareGroup::define(std::uint16_t id, std::span<const Rank> members) {
  if (id == 0) {
    // Group 0 is there from the start: naming it again must name every rank.
    const bool same = std::equal(members.begin(), members.end(), groups_.at(0).members.begin(),
                                 groups_.at(0).members.end());
    return same ? Post::done : Post::invalid;
  }
  if (groups_.count(id) != 0 || groups_.size() >= kGroupsMax) return Post::invalid;
  std::vector<bool> there(port_.size());
  Group group;
  bool found = false;
  for (Rank rank : members) {
    if (rank >= port_.size() || there[rank]) return Post::invalid;
    there[rank] = true;
    if (rank == port_.self()) {
      group.mine = static_cast<std::uint32_t>(group.members.size());
      found = true;
    }
    group.members.push_back(rank);
  }
  if (!found) return Post::invalid;
  groups_.emplace(id, std::move(group));
  if (const auto early = early_.find(id); early != early_.end()) {
    for (Early& packet : early->second) ready_.push_back(std::move(packet));
    early_.erase(early);
  }
  return Post::done;
}

Post SoftwareGroup::forget(std::uint16_t id) {
  return id != 0 && groups_.erase(id) == 1 ? Post::done : Post::invalid;
}

const std::vector<Rank>* SoftwareGroup::members(std::uint32_t id) const {
  const auto group = groups_.find(id);
  return group == groups_.end() ? nullptr : &group->second.members;
}

bool SoftwareGroup::window_open(Group& group) const {
  if (group.passed.empty()) group.passed.resize(group.members.size());
  for (std::size_t i = 0; i < group.members.size(); ++i)
    if (i != group.mine && !lost_[group.members[i]] && group.sent - group.passed[i] >= kWindow)
      return false;
  return true;
}

Post SoftwareGroup::send(std::uint32_t id, Chan chan, Lane lane, const Words& words,
                         std::span<const Piece> pieces) {
  const auto found = groups_.find(id);
  if (found == groups_.end()) return Post::invalid;
  Group& group = found->second;
  const auto n = static_cast<std::uint32_t>(group.members.size());
  if (n == 1) return Post::done;
  if (!window_open(group)) return Post::again_credit;
  std::uint64_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.size;
  const Prefix prefix{static_cast<std::uint16_t>(id), chan, port_.self()};
  std::vector<Piece> whole{{&prefix, sizeof prefix}};
  whole.insert(whole.end(), pieces.begin(), pieces.end());
  proto::for_each_child(shape_, 0, n, [&](std::uint32_t child) {
    pass(group.members[(group.mine + child) % n], lane, words, whole);
  });
  ++group.sent;
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
  const auto found = groups_.find(prefix.group);
  if (found == groups_.end()) {
    Early early{outer.source, outer.lane, {}, {outer.data.begin(), outer.data.end()}};
    std::memcpy(early.words, outer.words, sizeof early.words);
    early_[prefix.group].push_back(std::move(early));
    return false;
  }
  Group& group = found->second;
  const auto n = static_cast<std::uint32_t>(group.members.size());
  const auto origin = std::find(group.members.begin(), group.members.end(), prefix.origin);
  if (origin == group.members.end() || prefix.origin == port_.self() ||
      prefix.chan >= kClientChannels) {
    ++counters_.corrupt_dropped;
    return false;
  }
  const auto root = static_cast<std::uint32_t>(origin - group.members.begin());
  const std::uint32_t position = (group.mine + n - root) % n;
  const Piece whole{outer.data.data(), outer.data.size()};
  proto::for_each_child(shape_, position, n, [&](std::uint32_t child) {
    pass(group.members[(root + child) % n], outer.lane, outer.words, {&whole, 1});
    ++counters_.multicasts_forwarded;
  });
  ++counters_.multicasts_received;
  acknowledge(prefix.group, group, root);
  *inner = outer;
  inner->source = prefix.origin;
  inner->chan = prefix.chan;
  inner->via_group = true;
  inner->data = outer.data.subspan(sizeof prefix);
  return true;
}

bool SoftwareGroup::transmit(Rank to, Lane lane, const Words& words,
                             std::span<const Piece> pieces) {
  if (lost_[to]) return true;
  const Dest dest{to, false};
  std::size_t size = 0;
  for (const Piece& piece : pieces) size += piece.size;
  Packet* packet = port_.alloc(dest, lane, size, kNoBlock);
  if (packet == nullptr) return false;
  const Post answer = port_.send(packet, kGroupChan, words, 0, pieces, nullptr, kNoBlock);
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
void SoftwareGroup::acknowledge(std::uint32_t id, Group& group, std::uint32_t root) {
  if (group.received.empty()) group.received.resize(group.members.size());
  const std::uint32_t count = ++group.received[root];
  if (count % (kWindow / 2) != 0) return;
  if (lost_[group.members[root]]) return;
  ++counters_.acks_sent;
  const Words words = {id, count, 0, 0};
  if (transmit_ack(group.members[root], words)) return;
  Forward ack{group.members[root], Lane::control, true, {}, {}};
  std::memcpy(ack.words, words, sizeof ack.words);
  forwards_.push_back(std::move(ack));
}

bool SoftwareGroup::transmit_ack(Rank to, const Words& words) {
  const Post answer =
      port_.send_small(Dest{to, false}, kGroupAckChan, Lane::control, words, {}, kNoBlock);
  return answer != Post::again_credit && answer != Post::again_buffer;
}

Keep SoftwareGroup::on_ack(void* self, Packet*, const Arrival& arrival) {
  auto& me = *static_cast<SoftwareGroup*>(self);
  const auto found = me.groups_.find(arrival.words[0]);
  if (found == me.groups_.end()) return Keep::no;
  Group& group = found->second;
  const auto member = std::find(group.members.begin(), group.members.end(), arrival.source);
  if (member == group.members.end() || group.passed.empty()) return Keep::no;
  ++me.counters_.acks_received;
  std::uint32_t& passed = group.passed[static_cast<std::size_t>(member - group.members.begin())];
  // One that was under way when a group of that id was forgotten may name more than this group has
  // sent; or less, which opens the window a little early until the next one.
  if (arrival.words[1] - passed <= group.sent - passed) passed = arrival.words[1];
  return Keep::no;
}

void SoftwareGroup::peer_lost(Rank rank) { lost_[rank] = true; }

}  // namespace fairlead::lci
