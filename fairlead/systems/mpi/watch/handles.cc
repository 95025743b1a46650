#include "fairlead/systems/mpi/watch/handles.h"

#include "fairlead/systems/mpi/handle_numbers.h"

namespace fairlead::mpi {

void Handles::made(ObjectKind kind, const void* handle, const std::string& what) {
  if (reinterpret_cast<std::uintptr_t>(handle) < kFirstObject) return;
  Made& made = all_[{kind, handle}];
  made.what = what;
  ++made.times;
}

void Handles::freed(ObjectKind kind, const void* handle) {
  const auto found = all_.find({kind, handle});
  if (found != all_.end() && --found->second.times == 0) all_.erase(found);
}

const char* name_of(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::none:
      break;
    case ObjectKind::comm:
      return "communicator";
    case ObjectKind::group:
      return "group";
    case ObjectKind::datatype:
      return "datatype";
    case ObjectKind::op:
      return "operation";
    case ObjectKind::win:
      return "window";
    case ObjectKind::info:
      return "info";
    case ObjectKind::errhandler:
      return "error handler";
    case ObjectKind::message:
      return "message of MPI_Mprobe";
    case ObjectKind::request:
      return "request";
  }
  return "object";
}

}  // namespace fairlead::mpi
