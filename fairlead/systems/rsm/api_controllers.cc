// Controllers, the topology, local memory and ranges of ids.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "fairlead/systems/rsm/call.h"
#include "fairlead/systems/rsm/segment_ranges.h"

namespace fairlead::rsm {
namespace {

// The bits for aligned accesses of 1, 2, 4 and 8 bytes, as far as they have at most `most` bytes.
unsigned sizes_to(std::uint32_t most) {
  unsigned sizes = 0;
  for (const unsigned size : {RSM_DAS8, RSM_DAS16, RSM_DAS32, RSM_DAS64}) {
    if (size <= most) sizes |= size;
  }
  return sizes;
}

void set_name(char (&name)[RSM_MAXNAMELEN], std::uint32_t controller) {
  std::memset(name, 0, sizeof name);
  std::strncpy(name, controller_name(controller).c_str(), sizeof name - 1);
}

// One piece of memory, so that free() is enough: the header, then what it points to.
rsm_connections_t* make_connections(Node& node, std::uint32_t controller) {
  const std::vector<Rank>& lowest = node.lowest();
  const std::size_t most = controller == kLoopback ? 1 : lowest.size();
  auto* const made = static_cast<rsm_connections_t*>(
      std::calloc(1, sizeof(rsm_connections_t) + most * sizeof(rsm_remote_cntlr_t)));
  if (made == nullptr) return nullptr;
  set_name(made->hdr.cntlr_name, controller);
  made->hdr.local_hwaddr = node.self();
  rsm_remote_cntlr_t* to = made->remote_cntlr;
  for (Peer peer = 0; peer < lowest.size(); ++peer) {
    if (lowest[peer] >= node.port().size()) continue;
    if (controller == kLoopback && peer != node.self()) continue;
    if (rail_of(controller) > 0 && !node.has_rail(peer, rail_of(controller))) continue;
    to->remote_nodeid = peer;
    set_name(to->remote_cntlrname, controller);
    to->remote_hwaddr = peer;
    to->connection_state = node.port().path(lowest[peer]).down ? 0 : RSM_CONNECTION_ACTIVE;
    ++to;
  }
  made->hdr.remote_cntlr_count = static_cast<int>(to - made->remote_cntlr);
  return made;
}

}  // namespace

std::string controller_name(std::uint32_t controller) {
  return controller == kLoopback ? "loopback" : "fl" + std::to_string(rail_of(controller));
}

bool is_held(const Node& node, rsmapi_controller_handle_t controller) {
  const Handle number = number_of(controller);
  return number >= 1 && number <= node.controllers.size() && node.controllers[number - 1] > 0;
}

}  // namespace fairlead::rsm

using fairlead::Handle;
using fairlead::number_of;
using fairlead::pointer_of;
using fairlead::rsm::Call;
using fairlead::rsm::is_held;
using fairlead::rsm::kNoJob;

extern "C" {

int rsm_get_controller(char* name, rsmapi_controller_handle_t* controller) {
  if (name == nullptr || controller == nullptr) return RSMERR_BAD_ADDR;
  const Call call;
  if (!call) return kNoJob;
  for (std::uint32_t i = 0; i < call->controllers.size(); ++i) {
    if (fairlead::rsm::controller_name(i + 1) != name) continue;
    ++call->controllers[i];
    *controller = pointer_of<rsmapi_controller_handle_t>(i + 1);
    return RSM_SUCCESS;
  }
  return RSMERR_CTLR_NOT_PRESENT;
}

int rsm_get_controller_attr(rsmapi_controller_handle_t controller, rsmapi_controller_attr_t* attr) {
  using namespace fairlead::rsm;
  const Call call;
  if (!call) return kNoJob;
  if (!is_held(*call.operator->(), controller)) return RSMERR_BAD_CTLR_HNDL;
  if (attr == nullptr) return RSMERR_BAD_ADDR;
  *attr = {};
  attr->attr_direct_access_sizes = sizes_to(8);
  attr->attr_atomic_sizes = sizes_to(call->port().caps(call->port().self()).put_atomic_bytes);
  attr->attr_page_size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  attr->attr_max_export_segment_size = Exports::kSizeMost;
  attr->attr_tot_export_segment_size = Exports::kSizeMost;
  attr->attr_max_export_segments = Exports::kMost;
  attr->attr_max_import_map_size = Exports::kSizeMost;
  attr->attr_tot_import_map_size = Exports::kSizeMost;
  attr->attr_max_import_segments = Imports::kMost;
  return RSM_SUCCESS;
}

int rsm_release_controller(rsmapi_controller_handle_t controller) {
  const Call call;
  if (!call) return kNoJob;
  if (!is_held(*call.operator->(), controller)) return RSMERR_BAD_CTLR_HNDL;
  --call->controllers[number_of(controller) - 1];
  return RSM_SUCCESS;
}

int rsm_get_interconnect_topology(rsm_topology_t** topology) {
  using namespace fairlead::rsm;
  if (topology == nullptr) return RSMERR_BAD_TOPOLOGY_PTR;
  const Call call;
  if (!call) return kNoJob;
  auto* const made = static_cast<rsm_topology_t*>(std::calloc(
      1, sizeof(rsm_topology_t) + call->controllers.size() * sizeof(rsm_connections_t*)));
  if (made == nullptr) return RSMERR_INSUFFICIENT_MEM;
  made->topology_hdr.local_nodeid = call->self();
  for (std::uint32_t i = 0; i < call->controllers.size(); ++i) {
    made->connections[i] = make_connections(*call.operator->(), i + 1);
    if (made->connections[i] == nullptr) {
      rsm_free_interconnect_topology(made);
      return RSMERR_INSUFFICIENT_MEM;
    }
    ++made->topology_hdr.local_cntlr_count;
  }
  *topology = made;
  return RSM_SUCCESS;
}

void rsm_free_interconnect_topology(rsm_topology_t* topology) {
  if (topology == nullptr) return;
  for (unsigned i = 0; i < topology->topology_hdr.local_cntlr_count; ++i) {
    std::free(topology->connections[i]);
  }
  std::free(topology);
}

int rsm_create_localmemory_handle(rsmapi_controller_handle_t controller,
                                  rsm_localmemory_handle_t* handle, caddr_t address,
                                  size_t length) {
  using namespace fairlead::rsm;
  const Call call;
  if (!call) return kNoJob;
  if (!is_held(*call.operator->(), controller)) return RSMERR_BAD_CTLR_HNDL;
  if (handle == nullptr) return RSMERR_BAD_LOCALMEM_HNDL;
  if (length == 0) return RSMERR_BAD_LENGTH;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (address == nullptr || reinterpret_cast<std::uintptr_t>(address) % page != 0) {
    return RSMERR_BAD_ADDR;
  }
  const std::size_t pages = (length + page - 1) / page * page;
  if (pages < length || !is_mapped(address, pages)) return RSMERR_BAD_ADDR;
  const Handle made = call->local_memory().add(
      std::make_unique<LocalMemory>(LocalMemory{reinterpret_cast<std::byte*>(address), length}));
  if (made == 0) return RSMERR_INSUFFICIENT_MEM;
  *handle = pointer_of<rsm_localmemory_handle_t>(made);
  return RSM_SUCCESS;
}

int rsm_free_localmemory_handle(rsmapi_controller_handle_t controller,
                                rsm_localmemory_handle_t handle) {
  const Call call;
  if (!call) return kNoJob;
  if (!is_held(*call.operator->(), controller)) return RSMERR_BAD_CTLR_HNDL;
  if (call->local_memory().find(number_of(handle)) == nullptr) return RSMERR_BAD_LOCALMEM_HNDL;
  call->local_memory().remove(number_of(handle));
  return RSM_SUCCESS;
}

int rsm_get_segmentid_range(const char* application, rsm_memseg_id_t* base, uint32_t* length) {
  using namespace fairlead::rsm;
  if (application == nullptr || base == nullptr || length == nullptr) return RSMERR_BAD_ADDR;
  const char* const file = std::getenv("FAIRLEAD_RSM_SEGMENTID");
  SegmentRange range;
  const int code =
      find_range(file != nullptr ? file : "/etc/rsm/rsm.segmentid", application, &range);
  if (code != RSM_SUCCESS) return code;
  *base = range.base;
  *length = range.length;
  return RSM_SUCCESS;
}

}  // extern "C"
