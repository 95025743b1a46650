// Handles as integers.
#include "fairlead/systems/mpi/anytime_call.h"
#include "fairlead/systems/mpi/calls.h"

namespace fairlead::mpi::api {
namespace {

template <class Handle>
int to_int(const char* name, Handle handle) {
  // Predefined handles are converted before MPI_Init and after MPI_Finalize, too.
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (value < kFirstObject) return static_cast<int>(value);
  return AnytimeCall(name).numbers().number_of(handle);
}

template <class Handle>
Handle from_int(const char* name, int number, Handle null) {
  if (number >= 0 && static_cast<std::uintptr_t>(number) < kFirstObject) {
    return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(number));
  }
  void* const found = AnytimeCall(name).numbers().handle_of(number);
  return found != nullptr ? static_cast<Handle>(found) : null;
}

}  // namespace

#define FAIRLEAD_MPI_HANDLE(lower, Name, Type, null)                               \
  int lower##_toint(Type handle) { return to_int("MPI_" #Name "_toint", handle); } \
  Type lower##_fromint(int number) { return from_int("MPI_" #Name "_fromint", number, null); }

FAIRLEAD_MPI_HANDLE(comm, Comm, MPI_Comm, MPI_COMM_NULL)
FAIRLEAD_MPI_HANDLE(errhandler, Errhandler, MPI_Errhandler, MPI_ERRHANDLER_NULL)
FAIRLEAD_MPI_HANDLE(file, File, MPI_File, MPI_FILE_NULL)
FAIRLEAD_MPI_HANDLE(group, Group, MPI_Group, MPI_GROUP_NULL)
FAIRLEAD_MPI_HANDLE(info, Info, MPI_Info, MPI_INFO_NULL)
FAIRLEAD_MPI_HANDLE(message, Message, MPI_Message, MPI_MESSAGE_NULL)
FAIRLEAD_MPI_HANDLE(op, Op, MPI_Op, MPI_OP_NULL)
FAIRLEAD_MPI_HANDLE(request, Request, MPI_Request, MPI_REQUEST_NULL)
FAIRLEAD_MPI_HANDLE(session, Session, MPI_Session, MPI_SESSION_NULL)
FAIRLEAD_MPI_HANDLE(type, Type, MPI_Datatype, MPI_DATATYPE_NULL)
FAIRLEAD_MPI_HANDLE(win, Win, MPI_Win, MPI_WIN_NULL)
#undef FAIRLEAD_MPI_HANDLE

}  // namespace fairlead::mpi::api
