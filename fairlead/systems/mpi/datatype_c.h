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

}  // namespace fairlead::mpi
