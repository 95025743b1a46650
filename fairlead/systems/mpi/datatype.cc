#include "fairlead/systems/mpi/datatype.h"

#include "fairlead/systems/mpi/datatype_c.h"

namespace fairlead::mpi {
namespace {

constexpr DatatypeTable make_table() {
  DatatypeTable table{};
#define FAIRLEAD_MPI_TYPE(name, value, type, group) \
  table[value - kFirstDatatype] =                   \
      Datatype{#name, static_cast<std::uint8_t>(sizeof(type)), TypeGroup::group};
#include "fairlead/systems/mpi/datatypes.inc"
#undef FAIRLEAD_MPI_TYPE
  return table;
}

// Bytes of a type without gaps, else 0: those of MPI_DOUBLE_INT do not lie in a row.
template <class T>
constexpr std::uint8_t row_of() {
  if constexpr (requires(T pair) { pair.index; }) {
    if (sizeof(T) != sizeof(T::value) + sizeof(T::index)) return 0;
  }
  return static_cast<std::uint8_t>(sizeof(T));
}

constexpr DatatypeSizes make_sizes() {
  DatatypeSizes sizes{};
#define FAIRLEAD_MPI_TYPE(name, value, type, group) sizes[value - kFirstDatatype] = row_of<type>();
#include "fairlead/systems/mpi/datatypes.inc"
#undef FAIRLEAD_MPI_TYPE
  return sizes;
}

}  // namespace

constinit const DatatypeTable kDatatypeTable = make_table();
constinit const DatatypeSizes kDatatypeSizes = make_sizes();

}  // namespace fairlead::mpi
