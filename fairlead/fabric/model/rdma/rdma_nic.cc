#include "fairlead/fabric/model/rdma/rdma_nic.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "fairlead/base/check.h"
#include "fairlead/fabric/model/rdma/changed_word.h"
#include "fairlead/fabric/model/rdma/rdma_host.h"
#include "fairlead/fabric/model/rdma/remote_rdma_host.h"

namespace fairlead::fabric::model {
namespace {

// The compare-and-swap that makes of a word, if it is `old`, what `change` makes of it.
RemoteChange swap_for(const RemoteChange& change, std::uint64_t old) {
  RdmaPacket as_packet;
  as_packet.what = change.what;
  as_packet.a = change.a;
  as_packet.b = change.b;
  RemoteChange swap = change;
  swap.what = RemoteChange::What::compare_swap;
  swap.a = old;
  swap.b = changed_word(as_packet, old);
  return swap;
}

}  // namespace

template <class Host>
RdmaNic<Host>::RdmaNic(Host& host, PortCounters& counters)
    : PacketNic<Host>(host, counters),
      caps_{host.terms().mtu_bytes, std::min(host.terms().inline_bytes, kSmallBytes),
            kReliable | kRemoteMemory | kRemoteAtomics |
                (host.terms().names ? 0U : std::uint64_t{kImmediate | kOrderedReads})} {
  caps_.copy_bytes_min = 1;
}

template <class Host>
void RdmaNic<Host>::sleep(Ps timeout) {
  host_.sleep(timeout == kNever ? kNever : host_.now() + timeout, std::exchange(news_, false),
              this->wait_name());
  ++counters_.sleeps;
}

// --- Packets

template <class Host>
Post RdmaNic<Host>::admit(Peer dest, const PacketHeader& header) {
  if (dest >= this->peers() || header.client.lane >= kLanes ||
      header.client.size > caps_.mtu_bytes) {
    return Post::invalid;
  }
  const Flow& flow = flows(dest)[header.client.lane];
  return flow.posted < host_.terms().send_queue ? Post::done : Post::again_credit;
}

template <class Host>
void RdmaNic<Host>::send(std::uint32_t id, Peer dest, const PacketHeader& header) {
  const RdmaTerms& terms = host_.terms();
  const std::uint8_t lane = header.client.lane;
  Flow& flow = flows(dest)[lane];
  RdmaFront& front = host_.front(id);
  front.header = header;
  front.entry = {};
  front.entry.kind = RdmaKind::send;
  front.entry.queue = lane;
  front.entry.dest = dest;
  front.entry.operation = kNoOperation;
  ++flow.posted;
  if (++flow.since_signal == terms.signal_every) {
    front.entry.signalled = 1;
    flow.since_signal = 0;
  }
  const bool with_entry = header.client.size <= terms.inline_bytes;
  take_turn();
  host_.spend(terms.post, HostPart::send);
  host_.spend(terms.store_time(terms.stored_bytes(with_entry, header.client.size)), HostPart::send);
  host_.ring(id);
}

template <class Host>
int RdmaNic<Host>::reap(int budget, LaneMask lanes) {
  take_turn();
  const bool again = looked_at_ != kNever && host_.now() == looked_at_;
  looked_at_ = kNever;
  if (!again) host_.spend(host_.terms().poll, HostPart::poll);
  host_.sync();
  for (RdmaCompletion completion{}; host_.next_completion(&completion);) {
    take_completion(completion);
  }
  return this->receive_some(budget, lanes);
}

template <class Host>
void RdmaNic<Host>::begin_serving(Ps asked, bool interrupted) {
  if (host_.serve(asked, interrupted)) ++counters_.interrupts;
  serving_ = true;
}

template <class Host>
void RdmaNic<Host>::end_serving(bool waits) {
  serving_ = false;
  host_.served(waits);
}

template <class Host>
void RdmaNic<Host>::receive(std::uint32_t id) {
  const RdmaFront& front = host_.front(id);
  // What asks for a processor is the handler's, whoever finds it.
  const bool asks = (watchdog_ == Ps{0} && (front.header.ack & kSolicitedMark) != 0) ||
                    (watchdog_ != kNever && (front.header.ack & kUrgentMark) != 0);
  const bool calls = asks && !serving_;
  if (calls) begin_serving(front.seen, true);
  host_.spend(host_.terms().receive, HostPart::receive);
  const Peer source = front.source;
  if (front.told != 0) {
    // Its receive entry has no buffer, and none is given back.
    const std::uint32_t immediate = front.header.client.words[0];
    host_.give(id);
    if (sink_.told != nullptr) sink_.told(sink_.context, source, immediate);
    if (calls) end_serving(true);
    return;
  }
  const std::uint8_t lane = front.lane;
  this->deliver(id);
  return_buffer(source, lane);
  if (calls) end_serving(true);
}

// A kept packet stays where it is, and another buffer takes its place. The NI is told of several at
// once.
template <class Host>
void RdmaNic<Host>::return_buffer(Peer source, std::uint8_t lane) {
  // Those that are nobody's in particular are counted together.
  Flow& flow = flows(host_.terms().names ? host_.self() : source)[lane];
  if (++flow.freed * 2 < host_.terms().receive_queue) return;
  const std::uint32_t count = flow.freed;
  flow.freed = 0;
  host_.spend(host_.terms().store_time(kRdmaDoorbellBytes), HostPart::receive);
  host_.return_buffers(source, lane, count);
}

template <class Host>
void RdmaNic<Host>::take_completion(const RdmaCompletion& completion) {
  host_.spend(host_.terms().completion, HostPart::send);
  news_ = true;  // who found no room before this look shall not sleep after it
  if (completion.lane == kTportLane) return tport_completed(completion.operation);
  if (completion.operation == kNoOperation && completion.ok == 0) {
    if (sink_.peer_lost != nullptr) sink_.peer_lost(sink_.context, completion.peer);
    return;
  }
  if (completion.operation == kNoOperation) {
    flows(completion.peer)[completion.lane].posted -= host_.terms().signal_every;
    return;
  }
  if (completion.ok != 0 && goes_round(completion.operation, completion.old)) return;
  const Operation operation = operations_[completion.operation];
  if (completion.began != 0) return copied(operation.token, Post::pending);
  free_operations_.push_back(completion.operation);
  if (Counter* const done = operation.reduced; done != nullptr) {
    (completion.ok != 0 ? done->ok : done->failed).fetch_add(1, std::memory_order_release);
    return;
  }
  if (completion.ok != 0 && operation.old != nullptr) *operation.old = completion.old;
  copied(operation.token, completion.ok != 0 ? Post::done : Post::denied);
}

// --- Remote memory

template <class Host>
std::uint32_t RdmaNic<Host>::take_operation(std::uint64_t token, std::uint64_t* old) {
  if (free_operations_.empty()) {
    free_operations_.push_back(static_cast<std::uint32_t>(operations_.size()));
    operations_.emplace_back();
  }
  const std::uint32_t operation = free_operations_.back();
  free_operations_.pop_back();
  operations_[operation] = {token, old, false, 0, {}, nullptr};
  return operation;
}

template <class Host>
RdmaEntry& RdmaNic<Host>::copy_entry(std::uint32_t id, RdmaKind kind, Peer dest,
                                     std::uint64_t token, std::uint64_t* old) {
  RdmaEntry& entry = host_.front(id).entry;
  entry = {};
  entry.kind = kind;
  entry.queue = kCopyQueue;
  entry.dest = dest;
  entry.operation = take_operation(token, old);
  return entry;
}

template <class Host>
void RdmaNic<Host>::post_copy(std::uint32_t id, std::uint64_t payload) {
  take_turn();
  host_.spend(host_.terms().post, HostPart::send);
  host_.spend(host_.terms().store_time(host_.terms().stored_bytes(payload > 0, payload)),
              HostPart::send);
  host_.ring(id);
}

template <class Host>
Post RdmaNic<Host>::copy_remote(const RemoteCopy& copy) {
  if (copy.peer >= this->peers()) return Post::invalid;
  if (!has_operation()) return Post::again_credit;
  const std::uint32_t id = host_.take();
  const RdmaKind kind = copy.what == RemoteCopy::What::read ? RdmaKind::read : RdmaKind::write;
  RdmaEntry& entry = copy_entry(id, kind, copy.peer, copy.token, nullptr);
  entry.size = copy.size;
  entry.key = copy.key.key;
  entry.offset = copy.offset;
  entry.address = reinterpret_cast<std::uint64_t>(copy.local);
  entry.tells = copy.tells ? 1 : 0;
  entry.a = copy.immediate;
  post_copy(id);
  return Post::done;
}

template <class Host>
Post RdmaNic<Host>::change_remote(const RemoteChange& change) {
  if (change.peer >= this->peers()) return Post::invalid;
  if (!has_operation()) return Post::again_credit;
  const std::uint32_t id = host_.take();
  RdmaEntry& entry = copy_entry(id, RdmaKind::atomic, change.peer, change.token, change.old);
  using What = RemoteChange::What;
  if (!host_.terms().two_atomics || change.what == What::add || change.what == What::compare_swap) {
    post_change(id, change);
    return Post::done;
  }
  // The first expects 0; where the word is something else, it finds out what.
  Operation& operation = operations_[entry.operation];
  operation.loops = true;
  operation.change = change;
  post_change(id, swap_for(change, 0));
  return Post::done;
}

template <class Host>
void RdmaNic<Host>::post_change(std::uint32_t id, const RemoteChange& change) {
  RdmaEntry& entry = host_.front(id).entry;
  entry.what = change.what;
  entry.word_bytes = change.word4 ? 4 : 8;
  entry.key = change.key.key;
  entry.offset = change.offset;
  entry.a = change.a;
  entry.b = change.b;
  post_copy(id);
}

// A loop's compare-and-swap found `found`: whether another one follows.
template <class Host>
bool RdmaNic<Host>::goes_round(std::uint32_t number, std::uint64_t found) {
  Operation& operation = operations_[number];
  if (!operation.loops || found == operation.expected) return false;
  operation.expected = found;
  const RemoteChange next = swap_for(operation.change, found);
  const std::uint32_t id = host_.take();
  RdmaEntry& entry = host_.front(id).entry;
  entry = {};
  entry.kind = RdmaKind::atomic;
  entry.queue = kCopyQueue;
  entry.dest = next.peer;
  entry.operation = number;
  post_change(id, next);
  return true;
}

template <class Host>
Post RdmaNic<Host>::Reducer::reduce(const NetworkReduction& reduction, Counter* done) {
  const std::size_t bytes = reduction.elements * bytes_of(reduction.type);
  if (!reaches(reduction.first, reduction.count) || !combines(reduction.op, reduction.type) ||
      bytes == 0 || bytes > bytes_max()) {
    return Post::invalid;
  }
  if (!nic_.has_operation()) return Post::again_credit;
  const std::uint32_t id = nic_.host_.take();
  RdmaEntry& entry = nic_.copy_entry(id, RdmaKind::reduce, reduction.first, 0, nullptr);
  nic_.operations_[entry.operation].reduced = done;
  entry.size = bytes;
  entry.word_bytes = static_cast<std::uint8_t>(reduction.type);
  entry.address = reinterpret_cast<std::uint64_t>(reduction.in);
  entry.offset = reinterpret_cast<std::uint64_t>(reduction.out);
  entry.a = begun_[{reduction.first, reduction.count}]++;
  entry.named.compare = static_cast<std::uint8_t>(reduction.op);
  entry.named.stores = static_cast<std::uint8_t>(where_);
  entry.named.members = reduction.count;
  // A short operand is written with the entry.
  const bool with_entry = bytes <= nic_.host_.terms().inline_bytes;
  if (with_entry) std::memcpy(nic_.host_.payload(id), reduction.in, bytes);
  nic_.post_copy(id, with_entry ? bytes : 0);
  return Post::done;
}

template class RdmaNic<RdmaHost>;
template class RdmaNic<RemoteRdmaHost>;

}  // namespace fairlead::fabric::model
