#include "fairlead/fabric/model/elan/elan_nic.h"

#include "fairlead/fabric/model/rdma/rdma_engine.h"
#include "fairlead/fabric/model/rdma/rdma_host.h"
#include "fairlead/fabric/model/rdma/remote_rdma_host.h"

namespace fairlead::fabric::model {

static_assert(kNoCounterNumber == kNoEvent);

template <class Host>
void ElanNic<Host>::name_segment(std::uint32_t segment, std::span<std::byte> memory,
                                 std::uint32_t permissions, std::span<const Peer> allowed) {
  Host& host = this->host();
  host.name_memory(segment, reinterpret_cast<std::uint64_t>(memory.data()), memory.size());
  if (allowed.empty()) host.permit(segment, permissions, RdmaEngine::kEverybody);
  for (const Peer who : allowed) host.permit(segment, permissions, who);
}

template <class Host>
Post ElanNic<Host>::start(const GroupOperation& operation) {
  if (operation.first >= this->peers() || operation.count == 0 ||
      operation.count > this->peers() - operation.first) {
    return Post::invalid;
  }
  if (!this->has_operation()) return Post::again_credit;
  const bool query = operation.what == GroupOperation::What::query;
  const std::uint32_t id = this->host().take();
  RdmaEntry& entry = this->copy_entry(id, query ? RdmaKind::query : RdmaKind::write,
                                      operation.first, operation.token, operation.holds);
  entry.size = query ? 0 : operation.size;
  entry.key = operation.segment;
  entry.offset = operation.offset;
  entry.address = reinterpret_cast<std::uint64_t>(operation.data);
  entry.a = operation.value;
  entry.b = operation.store_value;
  RdmaNamed& named = entry.named;
  named.used = 1;
  named.compare = operation.compare;
  named.stores = operation.stores ? 1 : 0;
  named.bumped = operation.bumped;
  named.after = operation.after;
  named.members = operation.count;
  named.after_value = operation.after_value;
  named.store_key = operation.store_segment;
  named.store_offset = operation.store_offset;
  // An event that is made ready for it, with a descriptor of its own.
  if (operation.after != kNoCounterNumber) this->host().spend(this->host().terms().arm);
  this->post_copy(id);
  return Post::done;
}

template <class Host>
void ElanNic<Host>::look_at(std::uint16_t counter) {
  const std::uint32_t id = this->host().take();
  RdmaEntry& entry = this->host().front(id).entry;
  entry = {};
  entry.kind = RdmaKind::look;
  entry.queue = kCopyQueue;
  entry.dest = this->host().self();
  entry.named.after = counter;
  this->post_copy(id);
}

template class ElanNic<RdmaHost>;
template class ElanNic<RemoteRdmaHost>;

}  // namespace fairlead::fabric::model
