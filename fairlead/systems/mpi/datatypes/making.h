// Makes types from types: the constructors of the standard, on bytes. Arguments are checked by the
// caller as far as their signs go; here is found whether sizes and bounds fit 64 bits.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/systems/mpi/datatypes/derived_type.h"

namespace fairlead::mpi {

// `length` elements of `type` in a row, at `at` bytes.
struct Block {
  std::int64_t at;
  std::int64_t length;
  const TypeBody* type;
};

// Each returns nullptr where the type would have more bytes, or reach further, than 63 bits say, or
// would nest deeper than kLayoutDepthMax. `contents` becomes the new type's.
// Blocks in their order. `aligned`: the extent is rounded up so that the next element is aligned,
// unless an upper bound was told (MPI_Type_create_struct).
TypeRef make_blocks(std::span<const Block> blocks, bool aligned, Contents contents);
// `count` blocks of `length` elements each, `stride` bytes from one to the next.
TypeRef make_vector(const TypeBody& type, std::int64_t count, std::int64_t length,
                    std::int64_t stride, Contents contents);
TypeRef make_resized(const TypeBody& type, std::int64_t lb, std::int64_t extent, Contents contents);
// A type that is equal but for its combiner.
TypeRef make_copy(const TypeBody& type, Contents contents);

// One dimension of an array that is distributed over processes, or of a part of an array, from the
// dimension whose elements are neighbours in memory on. The elements [first, first + length) of
// every `period` of them, `size` in all.
struct Dimension {
  std::int64_t size;
  std::int64_t first;
  std::int64_t length;
  std::int64_t period;
};
TypeRef make_array(const TypeBody& type, std::span<const Dimension> dimensions, Contents contents);

}  // namespace fairlead::mpi
