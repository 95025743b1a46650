// The C types behind the datatype table.
#pragma once
#include <complex>
#include <cstdint>

#include "fairlead/systems/mpi/mpi.h"

namespace fairlead::mpi {

// MPI_MINLOC and MPI_MAXLOC: a value and its place, laid out as C lays out the struct.
template <class Value, class Index>
struct Pair {
  Value value;
  Index index;
};
using FloatInt = Pair<float, int>;
using DoubleInt = Pair<double, int>;
using LongInt = Pair<long, int>;
using TwoInt = Pair<int, int>;
using ShortInt = Pair<short, int>;
using LongDoubleInt = Pair<long double, int>;
using TwoReal = Pair<float, float>;
using TwoDouble = Pair<double, double>;

// What Fortran's REAL(16) is, where the compiler of C++ has it.
#ifdef __SIZEOF_FLOAT128__
#define FAIRLEAD_MPI_REAL16 1
__extension__ typedef __float128 Real16;
#endif

}  // namespace fairlead::mpi
