// Put and get in all their forms.
#include "fairlead/systems/rsm/call.h"

namespace fairlead::rsm {
namespace {

template <class T>
int put(rsm_memseg_import_handle_t segment, off_t offset, const T* data, unsigned long count) {
  const Call call;
  if (!call) return kNoJob;
  return call->imports().put(number_of(segment), offset, data, sizeof(T), count);
}

template <class T>
int get(rsm_memseg_import_handle_t segment, off_t offset, T* data, unsigned long count) {
  const Call call;
  if (!call) return kNoJob;
  return call->imports().get(number_of(segment), offset, data, sizeof(T), count);
}

// Where an entry's local bytes are.
int local_address(Node& node, const rsm_iovec_t& entry, std::byte** at) {
  if (entry.io_type == RSM_VA_TYPE) {
    if (entry.local.vaddr == nullptr) return RSMERR_BAD_ADDR;
    *at = reinterpret_cast<std::byte*>(entry.local.vaddr) + entry.local_offset;
    return RSM_SUCCESS;
  }
  if (entry.io_type != RSM_HANDLE_TYPE) return RSMERR_BAD_SGIO;
  const LocalMemory* const memory = node.local_memory().find(number_of(entry.local.handle));
  if (memory == nullptr) return RSMERR_BAD_LOCALMEM_HNDL;
  if (entry.local_offset >= memory->size) return RSMERR_BAD_OFFSET;
  if (entry.transfer_length > memory->size - entry.local_offset) return RSMERR_BAD_LENGTH;
  *at = memory->at + entry.local_offset;
  return RSM_SUCCESS;
}

// move(offset, bytes, size): one entry's.
template <class Move>
int move_list(rsm_scat_gath_t* list, Move&& move) {
  const Call call;
  if (!call) return kNoJob;
  if (list == nullptr || list->iovec == nullptr || list->io_request_count == 0 ||
      list->io_request_count > RSM_MAX_SGIOREQS) {
    return RSMERR_BAD_SGIO;
  }
  Imports& imports = call->imports();
  const Handle segment = number_of(list->remote_handle);
  if (imports.find(segment) == nullptr) return RSMERR_BAD_SEG_HNDL;
  list->io_residual_count = list->io_request_count;
  for (unsigned long i = 0; i < list->io_request_count; ++i) {
    const rsm_iovec_t& entry = list->iovec[i];
    std::byte* at = nullptr;
    int code = local_address(*call.operator->(), entry, &at);
    if (code == RSM_SUCCESS && entry.remote_offset > Exports::kSizeMost) code = RSMERR_BAD_OFFSET;
    if (code == RSM_SUCCESS) {
      code = move(imports, segment, static_cast<off_t>(entry.remote_offset), at,
                  entry.transfer_length);
    }
    if (code != RSM_SUCCESS) return code;
    --list->io_residual_count;
  }
  if ((list->flags & RSM_IMPLICIT_SIGPOST) == 0) return RSM_SUCCESS;
  return imports.post_after_accesses(segment, list->flags & RSM_SIGPOST_NO_ACCUMULATE);
}

}  // namespace
}  // namespace fairlead::rsm

extern "C" {

int rsm_memseg_import_put8(rsm_memseg_import_handle_t segment, off_t offset, uint8_t* data,
                           unsigned long count) {
  return fairlead::rsm::put(segment, offset, data, count);
}
int rsm_memseg_import_put16(rsm_memseg_import_handle_t segment, off_t offset, uint16_t* data,
                            unsigned long count) {
  return fairlead::rsm::put(segment, offset, data, count);
}
int rsm_memseg_import_put32(rsm_memseg_import_handle_t segment, off_t offset, uint32_t* data,
                            unsigned long count) {
  return fairlead::rsm::put(segment, offset, data, count);
}
int rsm_memseg_import_put64(rsm_memseg_import_handle_t segment, off_t offset, uint64_t* data,
                            unsigned long count) {
  return fairlead::rsm::put(segment, offset, data, count);
}
int rsm_memseg_import_put(rsm_memseg_import_handle_t segment, off_t offset, void* data,
                          size_t length) {
  return fairlead::rsm::put(segment, offset, static_cast<const uint8_t*>(data), length);
}
int rsm_memseg_import_get8(rsm_memseg_import_handle_t segment, off_t offset, uint8_t* data,
                           unsigned long count) {
  return fairlead::rsm::get(segment, offset, data, count);
}
int rsm_memseg_import_get16(rsm_memseg_import_handle_t segment, off_t offset, uint16_t* data,
                            unsigned long count) {
  return fairlead::rsm::get(segment, offset, data, count);
}
int rsm_memseg_import_get32(rsm_memseg_import_handle_t segment, off_t offset, uint32_t* data,
                            unsigned long count) {
  return fairlead::rsm::get(segment, offset, data, count);
}
int rsm_memseg_import_get64(rsm_memseg_import_handle_t segment, off_t offset, uint64_t* data,
                            unsigned long count) {
  return fairlead::rsm::get(segment, offset, data, count);
}
int rsm_memseg_import_get(rsm_memseg_import_handle_t segment, off_t offset, void* data,
                          size_t length) {
  return fairlead::rsm::get(segment, offset, static_cast<uint8_t*>(data), length);
}

int rsm_memseg_import_putv(rsm_scat_gath_t* list) {
  using fairlead::rsm::Imports;
  return fairlead::rsm::move_list(
      list, [](Imports& imports, fairlead::Handle segment, off_t offset, const std::byte* at,
               size_t size) { return imports.put(segment, offset, at, 1, size); });
}
int rsm_memseg_import_getv(rsm_scat_gath_t* list) {
  using fairlead::rsm::Imports;
  return fairlead::rsm::move_list(
      list, [](Imports& imports, fairlead::Handle segment, off_t offset, std::byte* at,
               size_t size) { return imports.get(segment, offset, at, 1, size); });
}

}  // extern "C"
