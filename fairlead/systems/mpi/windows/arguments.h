// Arguments of one-sided calls, checked.
#pragma once
#include <cstdint>
#include <string>

#include "fairlead/systems/mpi/windows/access.h"
#include "fairlead/systems/mpi/windows/window.h"

namespace fairlead::mpi {

// MPI_ERR_WIN: the handle is no window.
[[gnu::cold, gnu::noinline]] int check_window(const Call& call, MPI_Win handle);

// Runs `body(Window&)`, which returns as the call does, on the window of a handle.
template <class Body>
int on_window(const Call& call, MPI_Win handle, Body&& body) {
  Window* const window = Objects<Window>::find(handle);
  return window == nullptr ? check_window(call, handle) : body(*window);
}

inline int check_given(const Call& call, Window& window, const void* pointer, const char* which) {
  if (pointer != nullptr) [[likely]]
    return MPI_SUCCESS;
  return fail_on(call, window, MPI_ERR_ARG, fmt::format("{} is a null pointer", which));
}

// What this rank gives, or where a result goes.
struct OwnBuffer {
  const void* address;
  MPI_Count count;
  MPI_Datatype type;
  const char* which;  // before "addr", "count" and "datatype"
};
// Elements at a target.
struct Target {
  int rank;
  MPI_Aint disp;
  MPI_Count count;
  MPI_Datatype type;
};
// Where the target's elements are, as access.h has them.
struct Place {
  FarData data;
  bool nothing = false;  // there is nothing to do: MPI_PROC_NULL, or no bytes
  int error = MPI_SUCCESS;
};

int check_buffer(const Call& call, Window& window, const OwnBuffer& buffer);
// A rank, or MPI_PROC_NULL.
int check_target(const Call& call, Window& window, int rank);
// Checks where an access goes, and that an epoch permits it, which it then is in. The buffers that
// are not nullptr are as long as the target's elements. `behind`: bytes after the last element that
// are the access's, too.
Place check_access(const Call& call, Window& window, const Target& target, const OwnBuffer* own,
                   const OwnBuffer* result, std::uint64_t behind = 0);
// An operation of accumulate calls, or an error raised. `type` is predefined; where there are no
// elements, other libraries let every type pass.
int check_operation(const Call& call, Window& window, MPI_Op op, MPI_Datatype type,
                    MPI_Count count);
// The data of a buffer that was checked.
Data data_of(const OwnBuffer& buffer);

}  // namespace fairlead::mpi
