// The entry points of vipl.h that make, look at and destroy objects.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "fairlead/run/launch/attach.h"
#include "fairlead/systems/via/call.h"

using fairlead::via::Core;
using fairlead::via::Nic;
using fairlead::via::Ptag;
using fairlead::via::Queue;
using fairlead::via::Region;
using fairlead::via::Vi;

namespace {

constexpr VIP_ULONG kRegisterMax = VIP_ULONG{1} << 46;

VIP_RETURN check(const Core& core, const Nic* nic, const VIP_VI_ATTRIBUTES& attributes) {
  const VIP_RELIABILITY_LEVEL level = attributes.ReliabilityLevel;
  if (level == 0 || (level & (level - 1)) != 0 || (level & ~core.levels()) != 0) {
    return VIP_INVALID_RELIABILITY_LEVEL;
  }
  if (attributes.MaxTransferSize > fairlead::via::kTransferMax) return VIP_INVALID_MTU;
  const Ptag* const ptag = core.ptags.find(attributes.Ptag);
  if (ptag == nullptr || ptag->nic != nic) return VIP_INVALID_PTAG;
  const bool reads = attributes.EnableRdmaRead != VIP_FALSE;
  return reads && level == VIP_SERVICE_UNRELIABLE ? VIP_INVALID_RDMAREAD : VIP_SUCCESS;
}

// A protection tag of the NIC, or none.
bool good_ptag(const Core& core, const Nic* nic, const VIP_MEM_ATTRIBUTES& attributes) {
  if (attributes.Ptag == nullptr) return true;
  const Ptag* const ptag = core.ptags.find(attributes.Ptag);
  return ptag != nullptr && ptag->nic == nic;
}

bool has_objects(const Core& core, const Nic* nic) {
  std::size_t objects = 0;
  const auto count = [&](const auto& each) { objects += each.nic == nic ? 1 : 0; };
  core.ptags.for_each(count);
  core.queues.for_each(count);
  core.vis.for_each(count);
  core.connections.for_each(count);
  return objects > 0;
}

}  // namespace

extern "C" {

VIP_RETURN VipOpenNic(const VIP_CHAR*, VIP_NIC_HANDLE* nic) {
  if (nic == nullptr) return VIP_INVALID_PARAMETER;
  const fairlead::Result<fairlead::run::Context*> joined = fairlead::run::attach();
  if (!joined.ok()) return VIP_ERROR_RESOURCE;
  fairlead::run::Context& context = *joined.value();
  constexpr auto kSystem = fairlead::run::System::via;
  if (context.state(kSystem) == nullptr) {
    const char* const text = std::getenv(fairlead::via::kLossVariable);
    const auto plan = fairlead::via::parse_loss_plan(text == nullptr ? "" : text);
    if (!plan.ok()) {
      std::fprintf(stderr, "VIPL: %s\n", plan.error().text.c_str());
      return VIP_ERROR_RESOURCE;
    }
    context.set_state(kSystem, std::make_unique<Core>(context, plan.value()));
  }
  Core& core = *static_cast<Core*>(context.state(kSystem));
  if (core.nics.size() == 0) context.began(kSystem);
  Nic* const made = core.nics.add(std::make_unique<Nic>());
  if (made == nullptr) return VIP_ERROR_RESOURCE;
  *nic = made->handle;
  return VIP_SUCCESS;
}

VIP_RETURN VipCloseNic(VIP_NIC_HANDLE handle) {
  FAIRLEAD_VIA_NIC(core, nic, handle, true);
  if (has_objects(*core, nic) || core->memory().count_of(nic->handle) > 0) {
    return VIP_ERROR_RESOURCE;
  }
  core->nics.remove(nic);
  if (core->nics.size() == 0) {
    core->finish();
    core->context().ended(fairlead::run::System::via);
  }
  return VIP_SUCCESS;
}

VIP_RETURN VipQueryNic(VIP_NIC_HANDLE handle, VIP_NIC_ATTRIBUTES* attributes) {
  FAIRLEAD_VIA_NIC(core, nic, handle, attributes != nullptr);
  VIP_NIC_ATTRIBUTES& to = *attributes;
  to = {};
  std::snprintf(to.Name, sizeof to.Name, "fairlead");
  to.HardwareVersion = 1;
  to.ProviderVersion = 1;
  to.NicAddressLen = fairlead::via::kHostBytes;
  to.LocalNicAddress = core->host_address();
  to.ThreadSafe = VIP_FALSE;
  to.MaxDiscriminatorLen = fairlead::via::kDiscriminatorMax;
  to.MaxRegisterBytes = kRegisterMax;
  to.MaxRegisterRegions = fairlead::via::Memory::kRegionsMax;
  to.MaxRegisterBlockBytes = kRegisterMax;
  to.MaxVI = decltype(core->vis)::kMost;
  to.MaxDescriptorsPerQueue = fairlead::via::kDescriptorsMax;
  to.MaxSegmentsPerDesc = core->segments_max();
  to.MaxCQ = decltype(core->queues)::kMost;
  to.MaxCQEntries = fairlead::via::kEntriesMax;
  to.MaxTransferSize = fairlead::via::kTransferMax;
  to.NativeMTU = core->least_mtu();
  to.MaxPtags = decltype(core->ptags)::kMost;
  to.ReliabilityLevelSupport = core->levels();
  to.RDMAReadSupport = core->levels() & ~VIP_SERVICE_UNRELIABLE;
  return VIP_SUCCESS;
}

VIP_RETURN VipCreatePtag(VIP_NIC_HANDLE handle, VIP_PROTECTION_HANDLE* ptag) {
  FAIRLEAD_VIA_NIC(core, nic, handle, ptag != nullptr);
  auto made = std::make_unique<Ptag>();
  made->nic = nic;
  const Ptag* const added = core->ptags.add(std::move(made));
  if (added == nullptr) return VIP_ERROR_RESOURCE;
  *ptag = added->handle;
  return VIP_SUCCESS;
}

VIP_RETURN VipDestroyPtag(VIP_NIC_HANDLE handle, VIP_PROTECTION_HANDLE ptag) {
  FAIRLEAD_VIA_NIC(core, nic, handle, true);
  Ptag* const found = core->ptags.find(ptag);
  if (found == nullptr || found->nic != nic) return VIP_INVALID_PARAMETER;
  bool used = core->memory().uses(ptag);
  core->vis.for_each([&](const Vi& vi) { used = used || vi.attributes.Ptag == ptag; });
  if (used) return VIP_ERROR_RESOURCE;
  core->ptags.remove(found);
  return VIP_SUCCESS;
}

VIP_RETURN VipRegisterMem(VIP_NIC_HANDLE handle, VIP_PVOID address, VIP_ULONG length,
                          VIP_MEM_ATTRIBUTES* attributes, VIP_MEM_HANDLE* memory) {
  FAIRLEAD_VIA_NIC(core, nic, handle,
                   address != nullptr && length > 0 && length <= kRegisterMax && memory != nullptr);
  const VIP_MEM_ATTRIBUTES given = attributes == nullptr ? VIP_MEM_ATTRIBUTES{} : *attributes;
  if (!good_ptag(*core, nic, given)) return VIP_INVALID_PTAG;
  const VIP_MEM_HANDLE made = core->memory().add(nic->handle, address, length, given);
  if (made == 0) return VIP_ERROR_RESOURCE;
  core->opened(made, *core->memory().find(made, address));
  *memory = made;
  return VIP_SUCCESS;
}

VIP_RETURN VipDeregisterMem(VIP_NIC_HANDLE handle, VIP_PVOID address, VIP_MEM_HANDLE memory) {
  FAIRLEAD_VIA_NIC(core, nic, handle, true);
  const Region* const found = core->memory().find(memory, address);
  if (found == nullptr || found->nic != nic->handle) return VIP_INVALID_PARAMETER;
  if (found->posted > 0) return VIP_ERROR_RESOURCE;
  core->closed(memory, *found);
  core->memory().remove(memory);
  return VIP_SUCCESS;
}

VIP_RETURN VipQueryMem(VIP_NIC_HANDLE handle, VIP_PVOID address, VIP_MEM_HANDLE memory,
                       VIP_MEM_ATTRIBUTES* attributes) {
  FAIRLEAD_VIA_NIC(core, nic, handle, attributes != nullptr);
  const Region* const found = core->memory().find(memory, address);
  if (found == nullptr || found->nic != nic->handle) return VIP_INVALID_PARAMETER;
  *attributes = found->attributes;
  return VIP_SUCCESS;
}

VIP_RETURN VipSetMemAttributes(VIP_NIC_HANDLE handle, VIP_PVOID address, VIP_MEM_HANDLE memory,
                               VIP_MEM_ATTRIBUTES* attributes) {
  FAIRLEAD_VIA_NIC(core, nic, handle, attributes != nullptr);
  Region* const found = core->memory().find(memory, address);
  if (found == nullptr || found->nic != nic->handle) return VIP_INVALID_PARAMETER;
  if (!good_ptag(*core, nic, *attributes)) return VIP_INVALID_PTAG;
  if (found->posted > 0) return VIP_ERROR_RESOURCE;
  core->closed(memory, *found);
  found->attributes = *attributes;
  core->opened(memory, *found);
  return VIP_SUCCESS;
}

VIP_RETURN VipCreateVi(VIP_NIC_HANDLE handle, VIP_VI_ATTRIBUTES* attributes, VIP_CQ_HANDLE send_cq,
                       VIP_CQ_HANDLE recv_cq, VIP_VI_HANDLE* vi) {
  FAIRLEAD_VIA_NIC(core, nic, handle, attributes != nullptr && vi != nullptr);
  const VIP_RETURN good = check(*core, nic, *attributes);
  if (good != VIP_SUCCESS) return good;
  Queue* const sends = core->queues.find(send_cq);
  Queue* const receives = core->queues.find(recv_cq);
  for (const auto& [queue, given] : {std::pair{sends, send_cq}, std::pair{receives, recv_cq}}) {
    if (given != nullptr && (queue == nullptr || queue->nic != nic)) return VIP_INVALID_PARAMETER;
  }
  auto made = std::make_unique<Vi>();
  made->nic = nic;
  made->attributes = *attributes;
  made->send.completions = sends;
  made->receive.completions = receives;
  made->queue = core->port().open_queue();
  const std::uint32_t own = made->queue;
  const Vi* const added = core->vis.add(std::move(made));
  if (added == nullptr) {
    core->port().close_queue(own);
    return VIP_ERROR_RESOURCE;
  }
  if (sends != nullptr) ++sends->users;
  if (receives != nullptr) ++receives->users;
  *vi = added->handle;
  return VIP_SUCCESS;
}

VIP_RETURN VipDestroyVi(VIP_VI_HANDLE handle) {
  FAIRLEAD_VIA_VI(core, vi, handle, true);
  if (vi->state != VIP_STATE_IDLE) return VIP_INVALID_STATE;
  if (!vi->send.posted.empty() || !vi->receive.posted.empty()) return VIP_ERROR_RESOURCE;
  for (Queue* const queue : {vi->send.completions, vi->receive.completions}) {
    if (queue != nullptr) --queue->users;
  }
  core->forget_late(*vi);
  core->port().close_queue(vi->queue);
  core->vis.remove(vi);
  return VIP_SUCCESS;
}

VIP_RETURN VipSetViAttributes(VIP_VI_HANDLE handle, VIP_VI_ATTRIBUTES* attributes) {
  FAIRLEAD_VIA_VI(core, vi, handle, attributes != nullptr);
  if (vi->state != VIP_STATE_IDLE) return VIP_INVALID_STATE;
  const VIP_RETURN good = check(*core, vi->nic, *attributes);
  if (good != VIP_SUCCESS) return good;
  if (!vi->receive.posted.empty() || !vi->send.posted.empty()) return VIP_ERROR_RESOURCE;
  vi->attributes = *attributes;
  return VIP_SUCCESS;
}

VIP_RETURN VipQueryVi(VIP_VI_HANDLE handle, VIP_VI_STATE* state, VIP_VI_ATTRIBUTES* attributes,
                      VIP_BOOLEAN* send_queue_empty, VIP_BOOLEAN* recv_queue_empty) {
  FAIRLEAD_VIA_VI(core, vi, handle, true);
  if (state != nullptr) *state = vi->state;
  if (attributes != nullptr) *attributes = vi->attributes;
  if (send_queue_empty != nullptr) *send_queue_empty = vi->send.posted.empty() ? 1 : 0;
  if (recv_queue_empty != nullptr) *recv_queue_empty = vi->receive.posted.empty() ? 1 : 0;
  return VIP_SUCCESS;
}

VIP_RETURN VipCreateCQ(VIP_NIC_HANDLE handle, VIP_ULONG entries, VIP_CQ_HANDLE* cq) {
  FAIRLEAD_VIA_NIC(core, nic, handle, cq != nullptr && entries > 0);
  if (entries > fairlead::via::kEntriesMax) return VIP_ERROR_RESOURCE;
  auto made = std::make_unique<Queue>();
  made->nic = nic;
  made->room = entries;
  const Queue* const added = core->queues.add(std::move(made));
  if (added == nullptr) return VIP_ERROR_RESOURCE;
  *cq = added->handle;
  return VIP_SUCCESS;
}

VIP_RETURN VipDestroyCQ(VIP_CQ_HANDLE handle) {
  FAIRLEAD_VIA_QUEUE(core, queue, handle, true);
  if (queue->users > 0) return VIP_ERROR_RESOURCE;
  core->forget_entries(*queue);
  core->queues.remove(queue);
  return VIP_SUCCESS;
}

VIP_RETURN VipResizeCQ(VIP_CQ_HANDLE handle, VIP_ULONG entries) {
  FAIRLEAD_VIA_QUEUE(core, queue, handle, entries > 0);
  if (entries > fairlead::via::kEntriesMax || entries < queue->entries.size()) {
    return VIP_ERROR_RESOURCE;
  }
  queue->room = entries;
  core->count_entries(*queue);
  return VIP_SUCCESS;
}

VIP_RETURN VipErrorCallback(VIP_NIC_HANDLE handle, VIP_PVOID context,
                            void (*handler)(VIP_PVOID, VIP_ERROR_DESCRIPTOR*)) {
  FAIRLEAD_VIA_NIC(core, nic, handle, true);
  nic->error_context = context;
  nic->error_handler = handler;
  return VIP_SUCCESS;
}

}  // extern "C"
