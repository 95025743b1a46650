// What every Fortran entry does with its arguments: INTEGER handles, places with a meaning,
// statuses and strings become those of the C interface, and back. gfortran passes everything by
// address, and the lengths of strings as hidden arguments at the end.
// Source: MPI 5.0, chapters "Language Bindings" and "Application Binary Interface".
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "fairlead/systems/mpi/mpi.h"

extern "C" {

// The common block MPI_FAIRLEAD_PLACES of mpif.h and the modules: variables that are known by their
// addresses. A program's block and this one are the same memory, whichever of the two the loader
// takes.
struct MpiFairleadPlaces {
  int bottom;
  int in_place;
  int buffer_automatic;
  int unweighted;
  int weights_empty;
  int errcodes_ignore;
  int status_ignore[MPI_F_STATUS_SIZE];
  int statuses_ignore[MPI_F_STATUS_SIZE];
  char argv_null[4];
  char argvs_null[4];
};
extern MpiFairleadPlaces fortran_places __asm__("mpi_fairlead_places_");

}  // extern "C"

namespace fairlead::mpifort {

// An INTEGER handle's value: a predefined handle is its number, others have one of a table.
constexpr std::uintptr_t kFirstObject = 0x400;

template <class Handle>
struct Numbers;  // made(int) and number(Handle), of objects that are not predefined
#define FAIRLEAD_MPIFORT_HANDLE(Type, Name)                               \
  template <>                                                             \
  struct Numbers<Type> {                                                  \
    static Type made(int number) { return MPI_##Name##_fromint(number); } \
    static int number(Type handle) { return MPI_##Name##_toint(handle); } \
  };
FAIRLEAD_MPIFORT_HANDLE(MPI_Comm, Comm)
FAIRLEAD_MPIFORT_HANDLE(MPI_Errhandler, Errhandler)
FAIRLEAD_MPIFORT_HANDLE(MPI_File, File)
FAIRLEAD_MPIFORT_HANDLE(MPI_Group, Group)
FAIRLEAD_MPIFORT_HANDLE(MPI_Info, Info)
FAIRLEAD_MPIFORT_HANDLE(MPI_Message, Message)
FAIRLEAD_MPIFORT_HANDLE(MPI_Op, Op)
FAIRLEAD_MPIFORT_HANDLE(MPI_Request, Request)
FAIRLEAD_MPIFORT_HANDLE(MPI_Session, Session)
FAIRLEAD_MPIFORT_HANDLE(MPI_Datatype, Type)
FAIRLEAD_MPIFORT_HANDLE(MPI_Win, Win)
#undef FAIRLEAD_MPIFORT_HANDLE

template <class Handle>
Handle made(int number) {
  const auto value = static_cast<std::uintptr_t>(number);
  if (number >= 0 && value < kFirstObject) [[likely]]
    return reinterpret_cast<Handle>(value);
  return Numbers<Handle>::made(number);
}

template <class Handle>
int number(Handle handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  return value < kFirstObject ? static_cast<int>(value) : Numbers<Handle>::number(handle);
}

// A handle that a call writes; what it says goes into `place` when `tell` is called.
template <class Handle>
class Answer {
 public:
  Answer() = default;
  explicit Answer(const int* place) : handle_(made<Handle>(*place)) {}  // read, too
  Handle* address() { return &handle_; }
  void tell(int* place) const { *place = number(handle_); }

 private:
  Handle handle_{};
};

// An array of handles; few lie in the object itself.
template <class Handle>
class Handles {
 public:
  Handles(const int* numbers, MPI_Count count)
      : size_(count > 0 ? static_cast<std::size_t>(count) : 0) {
    if (size_ > kFew) {
      many_ = std::make_unique<Handle[]>(size_);
      all_ = many_.get();
    }
    for (std::size_t i = 0; i < size_; ++i) all_[i] = made<Handle>(numbers[i]);
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  Handle* all() { return all_; }
  void tell(int* numbers) const {
    for (std::size_t i = 0; i < size_; ++i) numbers[i] = number(all_[i]);
  }

 private:
  static constexpr std::size_t kFew = 32;
  std::size_t size_;
  Handle few_[kFew];
  Handle* all_ = few_;
  std::unique_ptr<Handle[]> many_;
};

// A buffer, or one of the places that stand for none.
inline void* buffer_of(void* given) {
  const std::uintptr_t offset =
      reinterpret_cast<std::uintptr_t>(given) - reinterpret_cast<std::uintptr_t>(&fortran_places);
  if (offset >= sizeof(MpiFairleadPlaces)) [[likely]]
    return given;
  if (given == &fortran_places.bottom) return MPI_BOTTOM;
  if (given == &fortran_places.in_place) return MPI_IN_PLACE;
  return given == &fortran_places.buffer_automatic ? MPI_BUFFER_AUTOMATIC : given;
}

// An array of weights, or one of the places that stand for none.
inline const int* weights_of(const int* given) {
  if (given == &fortran_places.unweighted) return MPI_UNWEIGHTED;
  return given == &fortran_places.weights_empty ? MPI_WEIGHTS_EMPTY : given;
}
inline int* weights_of(int* given) {
  return const_cast<int*>(weights_of(const_cast<const int*>(given)));
}

// A Fortran status, INTEGER or TYPE(MPI_Status), has the parts of a C one in their places.
inline MPI_Status* status_of(int* given) {
  static_assert(sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(int));
  if (given == fortran_places.status_ignore || given == fortran_places.statuses_ignore)
    return MPI_STATUS_IGNORE;
  return reinterpret_cast<MPI_Status*>(given);
}

inline void tell(int* ierror, int error) {
  if (ierror != nullptr) *ierror = error;  // OPTIONAL with mpi_f08
}
inline void tell_place(int* place) {
  if (*place != MPI_UNDEFINED) ++*place;  // Fortran counts from 1
}
inline void tell_places(int* places, const int* count) {
  for (int i = 0; i < *count; ++i) ++places[i];  // MPI_UNDEFINED is negative
}
inline void tell_logical(int* value) { *value = *value != 0; }  // gfortran's .TRUE. is 1

// A string as C has it: without the blanks that fill it up, and for an info without leading ones.
enum class Blanks { leading_stay, leading_go };
std::string text_of(const char* given, std::size_t length, Blanks blanks = Blanks::leading_stay);
// The other way; what does not fit is cut off.
void tell_text(char* place, std::size_t length, const char* text);

// How many types a call on all members of a communicator gets, and one on neighbours.
int members(MPI_Comm comm);
struct Neighbours {
  int sources = 0;
  int destinations = 0;
};
Neighbours neighbours(MPI_Comm comm);

}  // namespace fairlead::mpifort
