// Arguments whose type depends on the form of a call: plain, or _c for 64 bits.
#pragma once
#include <cstddef>

#include "fairlead/systems/mpi/mpi.h"

namespace fairlead::mpi {

// An array of counts or displacements of 32 or 64 bits, which is the program's.
class Counts {
 public:
  explicit Counts(const int* narrow) : narrow_(narrow) {}
  explicit Counts(const MPI_Count* wide) : wide_(wide) {}
  bool is_null() const { return narrow_ == nullptr && wide_ == nullptr; }
  MPI_Count operator[](std::size_t i) const { return wide_ != nullptr ? wide_[i] : narrow_[i]; }
  MPI_Count operator[](int i) const { return (*this)[static_cast<std::size_t>(i)]; }

 private:
  const int* narrow_ = nullptr;
  const MPI_Count* wide_ = nullptr;
};

// The function of an operation that a program makes; one of the two is there.
struct UserFunction {
  explicit UserFunction(MPI_User_function* f) : narrow(f) {}
  explicit UserFunction(MPI_User_function_c* f) : wide(f) {}
  MPI_User_function* narrow = nullptr;
  MPI_User_function_c* wide = nullptr;
};

}  // namespace fairlead::mpi
