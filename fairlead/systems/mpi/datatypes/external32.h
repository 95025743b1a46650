// The representation "external32": big-endian, every basic type of one size everywhere, nothing
// between them. MPI 5.0, section "External Data Representation: external32".
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/systems/mpi/datatypes/derived_type.h"

namespace fairlead::mpi {

// Bytes of one element.
std::uint64_t external_size(const TypeBody& type);
// `count` elements at `buffer` to external_size() * count bytes at `to`, and back.
void pack_external(const TypeBody& type, const void* buffer, std::uint64_t count, void* to);
void unpack_external(const TypeBody& type, const void* from, void* buffer, std::uint64_t count);

}  // namespace fairlead::mpi
