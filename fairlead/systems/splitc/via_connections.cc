// The connections of via.h: how they are made, and how they end.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "fairlead/systems/splitc/via.h"

namespace fairlead::splitc {
namespace {

constexpr std::size_t kDescriptorBytes = VIP_DESCRIPTOR_ALIGNMENT;
static_assert(sizeof(VIP_DESCRIPTOR) == kDescriptorBytes);

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

}  // namespace

template <class Flow>
void ViaOver<Flow>::open(std::byte* heap, std::uint64_t bytes) {
  heap_ = {heap, static_cast<std::size_t>(bytes)};
  const std::uint32_t others = port_.size() - 1;
  std::uint32_t sends = 1;
  std::uint32_t receives = 1;
  for (const Limits& limits : kLimits) {
    sends += others * sends_of(limits);
    receives += others * receives_of(limits);
  }
  bool good = VipOpenNic("splitc", &nic_) == VIP_SUCCESS &&
              VipCreatePtag(nic_, &ptag_) == VIP_SUCCESS &&
              VipCreateCQ(nic_, sends, &sends_) == VIP_SUCCESS &&
              VipCreateCQ(nic_, receives, &receives_) == VIP_SUCCESS;
  if (good && (extras_.gather || extras_.rdma)) {
    const VIP_BOOLEAN open = extras_.rdma ? VIP_TRUE : VIP_FALSE;
    VIP_MEM_ATTRIBUTES attributes{ptag_, open, open};
    good =
        VipRegisterMem(nic_, heap_.data(), heap_.size(), &attributes, &heap_handle_) == VIP_SUCCESS;
  }
  peers_.resize(port_.size());
  for (Rank rank = 0; good && rank < port_.size(); ++rank) {
    good = rank == port_.self() || make_peer(rank);
  }
  if (!good) host_.fail("no virtual interfaces can be had");
  for (const auto& [vi, queue] : by_vi_) {
    if (VipConnectPeerWait(vi, nullptr) != VIP_SUCCESS) lost(queue->peer);
  }
  if (extras_.rdma) tell_heap();
}

template <class Flow>
bool ViaOver<Flow>::make_peer(Rank rank) {
  peers_[rank] = std::make_unique<Peer>();
  Peer& peer = *peers_[rank];
  std::size_t descriptors = 0;
  std::size_t buffers = 0;
  for (const Limits& limits : kLimits) {
    descriptors += sends_of(limits) + receives_of(limits);
    buffers += (sends_of(limits) + receives_of(limits)) * limits.bytes;
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

template <class Flow>
bool ViaOver<Flow>::make_queue(Queue& queue, Peer& peer, std::size_t& descriptor,
                               std::byte*& buffer) {
  const Limits& limits = queue.limits();
  VIP_VI_ATTRIBUTES attributes{};
  attributes.ReliabilityLevel = Flow::kLevel;
  attributes.MaxTransferSize = limits.bytes;
  attributes.Ptag = ptag_;
  if (extras_.rdma && queue.size == kBlock) {
    attributes.MaxTransferSize = kRdmaBytesMax;
    attributes.EnableRdmaWrite = VIP_TRUE;
    attributes.EnableRdmaRead = VIP_TRUE;
  }
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
  for (std::uint32_t i = 0; i < receives_of(limits); ++i) {
    queue.receives.push_back(next_slot());
    if (VipPostRecv(queue.vi, queue.receives.back().descriptor, peer.handle) != VIP_SUCCESS) {
      return false;
    }
  }
  for (std::uint32_t i = 0; i < sends_of(limits); ++i) {
    queue.sends.push_back(next_slot());
    queue.free_sends.push_back(static_cast<std::uint16_t>(i));
  }
  return true;
}

template <class Flow>
bool ViaOver<Flow>::connect(const Queue& queue) {
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

template <class Flow>
void ViaOver<Flow>::close() {
  if constexpr (Flow::kNumbers) drain();
  for (const auto& peer : peers_) {
    if (peer != nullptr) drop(*peer);
  }
  peers_.clear();
  (void)VipDestroyCQ(sends_);
  (void)VipDestroyCQ(receives_);
  if (heap_handle_ != 0) (void)VipDeregisterMem(nic_, heap_.data(), heap_handle_);
  (void)VipDestroyPtag(nic_, ptag_);
  (void)VipCloseNic(nic_);
}

template <class Flow>
void ViaOver<Flow>::drop(Peer& peer) {
  for (Queue& queue : peer.queues) {
    // What was sent has left before.
    while (queue.posted > 0) {
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

// Where the network under the VIs may lose everything, the disconnects of peers, too, a peer that
// is gone is known by its silence: it would answer what is sent to it again.
constexpr Ps kGoneAfter = seconds(20);
// And who has all that it waited for stays as long as peers may send again what they hear no answer
// to.
constexpr Ps kQuiet = milliseconds(200);

template <class Flow>
void ViaOver<Flow>::drain() {
  if constexpr (Flow::kNumbers) {
    bool may_lose = false;
    for (Rank rank = 0; rank < port_.size(); ++rank) {
      may_lose = may_lose || (port_.caps(rank).flags & lci::kMayLose) != 0;
    }
    heard_ = port_.now();
    const auto left = [&](Ps silence) { return may_lose ? heard_ + silence : kNever; };
    bool all_gone = true;
    for (const auto& peer : peers_) {
      if (peer == nullptr) continue;
      for (Queue& queue : peer->queues) {
        Flow& flow = flows_[queue.size];
        const auto owes = [&] {
          return flow.requests.owes(queue.peer) || flow.replies.owes(queue.peer);
        };
        if (owes()) tell(queue, Kind::credits);
        while (!queue.gone && port_.now() < left(kGoneAfter) &&
               flow.requests.unacknowledged(queue.peer) + flow.replies.unacknowledged(queue.peer) >
                   0) {
          wait({.deadline = left(kGoneAfter), .what = "acknowledgments of the last messages"});
        }
      }
    }
    // What came meanwhile is not to be sent again.
    for (const auto& peer : peers_) {
      if (peer == nullptr) continue;
      for (Queue& queue : peer->queues) {
        Flow& flow = flows_[queue.size];
        all_gone = all_gone && queue.gone;
        if (flow.requests.owes(queue.peer) || flow.replies.owes(queue.peer)) {
          tell(queue, Kind::credits);
        }
      }
    }
    while (may_lose && !all_gone && port_.now() < left(kQuiet)) {
      wait({.deadline = left(kQuiet), .what = "peers that send again"});
      all_gone = true;
      for (const auto& peer : peers_) {
        for (std::size_t i = 0; peer != nullptr && i < kSizes; ++i) {
          all_gone = all_gone && peer->queues[i].gone;
        }
      }
    }
  }
}

// The other members are instantiated in via.cc.
template void ViaOver<CreditFlow>::open(std::byte*, std::uint64_t);
template void ViaOver<CreditFlow>::close();
template void ViaOver<NumberFlow>::open(std::byte*, std::uint64_t);
template void ViaOver<NumberFlow>::close();
template void ViaOver<SelectiveFlow>::open(std::byte*, std::uint64_t);
template void ViaOver<SelectiveFlow>::close();

}  // namespace fairlead::splitc
