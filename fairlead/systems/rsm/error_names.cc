#include <array>
#include <utility>

#include "fairlead/systems/rsm/rsmapi.h"

#define FAIRLEAD_RSM_CODES(X)                                                                      \
  X(RSM_SUCCESS)                                                                                   \
  X(RSMERR_BAD_LIBRARY_VERSION)                                                                    \
  X(RSMERR_BAD_TOPOLOGY_PTR)                                                                       \
  X(RSMERR_BAD_CTLR_HNDL)                                                                          \
  X(RSMERR_CTLR_NOT_PRESENT) X(RSMERR_BAD_SEG_HNDL) X(RSMERR_SEG_ALREADY_PUBLISHED) X(             \
      RSMERR_SEG_NOT_PUBLISHED) X(RSMERR_SEG_NOT_PUBLISHED_TO_NODE) X(RSMERR_SEG_ALREADY_MAPPED)   \
      X(RSMERR_SEG_STILL_MAPPED) X(RSMERR_SEG_NOT_MAPPED) X(RSMERR_NOT_CREATOR) X(                 \
          RSMERR_BAD_BARRIER_PTR) X(RSMERR_BAD_SGIO) X(RSMERR_BAD_LOCALMEM_HNDL)                   \
          X(RSMERR_BAD_ADDR) X(RSMERR_BAD_MEM_ALIGNMENT) X(RSMERR_BAD_OFFSET) X(                   \
              RSMERR_MISALIGNED_OFFSET) X(RSMERR_BAD_LENGTH) X(RSMERR_BAD_ACL) X(RSMERR_BAD_SEGID) \
              X(RSMERR_RESERVED_SEGID) X(RSMERR_SEGID_IN_USE) X(RSMERR_BAD_MODE)                   \
                  X(RSMERR_BAD_PERMS) X(RSMERR_PERM_DENIED) X(RSMERR_LOCKS_NOT_SUPPORTED)          \
                      X(RSMERR_LOCKS_NOT_ENABLED) X(RSMERR_REBIND_NOT_ALLOWED)                     \
                          X(RSMERR_INSUFFICIENT_RESOURCES) X(RSMERR_INSUFFICIENT_MEM)              \
                              X(RSMERR_MAP_FAILED) X(RSMERR_POLLFD_IN_USE)                         \
                                  X(RSMERR_BARRIER_UNINITIALIZED) X(RSMERR_BARRIER_OPEN_FAILED)    \
                                      X(RSMERR_BARRIER_NOT_OPENED) X(RSMERR_BARRIER_FAILURE)       \
                                          X(RSMERR_REMOTE_NODE_UNREACHABLE) X(RSMERR_CONN_ABORTED) \
                                              X(RSMERR_INTERRUPTED) X(RSMERR_TIMEOUT)              \
                                                  X(RSMERR_BAD_APPID) X(RSMERR_BAD_CONF)           \
                                                      X(RSMERR_SEG_NOT_CONNECTED)                  \
                                                          X(RSMERR_INTERNAL_ERROR)                 \
                                                              X(RSMERR_BAD_ARGS_ERRORS) X(         \
                                                                  RSMERR_COMM_ERR_MAYBE_DELIVERED) \
                                                                  X(RSMERR_COMM_ERR_NOT_DELIVERED) \
                                                                      X(RSMERR_QUEUE_FENCE_UP)     \
                                                                          X(RSMERR_QUEUE_FULL)

extern "C" const char* rsm_error_name(int code) {
  static constexpr std::pair<int, const char*> kNames[] = {
#define FAIRLEAD_RSM_NAME(name) {name, #name},
      FAIRLEAD_RSM_CODES(FAIRLEAD_RSM_NAME)
#undef FAIRLEAD_RSM_NAME
  };
  for (const auto& [number, name] : kNames) {
    if (number == code) return name;
  }
  return "an unknown code";
}
