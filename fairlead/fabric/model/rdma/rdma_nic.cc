#include "fairlead/fabric/model/rdma/rdma_nic.h"

#include <algorithm>
#include <cstring>

#include "fairlead/base/check.h"
#include "fairlead/hw/resource.h"
#include "fairlead/hw/trace_lines.h"

namespace fairlead::fabric::model {
namespace {

constexpr std::uint64_t kDoorbellBytes = 8;
// Packets kept in place, beside the receive buffers; more are copied out by who keeps them.
constexpr std::uint32_t kKeptMax = 1024;

}  // namespace

RdmaNic::RdmaNic(const RdmaParts& parts, const hw::HostRates& rates, RdmaNi& ni,
                 PortCounters& counters)
    : parts_(parts),
      rates_(rates),
      ni_(ni),
      counters_(counters),
      caps_{parts.params.ni.mtu_bytes, std::min(parts.params.ni.inline_bytes, kSmallBytes),
            kReliable | kRemoteMemory | kRemoteAtomics},
      ranks_(parts.engine.nodes()),
      flows_(parts.engine.nodes()),
      operations_(parts.params.ni.copies) {
  caps_.copy_bytes_min = 1;
  for (std::uint32_t i = parts.params.ni.copies; i-- > 0;) free_operations_.push_back(i);
  RdmaHostSink sink;
  sink.context = this;
  sink.received = [](void* self, std::uint32_t id) {
    auto* nic = static_cast<RdmaNic*>(self);
    nic->received_[nic->parts_.packets.at(id).queue].push_back(id);
    nic->wake();
  };
  sink.completed = [](void* self, const RdmaCompletion& completion) {
    auto* nic = static_cast<RdmaNic*>(self);
    nic->completed_.push_back(completion);
    nic->wake();
  };
  sink.changed = [](void* self) { static_cast<RdmaNic*>(self)->wake(); };
  ni_.attach_host(sink);
}

// --- Time

void RdmaNic::sync() {
  if (local_ <= parts_.engine.now()) return;
  if (sim::CriticalPath* path = parts_.engine.path(); path != nullptr) [[unlikely]]
    path->reach(local_, hw::kHostResource);
  task_->sleep_until(local_);
}

void RdmaNic::wake() {
  news_ = true;
  if (waiting_) task_->wake(parts_.engine.now());
}

void RdmaNic::sleep(Ps timeout) {
  sync();
  const Ps from = parts_.engine.now();
  waiting_ = true;
  if (!news_ && timeout == kNever) {
    task_->block(wait_);
  } else if (!news_) {
    (void)task_->block_until(from + timeout, wait_);
  }
  waiting_ = false;
  news_ = false;
  ++counters_.sleeps;
  if (trace_.on()) trace_.interval(from, parts_.engine.now(), hw::kAsleep);
}

// --- Packets

std::vector<RdmaNic::Flow>& RdmaNic::flows(Peer peer) {
  std::vector<Flow>& of = flows_[peer];
  if (of.empty()) of.resize(kLanes);
  return of;
}

Post RdmaNic::admit(Peer dest, const PacketHeader& header) {
  if (dest >= peers() || header.client.lane >= kLanes || header.client.size > caps_.mtu_bytes) {
    return Post::invalid;
  }
  const Flow& flow = flows(dest)[header.client.lane];
  return flow.posted < parts_.params.ni.send_queue ? Post::done : Post::again_credit;
}

Post RdmaNic::post(Peer dest, const PacketHeader& header, std::span<const Piece> payload) {
  if (const Post p = admit(dest, header); p != Post::done) return p;
  const std::uint32_t id = parts_.packets.take();
  std::byte* at = parts_.packets.payload(id);
  for (const Piece& piece : payload) {
    if (piece.size > 0) std::memcpy(at, piece.data, piece.size);
    at += piece.size;
  }
  // To where the NI fetches it from; what is small goes with its entry.
  if (header.client.size > caps_.inline_bytes_max) {
    spend(hw::work_time(rates_, {0, 0, 0, header.client.size}));
  }
  send(id, dest, header);
  return Post::done;
}

std::byte* RdmaNic::buffer(Peer, std::size_t) {
  const std::uint32_t id = parts_.packets.take();
  std::byte* const memory = parts_.packets.payload(id);
  buffers_.emplace(memory, id);
  return memory;
}

Post RdmaNic::post_buffer(Peer dest, const PacketHeader& header, std::byte* buffer) {
  if (const Post p = admit(dest, header); p != Post::done) return p;
  const auto lent = buffers_.find(buffer);
  FAIRLEAD_CHECK(lent != buffers_.end(), "a buffer of another path, to {}", dest);
  const std::uint32_t id = lent->second;
  buffers_.erase(lent);
  send(id, dest, header);
  return Post::done;
}

void RdmaNic::cancel_buffer(Peer, std::byte* buffer) {
  const auto lent = buffers_.find(buffer);
  FAIRLEAD_CHECK(lent != buffers_.end(), "a buffer of another path");
  parts_.packets.give(lent->second);
  buffers_.erase(lent);
}

void RdmaNic::send(std::uint32_t id, Peer dest, const PacketHeader& header) {
  const hw::RdmaNiParams& ni = parts_.params.ni;
  const std::uint8_t lane = header.client.lane;
  Flow& flow = flows(dest)[lane];
  RdmaPacket& packet = parts_.packets.at(id);
  packet.kind = RdmaKind::send;
  packet.queue = lane;
  packet.source = self();
  packet.dest = dest;
  packet.header = header;
  packet.with_entry = header.client.size <= caps_.inline_bytes_max;
  ++flow.posted;
  packet.signalled = ++flow.since_signal == ni.signal_every;
  if (packet.signalled) flow.since_signal = 0;
  const std::uint64_t stored =
      packet.with_entry ? ni.entry_bytes + header.client.size : kDoorbellBytes;
  spend(parts_.params.library.post);
  spend(ni_.lanes().store_time(stored));
  sync();
  ni_.ring(id, stored);
}

int RdmaNic::reap(int budget, LaneMask lanes) {
  spend(parts_.params.library.poll);
  sync();
  while (!completed_.empty()) {
    const RdmaCompletion completion = completed_.front();
    completed_.pop_front();
    take_completion(completion);
  }
  int done = 0;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if (((lanes >> lane) & 1u) == 0) continue;
    for (; done < budget && !received_[lane].empty(); ++done) {
      const std::uint32_t id = received_[lane].front();
      received_[lane].pop_front();
      deliver(id);
    }
  }
  return done;
}

void RdmaNic::deliver(std::uint32_t id) {
  spend(parts_.params.library.receive);
  const RdmaPacket& packet = parts_.packets.at(id);
  const Peer source = packet.source;
  const std::uint8_t lane = packet.queue;
  const bool keepable = kept_ < kKeptMax;
  const Incoming incoming{
      source, &packet.header, {packet.payload.get(), packet.header.client.size}, id, keepable};
  if (sink_.arrived(sink_.context, incoming) == Keep::yes) {
    FAIRLEAD_CHECK(keepable, "kept a packet that may not be kept");
    ++kept_;
  } else {
    parts_.packets.give(id);
  }
  return_buffer(source, lane);
}

// A kept packet stays where it is, and another buffer takes its place. The NI is told of several at
// once.
void RdmaNic::return_buffer(Peer source, std::uint8_t lane) {
  Flow& flow = flows(source)[lane];
  if (++flow.freed * 2 < parts_.params.ni.receive_queue) return;
  const std::uint32_t count = flow.freed;
  flow.freed = 0;
  spend(ni_.lanes().store_time(kDoorbellBytes));
  sync();
  ni_.return_buffers(source, lane, count);
}

void RdmaNic::release(std::uint64_t token) {
  --kept_;
  parts_.packets.give(static_cast<std::uint32_t>(token));
}

void RdmaNic::take_completion(const RdmaCompletion& completion) {
  spend(parts_.params.library.completion);
  news_ = true;  // who found no room before this look shall not sleep after it
  if (completion.operation == kNoOperation) {
    flows(completion.peer)[completion.lane].posted -= parts_.params.ni.signal_every;
    return;
  }
  const Operation operation = operations_[completion.operation];
  free_operations_.push_back(completion.operation);
  if (completion.ok && operation.old != nullptr) *operation.old = completion.old;
  if (sink_.copied != nullptr) {
    sink_.copied(sink_.context, operation.token, completion.ok ? Post::done : Post::denied);
  }
}

// --- Remote memory

std::optional<RemoteKey> RdmaNic::register_memory(std::span<std::byte> memory, bool read,
                                                  bool write) {
  const auto base = reinterpret_cast<std::uint64_t>(memory.data());
  return RemoteKey{ni_.keys().add(base, memory.size(), read, write), 0};
}

std::uint32_t RdmaNic::take_operation(std::uint64_t token, std::uint64_t* old) {
  const std::uint32_t operation = free_operations_.back();
  free_operations_.pop_back();
  operations_[operation] = {token, old};
  return operation;
}

void RdmaNic::post_copy(std::uint32_t id) {
  RdmaPacket& packet = parts_.packets.at(id);
  packet.queue = kCopyQueue;
  packet.source = self();
  spend(parts_.params.library.post);
  spend(ni_.lanes().store_time(kDoorbellBytes));
  sync();
  ni_.ring(id, kDoorbellBytes);
}

Post RdmaNic::copy_remote(const RemoteCopy& copy) {
  if (copy.peer >= peers()) return Post::invalid;
  if (free_operations_.empty()) return Post::again_credit;
  const std::uint32_t id = parts_.packets.take();
  RdmaPacket& packet = parts_.packets.at(id);
  const auto local = reinterpret_cast<std::uint64_t>(copy.local);
  packet.kind = copy.what == RemoteCopy::What::read ? RdmaKind::read : RdmaKind::write;
  packet.dest = copy.peer;
  packet.operation = take_operation(copy.token, nullptr);
  packet.size = copy.size;
  packet.key = copy.key.key;
  packet.offset = copy.offset;
  packet.address = local;
  packet.reply_address = local;
  post_copy(id);
  return Post::done;
}

Post RdmaNic::change_remote(const RemoteChange& change) {
  if (change.peer >= peers()) return Post::invalid;
  if (free_operations_.empty()) return Post::again_credit;
  const std::uint32_t id = parts_.packets.take();
  RdmaPacket& packet = parts_.packets.at(id);
  packet.kind = RdmaKind::atomic;
  packet.dest = change.peer;
  packet.operation = take_operation(change.token, change.old);
  packet.what = change.what;
  packet.word_bytes = change.word4 ? 4 : 8;
  packet.key = change.key.key;
  packet.offset = change.offset;
  packet.a = change.a;
  packet.b = change.b;
  post_copy(id);
  return Post::done;
}

}  // namespace fairlead::fabric::model
