// The predefined datatypes: size, name, and which operations they take.
#pragma once
#include <array>
#include <cstdint>

#include "fairlead/systems/mpi/mpi.h"

namespace fairlead::mpi {

// Groups of the standard (section "Predefined Reduction Operations").
enum class TypeGroup : std::uint8_t {
  none,
  integer,
  floating,
  logical,
  complex,
  bytes,
  index,
  pair
};

struct Datatype {
  const char* name;         // nullptr: no such datatype
  std::uint8_t size_bytes;  // from one element to the next
  TypeGroup group;
};

constexpr std::uintptr_t kFirstDatatype = 0x200;
constexpr std::uintptr_t kDatatypes = 0x100;

// By handle value - kFirstDatatype.
using DatatypeTable = std::array<Datatype, kDatatypes>;
using DatatypeSizes = std::array<std::uint8_t, kDatatypes>;
extern const DatatypeTable kDatatypeTable;
extern const DatatypeSizes kDatatypeSizes;  // on the message path: one line of it stays in cache

// Bytes of one element of a predefined type whose elements lie in a row. 0: the handle is another
// datatype (datatypes/derived_type.h), or none.
inline std::uint64_t size_of_type(MPI_Datatype datatype) {
  const std::uintptr_t index = reinterpret_cast<std::uintptr_t>(datatype) - kFirstDatatype;
  return index < kDatatypes ? kDatatypeSizes[index] : 0;
}

// nullptr when the handle is no datatype of this library.
inline const Datatype* find_type(MPI_Datatype datatype) {
  const std::uintptr_t index = reinterpret_cast<std::uintptr_t>(datatype) - kFirstDatatype;
  return index < kDatatypes && kDatatypeTable[index].name != nullptr ? &kDatatypeTable[index]
                                                                     : nullptr;
}

// Bytes from one element of a predefined datatype to the next, gaps included; 0: it is none.
inline std::uint64_t spacing_of_type(MPI_Datatype datatype) {
  const Datatype* const known = find_type(datatype);
  return known == nullptr ? 0 : known->size_bytes;
}

}  // namespace fairlead::mpi
