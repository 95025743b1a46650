#include "fairlead/systems/mpi/errors.h"

#include <fmt/format.h>

#include "fairlead/systems/mpi/mpi.h"

namespace fairlead::mpi {
namespace {

struct Row {
  int value;
  ErrorClass error;
};
constexpr Row kErrors[] = {
    {MPI_SUCCESS, {"MPI_SUCCESS", "no error"}},
    {MPI_ERR_BUFFER, {"MPI_ERR_BUFFER", "invalid buffer address"}},
    {MPI_ERR_COUNT, {"MPI_ERR_COUNT", "invalid count"}},
    {MPI_ERR_TYPE, {"MPI_ERR_TYPE", "invalid datatype"}},
    {MPI_ERR_TAG, {"MPI_ERR_TAG", "invalid tag"}},
    {MPI_ERR_COMM, {"MPI_ERR_COMM", "invalid communicator"}},
    {MPI_ERR_RANK, {"MPI_ERR_RANK", "invalid rank"}},
    {MPI_ERR_REQUEST, {"MPI_ERR_REQUEST", "invalid request"}},
    {MPI_ERR_ROOT, {"MPI_ERR_ROOT", "invalid root"}},
    {MPI_ERR_GROUP, {"MPI_ERR_GROUP", "invalid group"}},
    {MPI_ERR_OP, {"MPI_ERR_OP", "invalid operation"}},
    {MPI_ERR_TOPOLOGY, {"MPI_ERR_TOPOLOGY", "invalid topology"}},
    {MPI_ERR_DIMS, {"MPI_ERR_DIMS", "invalid dimensions"}},
    {MPI_ERR_ARG, {"MPI_ERR_ARG", "invalid argument"}},
    {MPI_ERR_UNKNOWN, {"MPI_ERR_UNKNOWN", "unknown error"}},
    {MPI_ERR_TRUNCATE, {"MPI_ERR_TRUNCATE", "the message is longer than the receive buffer"}},
    {MPI_ERR_OTHER, {"MPI_ERR_OTHER", "known error of no other class"}},
    {MPI_ERR_INTERN, {"MPI_ERR_INTERN", "internal error of the library"}},
    {MPI_ERR_PENDING, {"MPI_ERR_PENDING", "the request is not complete"}},
    {MPI_ERR_IN_STATUS, {"MPI_ERR_IN_STATUS", "the error is in the statuses"}},
    {MPI_ERR_ACCESS, {"MPI_ERR_ACCESS", "permission denied"}},
    {MPI_ERR_AMODE, {"MPI_ERR_AMODE", "invalid access mode of a file"}},
    {MPI_ERR_ASSERT, {"MPI_ERR_ASSERT", "invalid assertion"}},
    {MPI_ERR_BAD_FILE, {"MPI_ERR_BAD_FILE", "invalid file name"}},
    {MPI_ERR_BASE, {"MPI_ERR_BASE", "invalid base address"}},
    {MPI_ERR_CONVERSION, {"MPI_ERR_CONVERSION", "data conversion failed"}},
    {MPI_ERR_DISP, {"MPI_ERR_DISP", "invalid displacement"}},
    {MPI_ERR_DUP_DATAREP, {"MPI_ERR_DUP_DATAREP", "data representation defined twice"}},
    {MPI_ERR_FILE_EXISTS, {"MPI_ERR_FILE_EXISTS", "the file exists"}},
    {MPI_ERR_FILE_IN_USE, {"MPI_ERR_FILE_IN_USE", "the file is in use"}},
    {MPI_ERR_FILE, {"MPI_ERR_FILE", "invalid file handle"}},
    {MPI_ERR_INFO_KEY, {"MPI_ERR_INFO_KEY", "info key too long"}},
    {MPI_ERR_INFO_NOKEY, {"MPI_ERR_INFO_NOKEY", "no such info key"}},
    {MPI_ERR_INFO_VALUE, {"MPI_ERR_INFO_VALUE", "info value too long"}},
    {MPI_ERR_INFO, {"MPI_ERR_INFO", "invalid info object"}},
    {MPI_ERR_IO, {"MPI_ERR_IO", "input or output failed"}},
    {MPI_ERR_KEYVAL, {"MPI_ERR_KEYVAL", "invalid attribute key"}},
    {MPI_ERR_LOCKTYPE, {"MPI_ERR_LOCKTYPE", "invalid lock type"}},
    {MPI_ERR_NAME, {"MPI_ERR_NAME", "service name not published"}},
    {MPI_ERR_NO_MEM, {"MPI_ERR_NO_MEM", "out of memory"}},
    {MPI_ERR_NOT_SAME, {"MPI_ERR_NOT_SAME", "arguments differ between ranks"}},
    {MPI_ERR_NO_SPACE, {"MPI_ERR_NO_SPACE", "no space on the device"}},
    {MPI_ERR_NO_SUCH_FILE, {"MPI_ERR_NO_SUCH_FILE", "no such file"}},
    {MPI_ERR_PORT, {"MPI_ERR_PORT", "invalid port name"}},
    {MPI_ERR_QUOTA, {"MPI_ERR_QUOTA", "quota exceeded"}},
    {MPI_ERR_READ_ONLY, {"MPI_ERR_READ_ONLY", "the file or file system is read-only"}},
    {MPI_ERR_RMA_ATTACH, {"MPI_ERR_RMA_ATTACH", "memory cannot be attached to the window"}},
    {MPI_ERR_RMA_CONFLICT, {"MPI_ERR_RMA_CONFLICT", "conflicting accesses to a window"}},
    {MPI_ERR_RMA_RANGE, {"MPI_ERR_RMA_RANGE", "target memory is not part of the window"}},
    {MPI_ERR_RMA_SHARED, {"MPI_ERR_RMA_SHARED", "memory cannot be shared"}},
    {MPI_ERR_RMA_SYNC, {"MPI_ERR_RMA_SYNC", "wrong synchronization of a window"}},
    {MPI_ERR_SERVICE, {"MPI_ERR_SERVICE", "service name cannot be unpublished"}},
    {MPI_ERR_SIZE, {"MPI_ERR_SIZE", "invalid size"}},
    {MPI_ERR_SPAWN, {"MPI_ERR_SPAWN", "processes cannot be started"}},
    {MPI_ERR_UNSUPPORTED_DATAREP,
     {"MPI_ERR_UNSUPPORTED_DATAREP", "unsupported data representation"}},
    {MPI_ERR_UNSUPPORTED_OPERATION, {"MPI_ERR_UNSUPPORTED_OPERATION", "unsupported operation"}},
    {MPI_ERR_WIN, {"MPI_ERR_WIN", "invalid window"}},
    {MPI_ERR_RMA_FLAVOR, {"MPI_ERR_RMA_FLAVOR", "wrong kind of window"}},
    {MPI_ERR_PROC_ABORTED, {"MPI_ERR_PROC_ABORTED", "a process of the job is gone"}},
    {MPI_ERR_VALUE_TOO_LARGE, {"MPI_ERR_VALUE_TOO_LARGE", "the value does not fit the argument"}},
    {MPI_ERR_SESSION, {"MPI_ERR_SESSION", "invalid session"}},
    {MPI_ERR_ERRHANDLER, {"MPI_ERR_ERRHANDLER", "invalid error handler"}},
    {MPI_ERR_ABI, {"MPI_ERR_ABI", "error of the binary interface"}},
    {MPI_ERR_LASTCODE, {"MPI_ERR_LASTCODE", "last error code of the standard"}},
};

}  // namespace

const ErrorClass* find_error(int error) {
  for (const Row& row : kErrors) {
    if (row.value == error) return &row.error;
  }
  return nullptr;
}

std::string text_of_error(int code, const std::string* added) {
  if (const ErrorClass* known = find_error(code); known != nullptr) {
    return fmt::format("{}: {}", known->name, known->text);
  }
  return added != nullptr ? *added : fmt::format("{} is no MPI error code", code);
}

}  // namespace fairlead::mpi
