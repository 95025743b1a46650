// RDMA that network interfaces do by themselves, where they know virtual interfaces (lci::ViRdma):
// what they are told, and what comes back from them.
#include <cstring>

#include "fairlead/systems/via/core.h"

namespace fairlead::via {
void Core::opened(VIP_MEM_HANDLE handle, const Region& region) {
  const VIP_MEM_ATTRIBUTES& its = region.attributes;
  const Ptag* const ptag = ptags.find(its.Ptag);
  if (rdma_ == nullptr || ptag == nullptr) return;
  rdma_->allow({handle, ptag->index, region.base, region.bytes, its.EnableRdmaWrite != VIP_FALSE,
                its.EnableRdmaRead != VIP_FALSE});
}
void Core::closed(VIP_MEM_HANDLE handle, const Region& region) {
  if (rdma_ != nullptr && region.attributes.Ptag != nullptr) rdma_->forbid(handle);
}

// Both ends have to come to one result. What the target's VI does not permit at all is the
// providers' to refuse; losses are theirs, too.
bool Core::moved_by_ni(const Vi& vi, bool is_read, bool has_immediate) const {
  const auto permits = [is_read](const VIP_VI_ATTRIBUTES& its) {
    return (is_read ? its.EnableRdmaRead : its.EnableRdmaWrite) != VIP_FALSE;
  };
  return interfaces_may_move(vi) && vi.peer_queue > 0 && !has_immediate && permits(vi.attributes) &&
         permits(vi.peer_attributes);
}

lci::RdmaHead Core::rdma_head(const Vi& vi, const Posted& posted) const {
  DataHead back;
  back.kind = posted.shape.is_read() ? DataKind::read_data : DataKind::done;
  back.has_immediate = !posted.shape.is_read();
  back.to = vi.name();
  back.bytes = posted.shape.bytes;
  back.immediate = posted.sequence;
  lci::RdmaHead made{};
  made.address = posted.shape.remote.Data.AddressBits;
  made.handle = posted.shape.remote.Handle;
  made.bytes = posted.shape.bytes;
  made.offset = posted.shape.is_read() ? 0 : posted.moved;
  made.queue = static_cast<std::uint16_t>(vi.peer_queue);
  made.connection = vi.peer_vi.connection;
  made.wants_done = vi.tells() && !posted.shape.is_read() ? 1 : 0;
  encode(back, made.answer);
  return made;
}

void Core::refused_came(Vi& vi, const DataHead& head, std::span<const std::byte> body) {
  lci::RdmaHead asked;
  if (body.size() < sizeof asked) return;
  std::memcpy(&asked, body.data(), sizeof asked);
  const bool is_read = head.kind == DataKind::read;
  // Unreliable VIs go on; all pieces of the write come here then.
  if (is_read || asked.offset == 0) {
    tell(vi.nic, is_read ? VIP_ERROR_RDMAR_PROT : VIP_ERROR_RDMAW_PROT, VIP_RESOURCE_VI, &vi,
         nullptr, nullptr, is_read ? VIP_STATUS_OP_RDMA_READ : VIP_STATUS_OP_REMOTE_RDMA_WRITE);
  }
  if (vi.reliable()) refuse(vi, std::nullopt, VIP_STATUS_RDMA_PROT_ERROR);
}

// The write of that number, which waits for what its network interface says of it.
Posted* Core::written_by_ni(Vi& vi, std::uint32_t number) {
  for (std::size_t i = vi.send.told; i < vi.send.next; ++i) {
    Posted& each = vi.send.posted[i];
    const bool waits = each.state == Posted::State::left && each.by_ni && !each.shape.is_read();
    if (waits && each.sequence == number) return &each;
  }
  return nullptr;
}

}  // namespace fairlead::via
