#include "fairlead/systems/splitc/via.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace fairlead::splitc {
namespace {

constexpr std::size_t kDescriptorBytes = VIP_DESCRIPTOR_ALIGNMENT;
static_assert(sizeof(VIP_DESCRIPTOR) == kDescriptorBytes);
// Messages that a poll serves before who polls goes on.
constexpr int kServedMax = 64;

// An address of VIA: host, then discriminator (vipl.h), which is the size, then both ranks, its own
// first.
struct Address {
  union {
    VIP_NET_ADDRESS net;
    VIP_UINT8 bytes[4 + 8 + 12];
  };

  Address() : bytes{} {}
  void name(std::uint32_t size, Rank own, Rank other) {
    constexpr std::uint32_t kSplitC = 0x53430000;
    const std::uint32_t words[] = {kSplitC + size, own, other};
    net.HostAddressLen = 8;
    net.DiscriminatorLen = sizeof words;
    std::memcpy(bytes + 12, words, sizeof words);
  }
};

// Where CreditWindow runs: its steps are not priced apart from the calls they are in.
struct NoSite {
  Ps now() const { return {}; }
  void charge(Step) {}
};

// What is read from a message.
template <class T>
bool take(std::span<const std::byte>& from, T& value) {
  if (from.size() < sizeof value) return false;
  std::memcpy(&value, from.data(), sizeof value);
  from = from.subspan(sizeof value);
  return true;
}

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace

void Via::lost(Rank rank) {
  host_.fail(fmt::format("the connection to rank {} was lost", rank));
  std::abort();  // GCC forgets that a virtual function does not return
}

// --- Connections. ---

void Via::open(std::byte*, std::uint64_t) {
  const std::uint32_t others = port_.size() - 1;
  std::uint32_t sends = 1;
  std::uint32_t receives = 1;
  for (const Limits& limits : kLimits) {
    sends += others * 2 * limits.credits;
    receives += others * (2 * limits.credits + 1);
  }
  bool good = VipOpenNic("splitc", &nic_) == VIP_SUCCESS &&
              VipCreatePtag(nic_, &ptag_) == VIP_SUCCESS &&
              VipCreateCQ(nic_, sends, &sends_) == VIP_SUCCESS &&
              VipCreateCQ(nic_, receives, &receives_) == VIP_SUCCESS;
  peers_.resize(port_.size());
  for (Rank rank = 0; good && rank < port_.size(); ++rank) {
    good = rank == port_.self() || make_peer(rank);
  }
  if (!good) host_.fail("no virtual interfaces can be had");
  for (const auto& [vi, queue] : by_vi_) {
    if (VipConnectPeerWait(vi, nullptr) != VIP_SUCCESS) lost(queue->peer);
  }
}

bool Via::make_peer(Rank rank) {
  peers_[rank] = std::make_unique<Peer>();
  Peer& peer = *peers_[rank];
  std::size_t descriptors = 0;
  std::size_t buffers = 0;
  for (const Limits& limits : kLimits) {
    descriptors += 4 * limits.credits + 1;
    buffers += (4 * limits.credits + 1) * limits.bytes;
  }
  peer.memory = ReservedMemory(descriptors * kDescriptorBytes + buffers);
  VIP_MEM_ATTRIBUTES attributes{ptag_, VIP_FALSE, VIP_FALSE};
  if (VipRegisterMem(nic_, peer.memory.data(), peer.memory.all().size(), &attributes,
                     &peer.handle) != VIP_SUCCESS) {
    return false;
  }
  std::size_t descriptor = 0;
  std::byte* buffer = peer.memory.data() + descriptors * kDescriptorBytes;
  for (std::uint8_t size = 0; size < kSizes; ++size) {
    Queue& queue = peer.queues[size];
    queue.peer = rank;
    queue.size = static_cast<Size>(size);
    queue.memory = peer.handle;
    if (!make_queue(queue, peer, descriptor, buffer) || !connect(queue)) return false;
  }
  return true;
}

bool Via::make_queue(Queue& queue, Peer& peer, std::size_t& descriptor, std::byte*& buffer) {
  const Limits& limits = queue.limits();
  queue.credits = proto::CreditWindow(1, limits.credits);
  VIP_VI_ATTRIBUTES attributes{};
  attributes.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
  attributes.MaxTransferSize = limits.bytes;
  attributes.Ptag = ptag_;
  if (VipCreateVi(nic_, &attributes, sends_, receives_, &queue.vi) != VIP_SUCCESS) return false;
  by_vi_[queue.vi] = &queue;
  const auto next_slot = [&] {
    Slot slot;
    slot.descriptor =
        reinterpret_cast<VIP_DESCRIPTOR*>(peer.memory.data() + descriptor++ * kDescriptorBytes);
    slot.buffer = buffer;
    buffer += limits.bytes;
    slot.descriptor->CS.SegCount = 1;
    slot.descriptor->DS[0].Local.Data.Address = slot.buffer;
    slot.descriptor->DS[0].Local.Handle = peer.handle;
    slot.descriptor->DS[0].Local.Length = static_cast<VIP_UINT32>(limits.bytes);
    return slot;
  };
  for (std::uint32_t i = 0; i < 2 * limits.credits + 1; ++i) {
    queue.receives.push_back(next_slot());
    if (VipPostRecv(queue.vi, queue.receives.back().descriptor, peer.handle) != VIP_SUCCESS) {
      return false;
    }
  }
  for (std::uint32_t i = 0; i < 2 * limits.credits; ++i) {
    queue.sends.push_back(next_slot());
    queue.free_sends.push_back(static_cast<std::uint16_t>(i));
  }
  return true;
}

bool Via::connect(const Queue& queue) {
  Address here;
  Address there;
  for (const auto& [rank, address] : {std::pair{port_.self(), &here}, {queue.peer, &there}}) {
    VIP_CHAR name[16];
    std::snprintf(name, sizeof name, "%u", rank);
    if (VipNSGetHostByName(nic_, name, &address->net, 0) != VIP_SUCCESS) return false;
  }
  here.name(queue.size, port_.self(), queue.peer);
  there.name(queue.size, queue.peer, port_.self());
  return VipConnectPeerRequest(queue.vi, &here.net, &there.net, VIP_INFINITE) == VIP_SUCCESS;
}

void Via::close() {
  for (const auto& peer : peers_) {
    if (peer != nullptr) drop(*peer);
  }
  peers_.clear();
  (void)VipDestroyCQ(sends_);
  (void)VipDestroyCQ(receives_);
  (void)VipDestroyPtag(nic_, ptag_);
  (void)VipCloseNic(nic_);
}

void Via::drop(Peer& peer) {
  for (Queue& queue : peer.queues) {
    // What was sent has left before.
    while (queue.free_sends.size() < queue.sends.size()) {
      VIP_VI_HANDLE vi = nullptr;
      VIP_BOOLEAN is_receive = VIP_FALSE;
      if (VipCQWait(sends_, VIP_INFINITE, &vi, &is_receive) == VIP_SUCCESS) recycle(vi);
    }
    (void)VipDisconnect(queue.vi);
    VIP_DESCRIPTOR* descriptor = nullptr;
    while (VipRecvDone(queue.vi, &descriptor) != VIP_NOT_DONE) {
    }
    by_vi_.erase(queue.vi);
    (void)VipDestroyVi(queue.vi);
  }
  (void)VipDeregisterMem(nic_, peer.memory.data(), peer.handle);
}

// --- Sending. ---

void Via::recycle(VIP_VI_HANDLE vi) {
  VIP_DESCRIPTOR* descriptor = nullptr;
  const VIP_RETURN answer = VipSendDone(vi, &descriptor);
  const auto found = by_vi_.find(vi);
  if (answer == VIP_NOT_DONE || answer == VIP_INVALID_PARAMETER || found == by_vi_.end()) return;
  Queue& queue = *found->second;
  queue.free_sends.push_back(
      static_cast<std::uint16_t>(descriptor - queue.sends.front().descriptor));
  if (answer != VIP_SUCCESS && !ends_) lost(queue.peer);
}

Via::Slot& Via::free_slot(Queue& queue) {
  VIP_VI_HANDLE vi = nullptr;
  VIP_BOOLEAN is_receive = VIP_FALSE;
  if (queue.free_sends.empty()) {
    while (VipCQDone(sends_, &vi, &is_receive) == VIP_SUCCESS) recycle(vi);
  }
  while (queue.free_sends.empty()) {
    if (VipCQWait(sends_, VIP_INFINITE, &vi, &is_receive) == VIP_SUCCESS) recycle(vi);
  }
  Slot& slot = queue.sends[queue.free_sends.back()];
  queue.free_sends.pop_back();
  return slot;
}

void Via::send(Queue& queue, const Head& head, std::span<const std::byte> front,
               std::span<const std::byte> data) {
  work_.charge(run::LayerStep::splitc_via_send);
  Slot& slot = free_slot(queue);
  std::byte* at = slot.buffer;
  for (const std::span<const std::byte> part : {bytes_of(head), front, data}) {
    at = std::copy(part.begin(), part.end(), at);
  }
  if (data.size() > kValueMax) {
    port_.charge({.working_set_bytes = data.size(), .copied_bytes = data.size()});
  }
  VIP_DESCRIPTOR& descriptor = *slot.descriptor;
  descriptor.CS.SegCount = 1;
  descriptor.CS.Control = VIP_CONTROL_OP_SENDRECV;
  descriptor.DS[0].Local.Length = static_cast<VIP_UINT32>(at - slot.buffer);
  if (VipPostSend(queue.vi, &descriptor, queue.memory) != VIP_SUCCESS) lost(queue.peer);
}

void Via::request(Rank rank, Head head, std::span<const std::byte> front,
                  std::span<const std::byte> data, const Asked* asked) {
  const bool is_short = data.size() <= kValueMax && head.kind != Kind::atomic &&
                        (head.kind != Kind::get || head.number <= kValueMax);
  Queue& queue = peers_[rank]->queues[is_short ? kShort : kBlock];
  NoSite site;
  while (!queue.credits.open(site, 0)) wait({.what = "the credit of a message"});
  if (asked != nullptr) queue.asked.push_back(*asked);
  send(queue, head, front, data);
}

void Via::reply(Queue& queue, Kind kind, std::span<const std::byte> data) {
  NoSite site;
  (void)queue.credits.released(site, 0);
  queue.unreplied = 0;
  send(queue, {kind, static_cast<std::uint8_t>(queue.credits.take_ack(0)), 0}, {}, data);
}

void Via::write(Kind kind, Rank rank, std::uint64_t offset, const void* from, std::size_t bytes) {
  const auto* at = static_cast<const std::byte*>(from);
  while (bytes > 0) {
    const std::size_t part = std::min(bytes, kBlockMax);
    const auto place = static_cast<std::uint32_t>(offset);
    const Asked asked{kind, nullptr, 0};
    if (kind == Kind::put) ++puts_;
    request(rank, {kind, 0, 0}, bytes_of(place), {at, part}, kind == Kind::put ? &asked : nullptr);
    at += part;
    offset += part;
    bytes -= part;
  }
}

void Via::put(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes, bool) {
  write(Kind::put, rank, offset, from, bytes);
}
void Via::store(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes) {
  write(Kind::store, rank, offset, from, bytes);
}

void Via::get(void* to, Rank rank, std::uint64_t offset, std::size_t bytes) {
  auto* at = static_cast<std::byte*>(to);
  while (bytes > 0) {
    const std::size_t part = std::min(bytes, kBlockMax);
    const auto place = static_cast<std::uint32_t>(offset);
    const Asked asked{Kind::get, at, part};
    ++gets_;
    request(rank, {Kind::get, 0, static_cast<std::uint16_t>(part)}, bytes_of(place), {}, &asked);
    at += part;
    offset += part;
    bytes -= part;
  }
}

void Via::atomic(Rank rank, std::span<const std::byte> call) {
  const Asked asked{Kind::atomic, nullptr, 0};
  request(rank, {Kind::atomic, 0, 0}, {}, call, &asked);
}

Collectives::Road Via::road() {
  return {[](void* self, Rank to, std::uint32_t kind, const lci::Words& words,
             std::span<const std::byte> data) {
            static_cast<Via*>(self)->request(to,
                                             {Kind::together, 0, static_cast<std::uint16_t>(kind)},
                                             std::as_bytes(std::span(words)), data, nullptr);
          },
          this, kBlockMax};
}

void Via::await_gets() {
  while (gets_ > 0) wait({.what = "a read"});
}
void Via::sync() {
  while (gets_ + puts_ > 0) wait({.what = "gets and puts"});
}

// --- Receiving. ---

void Via::wait(const lci::Until& until) {
  if (serving_) host_.fail("a function that atomic runs may not communicate");
  // All that has come is served before this rank sleeps; who waits looks again then.
  if (serve() > 0) return;
  if (port_.wait({.any_packet = true, .any_change = true, .what = until.what}) == Post::peer_down) {
    host_.fail(fmt::format("a rank was lost while this one waited for {}", until.what));
  }
}

int Via::serve() {
  if (serving_) return 0;
  VIP_VI_HANDLE vi = nullptr;
  VIP_BOOLEAN is_receive = VIP_FALSE;
  // Before the receives: when nothing was served, nothing has come that is not known of.
  if (VipCQDone(sends_, &vi, &is_receive) == VIP_SUCCESS) recycle(vi);
  int served = 0;
  while (served < kServedMax && VipCQDone(receives_, &vi, &is_receive) == VIP_SUCCESS) {
    serve_one(vi);
    ++served;
  }
  return served;
}

void Via::serve_one(VIP_VI_HANDLE vi) {
  work_.charge(run::LayerStep::splitc_via_serve);
  VIP_DESCRIPTOR* descriptor = nullptr;
  const VIP_RETURN answer = VipRecvDone(vi, &descriptor);
  const auto found = by_vi_.find(vi);
  if (answer == VIP_NOT_DONE || answer == VIP_INVALID_PARAMETER || found == by_vi_.end()) return;
  Queue& queue = *found->second;
  if (answer != VIP_SUCCESS) {
    if (!ends_) lost(queue.peer);
    return;
  }
  const auto* const buffer = static_cast<const std::byte*>(descriptor->DS[0].Local.Data.Address);
  handle(queue, {buffer, descriptor->CS.Length});
  descriptor->DS[0].Local.Length = static_cast<VIP_UINT32>(queue.limits().bytes);
  (void)VipPostRecv(queue.vi, descriptor, queue.memory);
  if (queue.unreplied * 4 < queue.limits().credits) return;
  queue.unreplied = 0;
  send(queue, {Kind::credits, static_cast<std::uint8_t>(queue.credits.take_ack(0)), 0}, {}, {});
}

void Via::handle(Queue& queue, std::span<const std::byte> message) {
  Head head{};
  std::uint32_t place = 0;
  if (!take(message, head)) return;
  const bool has_place =
      head.kind == Kind::put || head.kind == Kind::store || head.kind == Kind::get;
  if (has_place && !take(message, place)) return;
  NoSite site;
  switch (head.kind) {
    case Kind::put:
    case Kind::store:
      std::copy(message.begin(), message.end(), host_.own(place, message.size()));
      if (message.size() > kValueMax) {
        port_.charge({.working_set_bytes = message.size(), .copied_bytes = message.size()});
      }
      if (head.kind == Kind::put) return reply(queue, Kind::put_done, {});
      host_.stored(message.size());
      break;
    case Kind::get:
      if (head.number > kBlockMax) return;
      return reply(queue, Kind::got, {host_.own(place, head.number), head.number});
    case Kind::atomic: {
      alignas(std::max_align_t) std::byte out[access::kAtomicMax];
      serving_ = true;
      const std::size_t bytes = host_.run(message, out);
      serving_ = false;
      return reply(queue, Kind::atomic_done, {out, bytes});
    }
    case Kind::together: {
      lci::Words words{};
      for (std::uint32_t& word : words) {
        if (!take(message, word)) return;
      }
      host_.collectives().came(head.number, queue.peer, words, message);
      break;
    }
    default:
      return reply_came(queue, head, message);
  }
  // A request without a reply.
  (void)queue.credits.released(site, 0);
  ++queue.unreplied;
}

void Via::reply_came(Queue& queue, const Head& head, std::span<const std::byte> data) {
  NoSite site;
  if (!queue.credits.acknowledged(site, 0, head.credits, [](std::uint32_t) {})) {
    host_.fail(fmt::format("rank {} returned credits that it never had", queue.peer));
  }
  if (head.kind == Kind::credits) return;
  if (queue.asked.empty()) {
    host_.fail(fmt::format("rank {} answered what it was not asked", queue.peer));
  }
  const Asked asked = queue.asked.front();
  queue.asked.pop_front();
  if (head.kind == Kind::put_done && asked.kind == Kind::put) {
    --puts_;
  } else if (head.kind == Kind::got && asked.kind == Kind::get && asked.bytes == data.size()) {
    std::copy(data.begin(), data.end(), asked.to);
    if (data.size() > kValueMax) {
      port_.charge({.working_set_bytes = data.size(), .copied_bytes = data.size()});
    }
    --gets_;
  } else if (head.kind == Kind::atomic_done && asked.kind == Kind::atomic) {
    host_.atomic_done(data);
  } else {
    host_.fail(fmt::format("rank {} answered something else than it was asked", queue.peer));
  }
}

}  // namespace fairlead::splitc
