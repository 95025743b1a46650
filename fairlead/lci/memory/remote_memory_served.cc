// What RemoteMemory does for others: puts and bumps that come, answers to what they ask.
#include <atomic>

#include "fairlead/lci/internal_channels.h"
#include "fairlead/lci/memory/remote_memory.h"

namespace fairlead::lci {
namespace {

bool again(Post p) { return p == Post::again_credit || p == Post::again_buffer; }

}  // namespace

Keep RemoteMemory::on_request(void* self, Packet*, const Arrival& arrival) {
  auto& me = *static_cast<RemoteMemory*>(self);
  // Asked on any other lane it has no lane for its answer; no port does that.
  if (arrival.lane != Lane::request) return Keep::no;
  Words words = {arrival.words[0], arrival.words[1], arrival.words[2], arrival.words[3]};
  MemoryReply reply;
  if (me.server_.serve(arrival.chan, arrival.source, words, arrival.data,
                       me.fragment_bytes(arrival.source),
                       &reply) == MemoryServer::Served::replies) {
    me.answer(reply);
  }
  return Keep::no;
}

Keep RemoteMemory::on_bump(void* self, Packet*, const Arrival& arrival) {
  auto& me = *static_cast<RemoteMemory*>(self);
  const auto counter = static_cast<CtrId>(arrival.words[0]);
  counter != kNoCounter ? me.bump_came(arrival.source, counter)
                        : me.told().stored(arrival.words[1]);
  return Keep::no;
}

void RemoteMemory::bump_came(Rank source, CtrId id) {
  if (Counter* const counter = counters_.find(id); counter != nullptr) {
    counter->ok.fetch_add(1, std::memory_order_release);
  } else {
    server_.refuse(source);
  }
}

// The queue's bound: what a peer may have under way (kGetsInFlight fragments, kOpsMax words).
void RemoteMemory::answer(const MemoryReply& reply) {
  if (!replies_.empty() || !try_answer(reply)) replies_.push_back(reply);
}

bool RemoteMemory::try_answer(const MemoryReply& reply) {
  const Dest dest{reply.rank, false};
  if (reply.size <= port_.caps(reply.rank).inline_bytes_max)
    return !again(port_.send_small(dest, reply.chan, Lane::reply, reply.words,
                                   {reply.data, reply.size}, kNoBlock | kPart));
  Packet* packet = port_.alloc(dest, Lane::reply, reply.size, kNoBlock);
  if (packet == nullptr) return false;
  const Piece data{reply.data, reply.size};
  const Post answer =
      port_.send(packet, reply.chan, reply.words, 0, {&data, 1}, nullptr, kNoBlock | kPart);
  if (answer != Post::done && answer != Post::pending) port_.release(packet);
  return !again(answer);
}

}  // namespace fairlead::lci
