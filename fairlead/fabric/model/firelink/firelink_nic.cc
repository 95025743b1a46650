#include "fairlead/fabric/model/firelink/firelink_nic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "fairlead/base/check.h"
#include "fairlead/fabric/model/firelink/firelink_host.h"
#include "fairlead/fabric/model/firelink/remote_firelink_host.h"

namespace fairlead::fabric::model {
namespace {

constexpr std::uint64_t kLine = hw::kFirelinkLineBytes;

}  // namespace

template <class Host>
FirelinkNic<Host>::FirelinkNic(Host& host, PortCounters& counters)
    : PacketNic<Host>(host, counters),
      caps_{host.terms().slot_bytes, kSmallBytes, kReliable | kRemoteMemory},
      near_caps_{host.terms().slot_bytes, kSmallBytes, kReliable},
      tokens_(host.terms().copies),
      put_losses_(host.terms().copies) {
  // Less is no line, and goes as a packet.
  caps_.copy_bytes_min = kLine;
  near_caps_.copy_bytes_min = kLine;
  // A line is stored whole; on the node a put is a packet, which its target takes in one go.
  caps_.put_atomic_bytes = near_caps_.put_atomic_bytes = kLine;
  caps_.put_grain_bytes = kLine;
  caps_.rails = host.terms().rails;
  for (std::uint32_t i = host.terms().copies; i-- > 0;) free_operations_.push_back(i);
}

template <class Host>
void FirelinkNic<Host>::set_ranks(Rank ranks) {
  PacketNic<Host>::set_ranks(ranks);
  flows_.resize(ranks);
  gone_.resize(ranks);
  losses_.resize(ranks);
  put_peers_.assign(tokens_.size(), ranks);
}

template <class Host>
void FirelinkNic<Host>::sleep(Ps timeout) {
  const bool news = std::exchange(news_, false) || !ended_.empty() || store_again_;
  host_.sleep(timeout == kNever ? kNever : host_.now() + timeout, news, this->wait_name());
  ++counters_.sleeps;
}

// --- Packets

template <class Host>
std::vector<typename FirelinkNic<Host>::Flow>& FirelinkNic<Host>::flows(Peer peer) {
  std::vector<Flow>& of = flows_[peer];
  if (of.empty()) of.resize(kLanes);
  return of;
}

template <class Host>
Post FirelinkNic<Host>::admit(Peer dest, const PacketHeader& header) {
  if (dest >= this->peers() || header.client.lane >= kLanes ||
      header.client.size > caps_.mtu_bytes) {
    return Post::invalid;
  }
  if (gone_[dest] != 0) return Post::peer_down;
  const Flow& flow = flows(dest)[header.client.lane];
  return flow.posted < host_.terms().slots ? Post::done : Post::again_credit;
}

// Into the next slot of the receiver's ring: from the sender's cache through a link, or, on one
// node, by a copy.
template <class Host>
void FirelinkNic<Host>::send(std::uint32_t id, Peer dest, const PacketHeader& header) {
  const std::uint8_t lane = header.client.lane;
  RunFront& front = host_.front(id);
  front.header = header;
  front.order = {};
  front.order.kind = RunKind::packet;
  front.order.lane = lane;
  front.order.dest = dest;
  front.order.bytes = header.client.size;
  ++flows(dest)[lane].posted;
  host_.spend(host_.terms().post, HostPart::send);
  if (!host_.near(dest)) return host_.store(id);
  host_.spend(hw::work_time(host_.terms().host, {0, 0, 0, kSlotHeaderBytes + header.client.size}),
              HostPart::send);
  host_.pass_near(id);
}

template <class Host>
int FirelinkNic<Host>::reap(int budget, LaneMask lanes) {
  host_.spend(host_.terms().poll, HostPart::poll);
  host_.sync();
  for (FirelinkNews news{}; host_.next_news(&news);) take_news(news);
  if (store_again_) store_again();
  const int done = take_ended();
  return done + this->receive_some(budget - done, lanes);
}

template <class Host>
void FirelinkNic<Host>::receive(std::uint32_t id) {
  host_.spend(host_.terms().receive, HostPart::receive);
  const RunFront& front = host_.front(id);
  const Peer source = front.source;
  const std::uint8_t lane = front.lane;
  this->deliver(id);
  return_slot(source, lane);
}

// A kept packet stays where it is, and another slot takes its place. The sender is told of several
// at once.
template <class Host>
void FirelinkNic<Host>::return_slot(Peer source, std::uint8_t lane) {
  Flow& flow = flows(source)[lane];
  if (++flow.freed * 2 < host_.terms().slots || gone_[source] != 0) return;
  const std::uint32_t id = host_.take();
  RunFront& front = host_.front(id);
  front.order = {};
  front.order.kind = RunKind::room;
  front.order.lane = lane;
  front.order.dest = source;
  front.order.slots = flow.freed;
  flow.freed = 0;
  if (host_.near(source)) return host_.pass_near(id);
  host_.store(id);
}

// --- What the network tells

template <class Host>
void FirelinkNic<Host>::take_news(const FirelinkNews& news) {
  news_ = true;  // who found no room before this look shall not sleep after it
  switch (news.what) {
    case FirelinkNews::What::room:
      flows(news.peer)[news.lane].posted -= news.count;
      return;
    case FirelinkNews::What::ended:
      host_.spend(host_.terms().completion, HostPart::send);
      if (news.ok == FirelinkNews::kPutLost && put_peers_[news.id] != ranks_) {
        lost_puts_.push_back(news.id);
        store_again_ = store_again_ || news.count != 0;
        return;
      }
      return end_put(news.id, news.ok != FirelinkNews::kPutRefused ? Post::done : Post::denied);
    case FirelinkNews::What::lost:
      if (gone_[news.peer] != 0) return host_.give(news.id);
      lost_.push_back(news.id);
      store_again_ = store_again_ || news.ok != 0;
      return;
    case FirelinkNews::What::way_lost:
      return way_changed(news.peer, true);
    case FirelinkNews::What::way_back:
      return way_changed(news.peer, false);
    case FirelinkNews::What::way_looked:
      store_again_ = anything_lost();
      return;
    case FirelinkNews::What::cut_off:
      return cut_off(news);
  }
}

template <class Host>
void FirelinkNic<Host>::end_put(std::uint32_t operation, Post result) {
  free_operations_.push_back(operation);
  // Its peer may have been cut off meanwhile, and the put told as that.
  if (std::exchange(put_peers_[operation], ranks_) == ranks_) return;
  copied(tokens_[operation], result);
}

// Gets have ended when copy_remote() returned; told from here.
template <class Host>
int FirelinkNic<Host>::take_ended() {
  const std::vector<Ended> ended = std::move(ended_);
  ended_.clear();
  for (const Ended& each : ended) copied(each.token, each.result);
  return static_cast<int>(ended.size());
}

template <class Host>
void FirelinkNic<Host>::way_changed(Peer node, bool lost) {
  store_again_ = store_again_ || anything_lost();
  for (Rank rank = 0; rank < ranks_; ++rank) {
    if (host_.node_of(rank) == node && gone_[rank] == 0) rank_changed(rank, lost);
  }
}

template <class Host>
void FirelinkNic<Host>::rank_changed(Rank rank, bool lost) {
  if (lost) ++losses_[rank];
  if (sink_.path_changed != nullptr) sink_.path_changed(sink_.context, rank, lost);
}

// What is lost has the payload still: it goes the way that is open now, in the order of before.
template <class Host>
void FirelinkNic<Host>::store_again() {
  store_again_ = false;
  const std::vector<std::uint32_t> again = std::move(lost_);
  lost_.clear();
  for (const std::uint32_t id : again) host_.store(id);
  end_lost_puts();
}

// Where a link was back before its driver looked, nobody has told of it yet.
template <class Host>
void FirelinkNic<Host>::end_lost_puts() {
  const std::vector<std::uint32_t> over = std::move(lost_puts_);
  lost_puts_.clear();
  for (const std::uint32_t operation : over) {
    const Rank rank = put_peers_[operation];
    if (losses_[rank] == put_losses_[operation]) {
      rank_changed(rank, true);
      rank_changed(rank, false);
    }
    end_put(operation, Post::maybe_delivered);
  }
}

// No way is left: for good, as what was promised to these ranks is lost.
template <class Host>
void FirelinkNic<Host>::cut_off(const FirelinkNews& news) {
  const Peer node = news.peer;
  cuts_.emplace(
      node, fmt::format("no link is left from node {} to node {}: {}-link{} was found "
                        "dead at {:.1f} us",
                        host_.node_of(host_.self()), node, news.count, news.id, to_us(news.at)));
  drop_lost(node);
  std::vector<std::uint32_t> over;
  std::erase_if(lost_puts_, [&](std::uint32_t operation) {
    if (host_.node_of(put_peers_[operation]) != node) return false;
    over.push_back(operation);
    return true;
  });
  for (Rank rank = 0; rank < ranks_; ++rank) {
    if (host_.node_of(rank) != node || gone_[rank] != 0) continue;
    gone_[rank] = 1;
    for (std::uint32_t operation = 0; operation < put_peers_.size(); ++operation) {
      if (put_peers_[operation] != rank) continue;
      // Its number is not used again, unless the network ends it after all.
      put_peers_[operation] = ranks_;
      copied(tokens_[operation], Post::maybe_delivered);
    }
    if (sink_.peer_lost != nullptr) sink_.peer_lost(sink_.context, rank);
  }
  free_operations_.insert(free_operations_.end(), over.begin(), over.end());
}

template <class Host>
void FirelinkNic<Host>::drop_lost(Peer node) {
  std::erase_if(lost_, [&](std::uint32_t id) {
    if (host_.node_of(host_.front(id).order.dest) != node) return false;
    host_.give(id);
    return true;
  });
}

// --- Remote memory

template <class Host>
Post FirelinkNic<Host>::copy_remote(const RemoteCopy& copy) {
  if (copy.peer >= this->peers()) return Post::invalid;
  if (host_.near(copy.peer)) return Post::not_delivered;
  if (gone_[copy.peer] != 0) return Post::peer_down;
  if (copy.what == RemoteCopy::What::read) {
    if (copy.size > host_.terms().load_bytes_max) return Post::not_delivered;
    ended_.push_back({copy.token, get(copy)});
    return Post::done;
  }
  return begin_put(copy, false);
}

template <class Host>
Post FirelinkNic<Host>::copy_raw(const RemoteCopy& copy) {
  if (copy.peer >= this->peers()) return Post::invalid;
  if (host_.near(copy.peer)) return Post::not_delivered;
  return gone_[copy.peer] != 0 ? Post::peer_down : begin_put(copy, true);
}

template <class Host>
Post FirelinkNic<Host>::begin_put(const RemoteCopy& copy, bool raw) {
  if (free_operations_.empty()) return Post::again_credit;
  put(copy, raw);
  return Post::done;
}

// Lines count from the begin of the memory, which stands on a line as exported segments do.
template <class Host>
void FirelinkNic<Host>::put(const RemoteCopy& copy, bool raw) {
  const std::uint32_t operation = free_operations_.back();
  free_operations_.pop_back();
  tokens_[operation] = copy.token;
  put_peers_[operation] = copy.peer;
  put_losses_[operation] = losses_[copy.peer];
  host_.spend(host_.terms().post, HostPart::send);
  RunOrder order{};
  order.kind = RunKind::put;
  order.raw = raw ? 1 : 0;
  order.rail = copy.rail;
  order.dest = copy.peer;
  order.operation = operation;
  order.key = copy.key.key;
  const std::uint64_t block = host_.terms().block_bytes;
  std::size_t done = 0;
  do {
    const std::uint64_t offset = copy.offset + done;
    const std::size_t left = copy.size - done;
    const std::uint64_t in_line = offset % kLine;
    if (in_line != 0 || left < kLine) {
      const std::size_t part = std::min<std::size_t>(left, kLine - in_line);
      order.interrupt = 1;
      put_part(copy, order, done, part);
      done += part;
      continue;
    }
    // A run does not pass the end of a block: the next one has another interface.
    const std::uint64_t most = std::min<std::uint64_t>(kRunBytesMax, block - offset % block);
    const std::size_t part = std::min<std::uint64_t>(left / kLine * kLine, most);
    order.interrupt = 0;
    put_part(copy, order, done, part);
    done += part;
  } while (done < copy.size);
}

template <class Host>
void FirelinkNic<Host>::put_part(const RemoteCopy& copy, RunOrder order, std::size_t from,
                                 std::size_t size) {
  const std::uint32_t id = host_.take();
  const auto* local = static_cast<const std::byte*>(copy.local);
  if (size > 0) std::memcpy(host_.payload(id), local + from, size);
  order.last = from + size == copy.size ? 1 : 0;
  order.bytes = static_cast<std::uint32_t>(size);
  order.offset = copy.offset + from;
  host_.front(id).order = order;
  if (order.interrupt == 0) return host_.store(id);
  // The system call returns when all is there.
  host_.spend(host_.terms().part_line, HostPart::send);
  host_.store(id);
  host_.drain();
}

// A line that a dead link swallowed is asked for again until the driver has another way.
template <class Host>
Post FirelinkNic<Host>::get(const RemoteCopy& copy) {
  host_.spend(host_.terms().post, HostPart::send);
  const std::uint32_t id = host_.take();
  auto* local = static_cast<std::byte*>(copy.local);
  Post result = Post::done;
  for (std::size_t done = 0; done < copy.size && result == Post::done;) {
    const std::uint64_t offset = copy.offset + done;
    const std::size_t part = std::min<std::size_t>(copy.size - done, kLine - offset % kLine);
    RunFront& front = host_.front(id);
    front.order = {};
    front.order.kind = RunKind::load;
    front.order.dest = copy.peer;
    front.order.rail = copy.rail;
    front.order.bytes = static_cast<std::uint32_t>(part);
    front.order.key = copy.key.key;
    front.order.offset = offset;
    const LoadEnd end = host_.load(id);
    if (end == LoadEnd::denied) result = Post::denied;
    if (end == LoadEnd::cut_off) result = Post::maybe_delivered;
    if (end != LoadEnd::done) continue;
    std::memcpy(local + done, host_.payload(id), part);
    done += part;
  }
  host_.give(id);
  return result;
}

template class FirelinkNic<FirelinkHost>;
template class FirelinkNic<RemoteFirelinkHost>;

}  // namespace fairlead::fabric::model
