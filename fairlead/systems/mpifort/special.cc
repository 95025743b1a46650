// Entries whose arguments are not what the table's rules say: starting, time, addresses that come
// back, the contents of types.
#include <algorithm>
#include <cstring>
#include <vector>

#include "fairlead/systems/mpifort/conversions.h"
#include "fairlead/systems/mpifort/names.h"

using namespace fairlead::mpifort;

namespace {

// Tells the C library once how this compiler writes LOGICAL.
int tell_booleans(int error) {
  int yes = 1;
  int no = 0;
  int is_set = 0;
  int old_yes = 0;
  int old_no = 0;
  if (error == MPI_SUCCESS &&
      MPI_Abi_get_fortran_booleans(sizeof(int), &old_yes, &old_no, &is_set) == MPI_SUCCESS &&
      is_set == 0) {
    return MPI_Abi_set_fortran_booleans(sizeof(int), &yes, &no);
  }
  return error;
}

// The arrays of MPI_Type_get_contents, whose handles are as many as the envelope says.
template <class Call>
int contents(int* datatype, MPI_Count types_max, int* types, const Call& call) {
  const auto room = static_cast<std::size_t>(std::max<MPI_Count>(types_max, 0));
  std::vector<MPI_Datatype> handles(room + 1, MPI_DATATYPE_NULL);
  const int error = call(made<MPI_Datatype>(*datatype), handles.data());
  if (error != MPI_SUCCESS) return error;
  for (std::size_t i = 0; i < room && handles[i] != MPI_DATATYPE_NULL; ++i) {
    types[i] = number(handles[i]);
  }
  return MPI_SUCCESS;
}

}  // namespace

extern "C" {

void pmpi_init_(int* ierror) { tell(ierror, tell_booleans(MPI_Init(nullptr, nullptr))); }
FAIRLEAD_MPIFORT_NAMES(void, init, (int*))

void pmpi_init_thread_(int* required, int* provided, int* ierror) {
  tell(ierror, tell_booleans(MPI_Init_thread(nullptr, nullptr, *required, provided)));
}
FAIRLEAD_MPIFORT_NAMES(void, init_thread, (int*, int*, int*))

void pmpi_pcontrol_(int* level, int* ierror) { tell(ierror, MPI_Pcontrol(*level)); }
FAIRLEAD_MPIFORT_NAMES(void, pcontrol, (int*, int*))

double pmpi_wtime_() { return MPI_Wtime(); }
FAIRLEAD_MPIFORT_NAMES(double, wtime, ())
double pmpi_wtick_() { return MPI_Wtick(); }
FAIRLEAD_MPIFORT_NAMES(double, wtick, ())

MPI_Aint pmpi_aint_add_(MPI_Aint* base, MPI_Aint* disp) { return MPI_Aint_add(*base, *disp); }
FAIRLEAD_MPIFORT_NAMES(MPI_Aint, aint_add, (MPI_Aint*, MPI_Aint*))
MPI_Aint pmpi_aint_diff_(MPI_Aint* first, MPI_Aint* second) {
  return MPI_Aint_diff(*first, *second);
}
FAIRLEAD_MPIFORT_NAMES(MPI_Aint, aint_diff, (MPI_Aint*, MPI_Aint*))

// The call itself is what keeps the compiler from moving accesses to the buffer across it.
void pmpi_f_sync_reg_(void*) {}
FAIRLEAD_MPIFORT_NAMES(void, f_sync_reg, (void*))

void pmpi_info_create_env_(int* info, int* ierror) {
  Answer<MPI_Info> answer;
  const int error = MPI_Info_create_env(0, nullptr, answer.address());
  if (error == MPI_SUCCESS) answer.tell(info);
  tell(ierror, error);
}
FAIRLEAD_MPIFORT_NAMES(void, info_create_env, (int*, int*))

// Fortran's length counts no final zero.
void pmpi_info_get_string_(int* info, const char* key, int* buflen, char* value, int* flag,
                           int* ierror, std::size_t key_length, std::size_t value_length) {
  const int room = std::clamp(*buflen, 0, MPI_MAX_INFO_VAL);
  std::vector<char> found(static_cast<std::size_t>(room) + 1);
  int length = *buflen <= 0 ? 0 : room + 1;
  const int error = MPI_Info_get_string(made<MPI_Info>(*info),
                                        text_of(key, key_length, Blanks::leading_go).c_str(),
                                        &length, found.data(), flag);
  if (error == MPI_SUCCESS && *flag != 0) {
    if (*buflen > 0) tell_text(value, value_length, found.data());
    *buflen = length - 1;
    *flag = 1;
  }
  tell(ierror, error);
}
FAIRLEAD_MPIFORT_NAMES(void, info_get_string,
                       (int*, const char*, int*, char*, int*, int*, std::size_t, std::size_t))

void pmpi_type_get_contents_(int* datatype, int* integers_max, int* addresses_max, int* types_max,
                             int* integers, MPI_Aint* addresses, int* types, int* ierror) {
  tell(ierror, contents(datatype, *types_max, types, [&](MPI_Datatype type, MPI_Datatype* all) {
         return MPI_Type_get_contents(type, *integers_max, *addresses_max, *types_max, integers,
                                      addresses, all);
       }));
}
FAIRLEAD_MPIFORT_NAMES(void, type_get_contents,
                       (int*, int*, int*, int*, int*, MPI_Aint*, int*, int*))

void pmpi_type_get_contents_c_f08_(int* datatype, MPI_Count* integers_max, MPI_Count* addresses_max,
                                   MPI_Count* counts_max, MPI_Count* types_max, int* integers,
                                   MPI_Aint* addresses, MPI_Count* counts, int* types,
                                   int* ierror) {
  tell(ierror, contents(datatype, *types_max, types, [&](MPI_Datatype type, MPI_Datatype* all) {
         return MPI_Type_get_contents_c(type, *integers_max, *addresses_max, *counts_max,
                                        *types_max, integers, addresses, counts, all);
       }));
}
void mpi_type_get_contents_c_f08_(int*, MPI_Count*, MPI_Count*, MPI_Count*, MPI_Count*, int*,
                                  MPI_Aint*, MPI_Count*, int*, int*)
    __attribute__((weak, alias("pmpi_type_get_contents_c_f08_")));

// mpif.h and mpi have no use for the address that was attached: the standard leaves the argument
// alone there. mpi_f08 gets it as a C_PTR.
void pmpi_buffer_detach_(void*, int* size, int* ierror) {
  void* address = nullptr;
  tell(ierror, MPI_Buffer_detach(&address, size));
}
void mpi_buffer_detach_(void*, int*, int*) __attribute__((weak, alias("pmpi_buffer_detach_")));
void pmpi_comm_detach_buffer_(int* comm, void*, int* size, int* ierror) {
  void* address = nullptr;
  tell(ierror, MPI_Comm_detach_buffer(made<MPI_Comm>(*comm), &address, size));
}
void mpi_comm_detach_buffer_(int*, void*, int*, int*)
    __attribute__((weak, alias("pmpi_comm_detach_buffer_")));
void pmpi_session_detach_buffer_(int* session, void*, int* size, int* ierror) {
  void* address = nullptr;
  tell(ierror, MPI_Session_detach_buffer(made<MPI_Session>(*session), &address, size));
}
void mpi_session_detach_buffer_(int*, void*, int*, int*)
    __attribute__((weak, alias("pmpi_session_detach_buffer_")));

#define FAIRLEAD_MPIFORT_DETACH(name, Size, C_name)                                           \
  void pmpi_buffer_detach##name##_(void** address, Size* size, int* ierror) {                 \
    tell(ierror, MPI_Buffer_detach##C_name(static_cast<void*>(address), size));               \
  }                                                                                           \
  void mpi_buffer_detach##name##_(void**, Size*, int*)                                        \
      __attribute__((weak, alias("pmpi_buffer_detach" #name "_")));                           \
  void pmpi_comm_detach_buffer##name##_(int* comm, void** address, Size* size, int* ierror) { \
    tell(ierror, MPI_Comm_detach_buffer##C_name(made<MPI_Comm>(*comm),                        \
                                                static_cast<void*>(address), size));          \
  }                                                                                           \
  void mpi_comm_detach_buffer##name##_(int*, void**, Size*, int*)                             \
      __attribute__((weak, alias("pmpi_comm_detach_buffer" #name "_")));                      \
  void pmpi_session_detach_buffer##name##_(int* session, void** address, Size* size,          \
                                           int* ierror) {                                     \
    tell(ierror, MPI_Session_detach_buffer##C_name(made<MPI_Session>(*session),               \
                                                   static_cast<void*>(address), size));       \
  }                                                                                           \
  void mpi_session_detach_buffer##name##_(int*, void**, Size*, int*)                          \
      __attribute__((weak, alias("pmpi_session_detach_buffer" #name "_")));
FAIRLEAD_MPIFORT_DETACH(_f08, int, )
FAIRLEAD_MPIFORT_DETACH(_c_f08, MPI_Count, _c)
#undef FAIRLEAD_MPIFORT_DETACH

}  // extern "C"
