#include "fairlead/systems/mpifort/callbacks.h"

#include "fairlead/systems/mpifort/conversions.h"
#include "fairlead/systems/mpifort/names.h"
#include "fairlead/systems/mpifort/trampolines.h"

namespace fairlead::mpifort {
namespace {

template <class PointerToProcedure, class Length, class CFunction>
struct OperationFamily {
  using Procedure = PointerToProcedure;
  using Function = CFunction;
  template <std::size_t i>
  static void function(void* in, void* inout, Length* length, MPI_Datatype* datatype) {
    int type = number(*datatype);
    Trampolines<OperationFamily>::at(i)(in, inout, length, &type);
  }
};
using Operations = OperationFamily<FortranOperation, int, MPI_User_function>;
using LargeOperations = OperationFamily<FortranOperationLarge, MPI_Count, MPI_User_function_c>;

template <class Handle, class CFunction>
struct HandlerFamily {
  using Procedure = FortranErrorHandler;
  using Function = CFunction;
  template <std::size_t i>
  static void function(Handle* handle, int* error_code, ...) {
    int told = number(*handle);
    Trampolines<HandlerFamily>::at(i)(&told, error_code);
  }
};
using CommHandlers = HandlerFamily<MPI_Comm, MPI_Comm_errhandler_function>;
using WinHandlers = HandlerFamily<MPI_Win, MPI_Win_errhandler_function>;

template <class Family>
typename Family::Function* function_of(void* procedure) {
  return Trampolines<Family>::of(reinterpret_cast<typename Family::Procedure>(procedure));
}

// More procedures than there are functions for them.
int too_many() { return MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_NO_MEM), MPI_ERR_NO_MEM; }

template <class Family, class Create>
int create_operation(void* procedure, const int* commute, int* op, const Create& create) {
  auto* const function = function_of<Family>(procedure);
  if (function == nullptr) return too_many();
  Answer<MPI_Op> answer;
  const int error = create(function, *commute != 0, answer.address());
  if (error == MPI_SUCCESS) answer.tell(op);
  return error;
}

template <class Family, class Create>
int create_handler(void* procedure, int* errhandler, const Create& create) {
  auto* const function = function_of<Family>(procedure);
  if (function == nullptr) return too_many();
  Answer<MPI_Errhandler> answer;
  const int error = create(function, answer.address());
  if (error == MPI_SUCCESS) answer.tell(errhandler);
  return error;
}

// What a generalized request's C functions get as their state; its free function ends it. The
// procedures get the program's own variable, as with other libraries: programs find there what a
// procedure has changed, and keep it until the request is freed.
struct GeneralizedState {
  FortranQuery query;
  FortranFree free;
  FortranCancel cancel;
  MPI_Aint* extra;
};

int query_generalized(void* given, MPI_Status* status) {
  auto& state = *static_cast<GeneralizedState*>(given);
  int error = MPI_SUCCESS;
  state.query(state.extra, status, &error);
  return error;
}
int free_generalized(void* given) {
  const std::unique_ptr<GeneralizedState> state(static_cast<GeneralizedState*>(given));
  int error = MPI_SUCCESS;
  state->free(state->extra, &error);
  return error;
}
int cancel_generalized(void* given, int complete) {
  auto& state = *static_cast<GeneralizedState*>(given);
  int told = complete != 0;
  int error = MPI_SUCCESS;
  state.cancel(state.extra, &told, &error);
  return error;
}

}  // namespace
}  // namespace fairlead::mpifort

using namespace fairlead::mpifort;

extern "C" {

void pmpi_op_create_(void* procedure, int* commute, int* op, int* ierror) {
  tell(ierror, create_operation<Operations>(procedure, commute, op, MPI_Op_create));
}
FAIRLEAD_MPIFORT_NAMES(void, op_create, (void*, int*, int*, int*))

void pmpi_op_create_c_f08_(void* procedure, int* commute, int* op, int* ierror) {
  tell(ierror, create_operation<LargeOperations>(procedure, commute, op, MPI_Op_create_c));
}
void mpi_op_create_c_f08_(void*, int*, int*, int*)
    __attribute__((weak, alias("pmpi_op_create_c_f08_")));

void pmpi_comm_create_errhandler_(void* procedure, int* errhandler, int* ierror) {
  tell(ierror, create_handler<CommHandlers>(procedure, errhandler, MPI_Comm_create_errhandler));
}
FAIRLEAD_MPIFORT_NAMES(void, comm_create_errhandler, (void*, int*, int*))

void pmpi_win_create_errhandler_(void* procedure, int* errhandler, int* ierror) {
  tell(ierror, create_handler<WinHandlers>(procedure, errhandler, MPI_Win_create_errhandler));
}
FAIRLEAD_MPIFORT_NAMES(void, win_create_errhandler, (void*, int*, int*))

void pmpi_grequest_start_(void* query, void* free, void* cancel, MPI_Aint* extra_state,
                          int* request, int* ierror) {
  auto state = std::make_unique<GeneralizedState>(
      GeneralizedState{reinterpret_cast<FortranQuery>(query), reinterpret_cast<FortranFree>(free),
                       reinterpret_cast<FortranCancel>(cancel), extra_state});
  Answer<MPI_Request> answer;
  const int error = MPI_Grequest_start(query_generalized, free_generalized, cancel_generalized,
                                       state.get(), answer.address());
  if (error == MPI_SUCCESS) {
    static_cast<void>(state.release());
    answer.tell(request);
  }
  tell(ierror, error);
}
FAIRLEAD_MPIFORT_NAMES(void, grequest_start, (void*, void*, void*, MPI_Aint*, int*, int*))

}  // extern "C"
