// Parts of arrays as datatypes, and predefined types by what they hold.
#include <algorithm>
#include <cfloat>
#include <vector>

#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/datatypes/arguments_of_types.h"
#include "fairlead/systems/mpi/datatypes/making.h"

namespace fairlead::mpi::api {
namespace {

int wrong(const Call& call, const std::string& what) {
  return call.fail(nullptr, MPI_ERR_ARG, what);
}

// What both kinds of arrays have.
int check_array(const Call& call, int ndims, int order, MPI_Datatype oldtype,
                const MPI_Datatype* newtype) {
  if (ndims < 1) return wrong(call, fmt::format("ndims is {}, not 1 or more", ndims));
  if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN) {
    return wrong(call, "order is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN");
  }
  if (const int error = check_type(call, oldtype, "oldtype")) return error;
  return call.check_output(nullptr, newtype, "newtype");
}

// Gives the type of the chosen elements. Dimensions are in the order of the call's arrays.
int give_array(const Call& call, std::vector<Dimension> dimensions, int order, Contents contents,
               MPI_Datatype* newtype) {
  // In C the last index is that of neighbours in memory.
  if (order == MPI_ORDER_C) std::reverse(dimensions.begin(), dimensions.end());
  const TypeRef old = contents.types[0];
  TypeRef made = make_array(*old, dimensions, std::move(contents));
  if (made == nullptr) return wrong(call, "the array has more bytes than 63 bits can tell");
  *newtype = call.process().types().add(std::move(made));
  return MPI_SUCCESS;
}

// One dimension of a distributed array, as the call tells it.
struct Distribution {
  MPI_Count size;
  int kind;
  int argument;
  int processes;
  int place;  // this process's, of `processes`
};

// The part of the place; an error raised where `of` makes no sense.
int distribute(const Call& call, const Distribution& of, Dimension* part) {
  if (of.size < 1) return wrong(call, fmt::format("a dimension has {} elements", of.size));
  if (of.kind == MPI_DISTRIBUTE_NONE) {
    if (of.processes != 1) return wrong(call, "MPI_DISTRIBUTE_NONE is for one process");
    *part = {of.size, 0, of.size, of.size};
    return MPI_SUCCESS;
  }
  const bool usual = of.argument == MPI_DISTRIBUTE_DFLT_DARG;
  if (!usual && of.argument < 1) {
    return wrong(call, fmt::format("a distribution argument is {}", of.argument));
  }
  MPI_Count block = of.argument;
  if (of.kind == MPI_DISTRIBUTE_BLOCK) {
    if (usual) block = (of.size - 1) / of.processes + 1;
    if (block < (of.size - 1) / of.processes + 1) {
      return wrong(call, fmt::format("blocks of {} elements do not cover a dimension of {}", block,
                                     of.size));
    }
  } else if (of.kind == MPI_DISTRIBUTE_CYCLIC) {
    if (usual) block = 1;
  } else {
    return wrong(call, fmt::format("{} is no distribution", of.kind));
  }
  // Blocks beyond the end are empty; their numbers stay small so.
  block = std::min(block, of.size);
  MPI_Count period = 0;
  if (__builtin_mul_overflow(block, MPI_Count{of.processes}, &period)) {
    return wrong(call, "the array has more elements than 63 bits can tell");
  }
  *part = {of.size, std::min(of.size, block * of.place), block, period};
  return MPI_SUCCESS;
}

}  // namespace

int type_create_subarray(int ndims, Counts array_of_sizes, Counts array_of_subsizes,
                         Counts array_of_starts, int order, MPI_Datatype oldtype,
                         MPI_Datatype* newtype) {
  const Call call("MPI_Type_create_subarray");
  if (const int error = check_array(call, ndims, order, oldtype, newtype)) return error;
  if (array_of_sizes.is_null() || array_of_subsizes.is_null() || array_of_starts.is_null()) {
    return wrong(call, "an array is a null pointer");
  }
  ContentsMaker contents(MPI_COMBINER_SUBARRAY);
  std::vector<Dimension> dimensions;
  for (int i = 0; i < ndims; ++i) {
    const MPI_Count size = array_of_sizes[i];
    const MPI_Count part = array_of_subsizes[i];
    const MPI_Count start = array_of_starts[i];
    if (size < 1 || part < 1 || part > size || start < 0 || start > size - part) {
      return wrong(call, fmt::format("dimension {} has {} elements from {} on, of {}", i, part,
                                     start, size));
    }
    dimensions.push_back({size, start, part, size});
  }
  contents.integer(ndims);
  for (int i = 0; i < ndims; ++i) contents.count(array_of_sizes[i]);
  for (int i = 0; i < ndims; ++i) contents.count(array_of_subsizes[i]);
  for (int i = 0; i < ndims; ++i) contents.count(array_of_starts[i]);
  contents.integer(order);
  return give_array(call, std::move(dimensions), order, contents.finish({take_body(oldtype)}),
                    newtype);
}

int type_create_darray(int size, int rank, int ndims, Counts array_of_gsizes,
                       const int array_of_distribs[], const int array_of_dargs[],
                       const int array_of_psizes[], int order, MPI_Datatype oldtype,
                       MPI_Datatype* newtype) {
  const Call call("MPI_Type_create_darray");
  if (const int error = check_array(call, ndims, order, oldtype, newtype)) return error;
  if (array_of_gsizes.is_null() || array_of_distribs == nullptr || array_of_dargs == nullptr ||
      array_of_psizes == nullptr) {
    return wrong(call, "an array is a null pointer");
  }
  if (size < 1) return wrong(call, fmt::format("size is {}", size));
  if (rank < 0 || rank >= size) {
    return call.fail(nullptr, MPI_ERR_RANK, fmt::format("rank is {} of {}", rank, size));
  }
  std::int64_t processes = 1;
  for (int i = 0; i < ndims && processes <= size; ++i) {
    if (array_of_psizes[i] < 1) return wrong(call, "a number of processes is not positive");
    processes *= array_of_psizes[i];
  }
  if (processes != size) return wrong(call, "size is not the product of array_of_psizes");
  // Processes are numbered as in C, whatever the order of the array.
  std::vector<Dimension> dimensions(static_cast<std::size_t>(ndims));
  int left = rank;
  for (int i = ndims; i-- > 0;) {
    const Distribution of{array_of_gsizes[i], array_of_distribs[i], array_of_dargs[i],
                          array_of_psizes[i], left % array_of_psizes[i]};
    left /= array_of_psizes[i];
    if (const int error = distribute(call, of, &dimensions[static_cast<std::size_t>(i)])) {
      return error;
    }
  }
  ContentsMaker contents(MPI_COMBINER_DARRAY);
  contents.integer(size).integer(rank).integer(ndims);
  for (int i = 0; i < ndims; ++i) contents.count(array_of_gsizes[i]);
  for (const int* const list : {array_of_distribs, array_of_dargs, array_of_psizes}) {
    for (int i = 0; i < ndims; ++i) contents.integer(list[i]);
  }
  contents.integer(order);
  return give_array(call, std::move(dimensions), order, contents.finish({take_body(oldtype)}),
                    newtype);
}

int type_match_size(int typeclass, int size, MPI_Datatype* datatype) {
  const Call call("MPI_Type_match_size");
  if (const int error = call.check_output(nullptr, datatype, "datatype")) return error;
  const struct {
    int typeclass;
    int size;
    MPI_Datatype type;
  } known[] = {
      {MPI_TYPECLASS_REAL, 16, MPI_REAL16},      {MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32},
      {MPI_TYPECLASS_REAL, 4, MPI_REAL4},        {MPI_TYPECLASS_REAL, 8, MPI_REAL8},
      {MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},  {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},
      {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4},  {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
      {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},  {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16},
      {MPIX_TYPECLASS_LOGICAL, 1, MPI_LOGICAL1}, {MPIX_TYPECLASS_LOGICAL, 2, MPI_LOGICAL2},
      {MPIX_TYPECLASS_LOGICAL, 4, MPI_LOGICAL4}, {MPIX_TYPECLASS_LOGICAL, 8, MPI_LOGICAL8}};
  for (const auto& each : known) {
    if (each.typeclass != typeclass || each.size != size || !find_type(each.type)) continue;
    *datatype = each.type;
    return MPI_SUCCESS;
  }
  return wrong(call, fmt::format("no type of the class has {} bytes", size));
}

namespace {

// The type that a Fortran kind of so many digits is: `basic` under a handle of its own.
int give_fortran(const Call& call, int combiner, std::vector<int> arguments, MPI_Datatype basic,
                 MPI_Datatype* newtype) {
  if (const int error = call.check_output(nullptr, newtype, "newtype")) return error;
  if (basic == MPI_DATATYPE_NULL) return wrong(call, "no kind has such a precision and range");
  TypeStore& store = call.process().types();
  const auto [place, is_new] =
      store.fortran.try_emplace({combiner, arguments.front(), arguments.back()});
  if (is_new) {
    Contents contents;
    contents.combiner = combiner;
    contents.integers = std::move(arguments);
    place->second = store.add(make_copy(*find_body(basic), std::move(contents)));
    find_derived(place->second)->committed = true;
    find_derived(place->second)->fixed = true;
  }
  *newtype = place->second;
  return MPI_SUCCESS;
}

// The smaller of two types that has `p` digits and the exponents to 10^r; either may be undefined.
MPI_Datatype real_of(int p, int r, MPI_Datatype single, MPI_Datatype twice) {
  if (p == MPI_UNDEFINED && r == MPI_UNDEFINED) return MPI_DATATYPE_NULL;
  if (p <= FLT_DIG && r <= FLT_MAX_10_EXP - 1) return single;
  return p <= DBL_DIG && r <= DBL_MAX_10_EXP - 1 ? twice : MPI_DATATYPE_NULL;
}

}  // namespace

int type_create_f90_real(int p, int r, MPI_Datatype* newtype) {
  return give_fortran(Call("MPI_Type_create_f90_real"), MPI_COMBINER_F90_REAL, {p, r},
                      real_of(p, r, MPI_REAL4, MPI_REAL8), newtype);
}
int type_create_f90_complex(int p, int r, MPI_Datatype* newtype) {
  return give_fortran(Call("MPI_Type_create_f90_complex"), MPI_COMBINER_F90_COMPLEX, {p, r},
                      real_of(p, r, MPI_COMPLEX8, MPI_COMPLEX16), newtype);
}
int type_create_f90_integer(int r, MPI_Datatype* newtype) {
  const MPI_Datatype type = r <= 2    ? MPI_INTEGER1
                            : r <= 4  ? MPI_INTEGER2
                            : r <= 9  ? MPI_INTEGER4
                            : r <= 18 ? MPI_INTEGER8
                                      : MPI_DATATYPE_NULL;
  return give_fortran(Call("MPI_Type_create_f90_integer"), MPI_COMBINER_F90_INTEGER, {r}, type,
                      newtype);
}

int type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type,
                         MPI_Datatype* pair_type) {
  const Call call("MPI_Type_get_value_index");
  if (const int error = check_type(call, value_type, "value_type")) return error;
  if (const int error = check_type(call, index_type, "index_type")) return error;
  if (const int error = call.check_output(nullptr, pair_type, "pair_type")) return error;
  const struct {
    MPI_Datatype value;
    MPI_Datatype index;
    MPI_Datatype pair;
  } known[] = {{MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},
               {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
               {MPI_LONG, MPI_INT, MPI_LONG_INT},
               {MPI_INT, MPI_INT, MPI_2INT},
               {MPI_SHORT, MPI_INT, MPI_SHORT_INT},
               {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
               {MPI_REAL, MPI_REAL, MPI_2REAL},
               {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION},
               {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER}};
  *pair_type = MPI_DATATYPE_NULL;
  for (const auto& each : known) {
    if (each.value == value_type && each.index == index_type) *pair_type = each.pair;
  }
  return MPI_SUCCESS;
}

}  // namespace fairlead::mpi::api
