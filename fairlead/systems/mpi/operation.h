// The predefined operations on the predefined datatypes.
#pragma once
#include <cstddef>

#include "fairlead/systems/mpi/mpi.h"

namespace fairlead::mpi {

// out[i] = a[i] op b[i] for `count` elements; `out` may be `a` or `b`. `a` is the operand of the
// lower rank: operations that depend on the order of equal operands (MIN of +0 and -0) then give
// the same bits on every rank.
using Combine = void (*)(const void* a, const void* b, void* out, std::size_t count);

// nullptr when the standard does not define `op` on `datatype`.
Combine find_combine(MPI_Op op, MPI_Datatype datatype);

// "MPI_SUM" ...; nullptr when the handle is no operation that reductions take.
const char* operation_name(MPI_Op op);

}  // namespace fairlead::mpi
