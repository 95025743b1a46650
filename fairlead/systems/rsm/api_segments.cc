// Export, import, mapping and barriers, and what is Fairlead's own.
#include <span>

#include "fairlead/systems/rsm/call.h"

using fairlead::Handle;
using fairlead::number_of;
using fairlead::pointer_of;
using fairlead::rsm::Call;
using fairlead::rsm::is_held;
using fairlead::rsm::kNoJob;

namespace {

// A NULL list of some length is none: told from one that is there by its first address.
std::span<const rsmapi_access_entry_t> list_of(const rsmapi_access_entry_t* list, unsigned length) {
  return {list, length};
}

Handle number_of_barrier(const rsmapi_barrier_t* barrier) {
  return barrier->seg == nullptr ? 0 : number_of(barrier->privdata);
}

}  // namespace

extern "C" {

int rsm_memseg_export_create(rsmapi_controller_handle_t controller,
                             rsm_memseg_export_handle_t* segment, void* address, size_t length,
                             unsigned flags) {
  const Call call;
  if (!call) return kNoJob;
  if (!is_held(*call.operator->(), controller)) return RSMERR_BAD_CTLR_HNDL;
  if (segment == nullptr) return RSMERR_BAD_SEG_HNDL;
  Handle handle = 0;
  const int code = call->exports().create(address, length, flags, &handle);
  if (code == RSM_SUCCESS) *segment = pointer_of<rsm_memseg_export_handle_t>(handle);
  return code;
}
int rsm_memseg_export_destroy(rsm_memseg_export_handle_t segment) {
  const Call call;
  return call ? call->exports().destroy(number_of(segment)) : kNoJob;
}
int rsm_memseg_export_rebind(rsm_memseg_export_handle_t segment, void* address, off_t,
                             size_t length) {
  const Call call;
  return call ? call->exports().rebind(number_of(segment), address, length) : kNoJob;
}
int rsm_memseg_export_publish(rsm_memseg_export_handle_t segment, rsm_memseg_id_t* id,
                              rsmapi_access_entry_t access_list[], unsigned access_list_length) {
  const Call call;
  if (!call) return kNoJob;
  return call->exports().publish(number_of(segment), id, list_of(access_list, access_list_length));
}
int rsm_memseg_export_republish(rsm_memseg_export_handle_t segment,
                                rsmapi_access_entry_t access_list[], unsigned access_list_length) {
  const Call call;
  if (!call) return kNoJob;
  return call->exports().republish(number_of(segment), list_of(access_list, access_list_length));
}
int rsm_memseg_export_unpublish(rsm_memseg_export_handle_t segment) {
  const Call call;
  return call ? call->exports().unpublish(number_of(segment)) : kNoJob;
}

int rsm_memseg_import_connect(rsmapi_controller_handle_t controller, rsm_node_id_t node,
                              rsm_memseg_id_t id, rsm_permission_t perm,
                              rsm_memseg_import_handle_t* segment) {
  const Call call;
  if (!call) return kNoJob;
  if (!is_held(*call.operator->(), controller)) return RSMERR_BAD_CTLR_HNDL;
  if (segment == nullptr) return RSMERR_BAD_ADDR;
  if (number_of(controller) == fairlead::rsm::kLoopback && node != call->self()) {
    return RSMERR_REMOTE_NODE_UNREACHABLE;
  }
  const std::uint32_t rail = fairlead::rsm::rail_of(number_of(controller));
  if (rail > 0 && node < call->lowest().size() && !call->has_rail(node, rail)) {
    return RSMERR_REMOTE_NODE_UNREACHABLE;
  }
  Handle handle = 0;
  const int code = call->imports().connect(node, id, perm, &handle, rail);
  if (code == RSM_SUCCESS) *segment = pointer_of<rsm_memseg_import_handle_t>(handle);
  return code;
}
int rsm_memseg_import_disconnect(rsm_memseg_import_handle_t segment) {
  const Call call;
  return call ? call->imports().disconnect(number_of(segment)) : kNoJob;
}

int rsm_memseg_import_map(rsm_memseg_import_handle_t segment, void** address, rsm_attribute_t attr,
                          rsm_permission_t perm, off_t offset, size_t length) {
  const Call call;
  if (!call) return kNoJob;
  return call->imports().map(number_of(segment), address, attr, perm, offset, length);
}
int rsm_memseg_import_unmap(rsm_memseg_import_handle_t segment) {
  const Call call;
  return call ? call->imports().unmap(number_of(segment)) : kNoJob;
}

int rsm_memseg_import_init_barrier(rsm_memseg_import_handle_t segment, rsm_barrier_type_t type,
                                   rsmapi_barrier_t* barrier) {
  const Call call;
  if (!call) return kNoJob;
  if (barrier == nullptr) return RSMERR_BAD_BARRIER_PTR;
  Handle handle = 0;
  const int code = call->imports().init_barrier(number_of(segment), type, &handle);
  if (code == RSM_SUCCESS) *barrier = {segment, 0, pointer_of<void*>(handle)};
  return code;
}
int rsm_memseg_import_open_barrier(rsmapi_barrier_t* barrier) {
  const Call call;
  if (!call) return kNoJob;
  if (barrier == nullptr) return RSMERR_BAD_BARRIER_PTR;
  return call->imports().open(number_of_barrier(barrier));
}
int rsm_memseg_import_close_barrier(rsmapi_barrier_t* barrier) {
  const Call call;
  if (!call) return kNoJob;
  if (barrier == nullptr) return RSMERR_BAD_BARRIER_PTR;
  return call->imports().close(number_of_barrier(barrier));
}
int rsm_memseg_import_order_barrier(rsmapi_barrier_t* barrier) {
  const Call call;
  if (!call) return kNoJob;
  if (barrier == nullptr) return RSMERR_BAD_BARRIER_PTR;
  return call->imports().order(number_of_barrier(barrier));
}
int rsm_memseg_import_destroy_barrier(rsmapi_barrier_t* barrier) {
  const Call call;
  if (!call) return kNoJob;
  if (barrier == nullptr) return RSMERR_BAD_BARRIER_PTR;
  const int code = call->imports().destroy_barrier(number_of_barrier(barrier));
  *barrier = {};
  return code;
}
int rsm_memseg_import_get_mode(rsm_memseg_import_handle_t segment, rsm_barrier_mode_t* mode) {
  const Call call;
  if (!call) return kNoJob;
  const auto* const imported = call->imports().find(number_of(segment));
  if (imported == nullptr) return RSMERR_BAD_SEG_HNDL;
  if (mode == nullptr) return RSMERR_BAD_ADDR;
  *mode = imported->explicit_barriers ? RSM_BARRIER_MODE_EXPLICIT : RSM_BARRIER_MODE_IMPLICIT;
  return RSM_SUCCESS;
}
int rsm_memseg_import_set_mode(rsm_memseg_import_handle_t segment, rsm_barrier_mode_t mode) {
  const Call call;
  if (!call) return kNoJob;
  auto* const imported = call->imports().find(number_of(segment));
  if (imported == nullptr) return RSMERR_BAD_SEG_HNDL;
  if (mode != RSM_BARRIER_MODE_EXPLICIT && mode != RSM_BARRIER_MODE_IMPLICIT) {
    return RSMERR_BAD_MODE;
  }
  imported->explicit_barriers = mode == RSM_BARRIER_MODE_EXPLICIT;
  return RSM_SUCCESS;
}

int rsm_block_store(void* mapped, const void* line) {
  const Call call;
  return call ? call->imports().block_store(mapped, line) : kNoJob;
}
int rsm_block_load(const void* mapped, void* line) {
  const Call call;
  return call ? call->imports().block_load(mapped, line) : kNoJob;
}

unsigned rsm_rank(void) {
  const Call call;
  return call ? call->port().self() : 0;
}
unsigned rsm_ranks(void) {
  const Call call;
  return call ? call->port().size() : 1;
}
rsm_node_id_t rsm_node_of(unsigned rank) {
  const Call call;
  return call && rank < call->port().size() ? call->context().node_of(rank) : 0;
}
void rsm_exit(void) {
  const Call call;
  if (call) call->leave();
}

}  // extern "C"
