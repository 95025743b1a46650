// Attributes: Fortran's values are integers, C's are pointers. As the standard has it, C gets the
// address of what Fortran has set, and Fortran the address that C has set as an integer.
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "fairlead/systems/mpifort/callbacks.h"
#include "fairlead/systems/mpifort/conversions.h"
#include "fairlead/systems/mpifort/names.h"

namespace fairlead::mpifort {
namespace {

// A key's procedures; those of MPI-1 know INTEGER values. In C it is the key's extra_state.
struct KeyState {
  void* copy;
  void* erase;
  MPI_Aint extra;
  bool old;
};

// The values that Fortran has set and that may still be attributes: C's values for them are their
// addresses. Those under keys of Fortran's go with their attributes. Those under keys of C's stay,
// as nobody tells when these are deleted; a program sets few such.
class Values {
 public:
  void* add(MPI_Aint value) {
    auto made = std::make_unique<MPI_Aint>(value);
    MPI_Aint* const address = made.get();
    const std::lock_guard hold(mutex_);
    values_.emplace(address, std::move(made));
    return address;
  }
  // The attribute as Fortran has it.
  MPI_Aint at(const void* attribute) {
    const std::lock_guard hold(mutex_);
    const auto found = values_.find(attribute);
    return found != values_.end() ? *found->second : reinterpret_cast<MPI_Aint>(attribute);
  }
  void remove(const void* attribute) {
    const std::lock_guard hold(mutex_);
    values_.erase(attribute);
  }

 private:
  std::mutex mutex_;
  std::unordered_map<const void*, std::unique_ptr<MPI_Aint>> values_;
};

Values& values() {
  static Values all;
  return all;
}

// Keys live as long as anything has an attribute under them, which the C library alone knows: so
// they are kept until the program ends. A program makes few.
KeyState* keep(KeyState state) {
  static std::mutex mutex;
  static std::vector<std::unique_ptr<KeyState>> all;
  const std::lock_guard hold(mutex);
  all.push_back(std::make_unique<KeyState>(state));
  return all.back().get();
}

template <class Handle>
int copy_attribute(Handle object, int keyval, void* extra_state, void* value, void* copied,
                   int* flag) {
  auto& key = *static_cast<KeyState*>(extra_state);
  int told = number(object);
  int is_copied = 0;
  int error = MPI_SUCCESS;
  MPI_Aint in = values().at(value);
  MPI_Aint out = in;
  if (key.old) {
    int narrow_extra = static_cast<int>(key.extra);
    int narrow_in = static_cast<int>(in);
    int narrow_out = narrow_in;
    reinterpret_cast<FortranCopyOld>(key.copy)(&told, &keyval, &narrow_extra, &narrow_in,
                                               &narrow_out, &is_copied, &error);
    out = narrow_out;
  } else {
    reinterpret_cast<FortranCopy>(key.copy)(&told, &keyval, &key.extra, &in, &out, &is_copied,
                                            &error);
  }
  *flag = is_copied != 0;
  if (error == MPI_SUCCESS && is_copied != 0) {
    *static_cast<void**>(copied) = values().add(out);
  }
  return error;
}

template <class Handle>
int delete_attribute(Handle object, int keyval, void* value, void* extra_state) {
  auto& key = *static_cast<KeyState*>(extra_state);
  int told = number(object);
  int error = MPI_SUCCESS;
  MPI_Aint wide = values().at(value);
  if (key.old) {
    int narrow_extra = static_cast<int>(key.extra);
    int narrow = static_cast<int>(wide);
    reinterpret_cast<FortranDeleteOld>(key.erase)(&told, &keyval, &narrow, &narrow_extra, &error);
  } else {
    reinterpret_cast<FortranDelete>(key.erase)(&told, &keyval, &wide, &key.extra, &error);
  }
  if (error == MPI_SUCCESS) values().remove(value);
  return error;
}

// The value as Fortran has it: where C gets the address of a number, Fortran gets the number.
MPI_Aint value_of(int keyval, const void* value) {
  switch (keyval) {
    case MPI_TAG_UB:
    case MPI_IO:
    case MPI_HOST:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_APPNUM:
    case MPI_LASTUSEDCODE:
    case MPI_UNIVERSE_SIZE:
    case MPI_WIN_DISP_UNIT:
    case MPI_WIN_CREATE_FLAVOR:
    case MPI_WIN_MODEL:
      return *static_cast<const int*>(value);
    case MPI_WIN_SIZE:
      return *static_cast<const MPI_Aint*>(value);
    default:
      return values().at(value);
  }
}

template <class Handle, class Set>
int set_attribute(const int* object, const int* keyval, MPI_Aint value, const Set& set) {
  void* const attribute = values().add(value);
  const int error = set(made<Handle>(*object), *keyval, attribute);
  if (error != MPI_SUCCESS) values().remove(attribute);
  return error;
}

template <class Handle, class Integer, class Get>
int get_attribute(const int* object, const int* keyval, Integer* place, int* flag, const Get& get) {
  void* value = nullptr;
  const int error = get(made<Handle>(*object), *keyval, static_cast<void*>(&value), flag);
  if (error != MPI_SUCCESS) return error;
  *flag = *flag != 0;
  if (*flag != 0) *place = static_cast<Integer>(value_of(*keyval, value));
  return MPI_SUCCESS;
}

}  // namespace
}  // namespace fairlead::mpifort

using namespace fairlead::mpifort;

extern "C" {

#define FAIRLEAD_MPIFORT_ATTRIBUTES(lower, Name, Type)                                            \
  void pmpi_##lower##_create_keyval_(void* copy, void* erase, int* keyval, MPI_Aint* extra,       \
                                     int* ierror) {                                               \
    tell(ierror, MPI_##Name##_create_keyval(copy_attribute<Type>, delete_attribute<Type>, keyval, \
                                            keep({copy, erase, *extra, false})));                 \
  }                                                                                               \
  FAIRLEAD_MPIFORT_NAMES(void, lower##_create_keyval, (void*, void*, int*, MPI_Aint*, int*))      \
  void pmpi_##lower##_set_attr_(int* object, int* keyval, MPI_Aint* value, int* ierror) {         \
    tell(ierror, set_attribute<Type>(object, keyval, *value, MPI_##Name##_set_attr));             \
  }                                                                                               \
  FAIRLEAD_MPIFORT_NAMES(void, lower##_set_attr, (int*, int*, MPI_Aint*, int*))                   \
  void pmpi_##lower##_get_attr_(int* object, int* keyval, MPI_Aint* value, int* flag,             \
                                int* ierror) {                                                    \
    tell(ierror, get_attribute<Type>(object, keyval, value, flag, MPI_##Name##_get_attr));        \
  }                                                                                               \
  FAIRLEAD_MPIFORT_NAMES(void, lower##_get_attr, (int*, int*, MPI_Aint*, int*, int*))

FAIRLEAD_MPIFORT_ATTRIBUTES(comm, Comm, MPI_Comm)
FAIRLEAD_MPIFORT_ATTRIBUTES(type, Type, MPI_Datatype)
FAIRLEAD_MPIFORT_ATTRIBUTES(win, Win, MPI_Win)
#undef FAIRLEAD_MPIFORT_ATTRIBUTES

// MPI-1: the values are INTEGER.
void pmpi_keyval_create_(void* copy, void* erase, int* keyval, int* extra, int* ierror) {
  tell(ierror, MPI_Comm_create_keyval(copy_attribute<MPI_Comm>, delete_attribute<MPI_Comm>, keyval,
                                      keep({copy, erase, *extra, true})));
}
FAIRLEAD_MPIFORT_NAMES(void, keyval_create, (void*, void*, int*, int*, int*))
void pmpi_attr_put_(int* comm, int* keyval, int* value, int* ierror) {
  tell(ierror, set_attribute<MPI_Comm>(comm, keyval, *value, MPI_Comm_set_attr));
}
FAIRLEAD_MPIFORT_NAMES(void, attr_put, (int*, int*, int*, int*))
void pmpi_attr_get_(int* comm, int* keyval, int* value, int* flag, int* ierror) {
  tell(ierror, get_attribute<MPI_Comm>(comm, keyval, value, flag, MPI_Comm_get_attr));
}
FAIRLEAD_MPIFORT_NAMES(void, attr_get, (int*, int*, int*, int*, int*))

// The functions of the standard that programs hand over as they are.
#define FAIRLEAD_MPIFORT_FUNCTIONS(name, Integer)                                      \
  void mpi_##name##null_copy_fn_(int*, int*, Integer*, Integer*, Integer*, int* flag,  \
                                 int* ierror) {                                        \
    *flag = 0;                                                                         \
    *ierror = MPI_SUCCESS;                                                             \
  }                                                                                    \
  void mpi_##name##dup_fn_(int*, int*, Integer*, Integer* in, Integer* out, int* flag, \
                           int* ierror) {                                              \
    *out = *in;                                                                        \
    *flag = 1;                                                                         \
    *ierror = MPI_SUCCESS;                                                             \
  }                                                                                    \
  void mpi_##name##null_delete_fn_(int*, int*, Integer*, Integer*, int* ierror) {      \
    *ierror = MPI_SUCCESS;                                                             \
  }
FAIRLEAD_MPIFORT_FUNCTIONS(, int)
FAIRLEAD_MPIFORT_FUNCTIONS(comm_, MPI_Aint)
FAIRLEAD_MPIFORT_FUNCTIONS(type_, MPI_Aint)
FAIRLEAD_MPIFORT_FUNCTIONS(win_, MPI_Aint)
#undef FAIRLEAD_MPIFORT_FUNCTIONS

// Stands for no conversion; nobody calls it, as there are no representations of data to register.
void mpi_conversion_fn_null_() {}
void mpi_conversion_fn_null_c_() {}

}  // extern "C"
