// Error handlers of communicators, error classes and codes.
#include <string>

#include "fairlead/systems/mpi/anytime_call.h"
#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/errors.h"
#include "fairlead/systems/mpi/text.h"

namespace fairlead::mpi::api {
namespace {

bool is_handler(MPI_Errhandler handler) {
  return handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_ABORT ||
         handler == MPI_ERRORS_RETURN || Objects<ErrorHandler>::find(handler) != nullptr;
}

// `user`: the code where the program added it.
std::string text_of(int code, const UserErrors::Code* user) {
  return text_of_error(code, user != nullptr ? &user->text : nullptr);
}

int no_user_code(const AnytimeCall& call, int code) {
  return call.fail(MPI_ERR_ARG,
                   fmt::format("{} is no error class or code that the program added", code));
}

int has_string(const AnytimeCall& call, int code) {
  return call.fail(MPI_ERR_ARG, fmt::format("{} has a string: remove that before", code));
}

}  // namespace

int error_class(int errorcode, int* errorclass) {
  const UserErrors::Code* const user = AnytimeCall("MPI_Error_class").user_code(errorcode);
  *errorclass = user != nullptr                    ? user->error_class
                : find_error(errorcode) != nullptr ? errorcode
                                                   : MPI_ERR_UNKNOWN;
  return MPI_SUCCESS;
}

int error_string(int errorcode, char* string, int* resultlen) {
  const UserErrors::Code* const user = AnytimeCall("MPI_Error_string").user_code(errorcode);
  copy_text(text_of(errorcode, user), MPI_MAX_ERROR_STRING, string, resultlen);
  return MPI_SUCCESS;
}

int add_error_class(int* errorclass) {
  const AnytimeCall call("MPI_Add_error_class");
  if (const int error = call.check_output(errorclass, "errorclass")) return error;
  *errorclass = call.add_user_code(0);
  return MPI_SUCCESS;
}

int add_error_code(int errorclass, int* errorcode) {
  const AnytimeCall call("MPI_Add_error_code");
  const UserErrors::Code* const user = call.user_code(errorclass);
  const bool is_class = user != nullptr ? user->error_class == errorclass
                                        : errorclass != MPI_SUCCESS && find_error(errorclass);
  if (!is_class) {
    return call.fail(MPI_ERR_ARG, fmt::format("{} is no error class", errorclass));
  }
  if (const int error = call.check_output(errorcode, "errorcode")) return error;
  *errorcode = call.add_user_code(errorclass);
  return MPI_SUCCESS;
}

int add_error_string(int errorcode, const char* string) {
  const AnytimeCall call("MPI_Add_error_string");
  UserErrors::Code* const user = call.user_code(errorcode);
  if (user == nullptr) return no_user_code(call, errorcode);
  if (const int error = call.check_output(string, "string")) return error;
  user->text = string;
  user->has_text = true;
  return MPI_SUCCESS;
}

int remove_error_class(int errorclass) {
  const AnytimeCall call("MPI_Remove_error_class");
  UserErrors::Code* const user = call.user_code(errorclass);
  if (user == nullptr || user->error_class != errorclass) return no_user_code(call, errorclass);
  if (user->codes != 0) {
    return call.fail(MPI_ERR_ARG,
                     fmt::format("class {} has codes: remove them before", errorclass));
  }
  if (user->has_text) return has_string(call, errorclass);
  call.remove_user_code(errorclass);
  return MPI_SUCCESS;
}

int remove_error_code(int errorcode) {
  const AnytimeCall call("MPI_Remove_error_code");
  UserErrors::Code* const user = call.user_code(errorcode);
  if (user == nullptr || user->error_class == errorcode) return no_user_code(call, errorcode);
  if (user->has_text) return has_string(call, errorcode);
  call.remove_user_code(errorcode);
  return MPI_SUCCESS;
}

int remove_error_string(int errorcode) {
  const AnytimeCall call("MPI_Remove_error_string");
  UserErrors::Code* const user = call.user_code(errorcode);
  if (user == nullptr) return no_user_code(call, errorcode);
  if (!user->has_text) {
    return call.fail(MPI_ERR_ARG, fmt::format("{} has no string of the program's", errorcode));
  }
  user->text.clear();
  user->has_text = false;
  return MPI_SUCCESS;
}

int comm_create_errhandler(MPI_Comm_errhandler_function* comm_errhandler_fn,
                           MPI_Errhandler* errhandler) {
  const Call call("MPI_Comm_create_errhandler");
  if (comm_errhandler_fn == nullptr) {
    return call.fail(nullptr, MPI_ERR_ARG, "comm_errhandler_fn is a null pointer");
  }
  if (const int error = call.check_output(nullptr, errhandler, "errhandler")) return error;
  ErrorHandler* const made = call.process().error_handlers.make();
  made->function = comm_errhandler_fn;
  *errhandler = reinterpret_cast<MPI_Errhandler>(made);
  return MPI_SUCCESS;
}

int errhandler_free(MPI_Errhandler* errhandler) {
  const AnytimeCall call("MPI_Errhandler_free");
  if (const int error = call.check_output(errhandler, "errhandler")) return error;
  if (!is_handler(*errhandler)) {
    return call.fail(MPI_ERR_ERRHANDLER, "errhandler is none, or was freed");
  }
  // A predefined one loses the handle only.
  ErrorHandler* const made = Objects<ErrorHandler>::find(*errhandler);
  if (made != nullptr) call.begun_process().release_handler(*made);
  *errhandler = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}

int comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
  const Call call("MPI_Comm_set_errhandler");
  Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (!serves_communicators(errhandler)) {
    return call.fail(found, MPI_ERR_ERRHANDLER,
                     "errhandler is none, was freed, or is not one of communicators");
  }
  call.process().set_handler(*found, errhandler);
  return MPI_SUCCESS;
}

int comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler) {
  const Call call("MPI_Comm_get_errhandler");
  const Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (const int error = call.check_output(found, errhandler, "errhandler")) return error;
  // The program has one more handle, to be freed.
  ErrorHandler* const made = Objects<ErrorHandler>::find(found->handler);
  if (made != nullptr) ++made->uses;
  *errhandler = found->handler;
  return MPI_SUCCESS;
}

int comm_call_errhandler(MPI_Comm comm, int errorcode) {
  const Call call("MPI_Comm_call_errhandler");
  const Comm* found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  (void)call.raise(
      *found, errorcode,
      fmt::format("MPI_Comm_call_errhandler on rank {} of {}: {}", found->rank, found->name,
                  text_of(errorcode, call.process().user_errors.find(errorcode))));
  return MPI_SUCCESS;
}

}  // namespace fairlead::mpi::api
