// Blocks that via.h does not copy into messages: gathered by their sender, or moved by RDMA.
#include <algorithm>
#include <atomic>

#include "fairlead/systems/splitc/via.h"

namespace fairlead::splitc {

template <class Flow>
VIP_MEM_HANDLE ViaOver<Flow>::handle_of(Slot& slot, const void* at, std::size_t bytes) {
  const auto* const first = static_cast<const std::byte*>(at);
  if (first >= heap_.data() && first < heap_.data() + heap_.size()) return heap_handle_;
  VIP_MEM_ATTRIBUTES attributes{ptag_, VIP_FALSE, VIP_FALSE};
  slot.lent_at = const_cast<void*>(at);
  if (VipRegisterMem(nic_, slot.lent_at, bytes, &attributes, &slot.lent) != VIP_SUCCESS) {
    host_.fail("no more memory can be registered");
  }
  return slot.lent;
}

template <class Flow>
void ViaOver<Flow>::await_sent(const Queue& queue) {
  const std::uint64_t all = queue.posts;
  while (queue.left < all) wait({.what = "a block that is sent from where it is"});
}

template <class Flow>
void ViaOver<Flow>::tell_heap() {
  const HeapPlace heap{reinterpret_cast<std::uintptr_t>(heap_.data()), heap_handle_, 0};
  for (Rank rank = 0; rank < port_.size(); ++rank) {
    if (rank == port_.self()) continue;
    (void)request(rank, {Kind::memory, 0, 0}, {}, std::as_bytes(std::span(&heap, 1)), nullptr);
  }
}

template <class Flow>
void ViaOver<Flow>::post_rdma(Rank rank, Rdma what, std::uint64_t offset, void* at,
                              std::size_t bytes) {
  Peer& peer = *peers_[rank];
  Queue& queue = peer.queues[kBlock];
  host_.waits().until({.what = "the address of a heap"}, Waits::of_rank(rank),
                      [&] { return peer.heap != 0; });
  host_.waits().until({.what = "room for one more RDMA"}, Waits::of_rank(rank),
                      [&] { return queue.rdma < kRdmaMax; });
  work_.charge(run::LayerStep::splitc_via_send);
  Slot& slot = free_slot(queue);
  slot.rdma = what;
  ++queue.rdma;
  VIP_DESCRIPTOR& descriptor = *slot.descriptor;
  descriptor.CS.SegCount = 2;
  descriptor.CS.Control = what == Rdma::write ? VIP_CONTROL_OP_RDMAWRITE : VIP_CONTROL_OP_RDMAREAD;
  descriptor.DS[0].Remote.Data.AddressBits = peer.heap + offset;
  descriptor.DS[0].Remote.Handle = peer.heap_handle;
  VIP_DATA_SEGMENT& local = descriptor.DS[1].Local;
  local.Data.Address = at == nullptr ? slot.buffer : at;
  local.Handle = at == nullptr ? queue.memory : handle_of(slot, at, bytes);
  local.Length = static_cast<VIP_UINT32>(bytes);
  post(queue, slot);
}

template <class Flow>
void ViaOver<Flow>::rdma(Rank rank, Rdma what, std::uint64_t offset, void* to, std::size_t bytes) {
  auto* at = static_cast<std::byte*>(to);
  if (what == Rdma::write) peers_[rank]->has_writes = true;
  while (bytes > 0) {
    const std::size_t part = std::min(bytes, kRdmaBytesMax);
    if (what == Rdma::get) ++gets_;
    post_rdma(rank, what, offset, at, part);
    at += part;
    offset += part;
    bytes -= part;
  }
}

template <class Flow>
void ViaOver<Flow>::rdma_store(Rank rank, std::uint64_t offset, const void* from,
                               std::size_t bytes) {
  rdma(rank, Rdma::write, offset, const_cast<void*>(from), bytes);
  const auto count = static_cast<std::uint32_t>(bytes);
  await_sent(request(rank, {Kind::stored, 0, 0}, std::as_bytes(std::span(&count, 1)), {}, nullptr));
}

template <class Flow>
void ViaOver<Flow>::rdma_done(Queue& queue, Slot& slot) {
  --queue.rdma;
  if (slot.rdma == Rdma::get) --gets_;
  if (slot.rdma == Rdma::fence) --puts_;
  slot.rdma = Rdma::none;
}

template <class Flow>
void ViaOver<Flow>::fence_writes() {
  for (Rank rank = 0; rank < port_.size(); ++rank) {
    if (peers_[rank] == nullptr || !peers_[rank]->has_writes) continue;
    peers_[rank]->has_writes = false;
    ++puts_;
    post_rdma(rank, Rdma::fence, 0, nullptr, sizeof(std::uint64_t));
  }
}

// Whether a send or an RDMA that somebody may wait for is over and not yet taken off its queue.
template <class Flow>
bool ViaOver<Flow>::has_left() const {
  if (heap_handle_ == 0) return false;
  for (const auto& peer : peers_) {
    if (peer == nullptr) continue;
    for (const Queue& queue : peer->queues) {
      if (queue.posted == 0) continue;
      for (const Slot& slot : queue.sends) {
        if (!slot.posted) continue;
        const std::atomic_ref<VIP_UINT32> status(slot.descriptor->CS.Status);
        if ((status.load(std::memory_order_acquire) & VIP_STATUS_DONE) != 0) return true;
      }
    }
  }
  return false;
}

// The other members are instantiated in via.cc and via_connections.cc.
#define FAIRLEAD_INSTANTIATE(Flow)                                                        \
  template VIP_MEM_HANDLE ViaOver<Flow>::handle_of(Slot&, const void*, std::size_t);      \
  template void ViaOver<Flow>::await_sent(const Queue&);                                  \
  template void ViaOver<Flow>::tell_heap();                                               \
  template void ViaOver<Flow>::rdma(Rank, Rdma, std::uint64_t, void*, std::size_t);       \
  template void ViaOver<Flow>::rdma_store(Rank, std::uint64_t, const void*, std::size_t); \
  template void ViaOver<Flow>::rdma_done(Queue&, Slot&);                                  \
  template bool ViaOver<Flow>::has_left() const;                                          \
  template void ViaOver<Flow>::fence_writes()

FAIRLEAD_INSTANTIATE(CreditFlow);
FAIRLEAD_INSTANTIATE(NumberFlow);
FAIRLEAD_INSTANTIATE(SelectiveFlow);
#undef FAIRLEAD_INSTANTIATE

}  // namespace fairlead::splitc
