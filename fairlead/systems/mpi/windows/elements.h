// Elements of one predefined type in buffers and at targets, where they may lie anywhere: what
// accumulate calls work on. The pair types have gaps (MPI_DOUBLE_INT: 12 bytes in 16); in memory an
// element is taken with its gaps, in packed bytes it is without.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fairlead/systems/mpi/datatypes/derived_type.h"

namespace fairlead::mpi {

// The predefined type of which alone `type` is made, itself where it is one; MPI_DATATYPE_NULL:
// there are several.
MPI_Datatype only_basic(const TypeBody& type);

// A predefined type as elements are moved.
struct ElementForm {
  std::uint64_t spacing = 1;       // bytes of an element in memory, with its gaps
  std::uint64_t packed = 1;        // and without
  const Layout* gapped = nullptr;  // nullptr: it has none

  static ElementForm of(MPI_Datatype predefined);
};

// Elements in a buffer of the program's, by number. Without `layout` they lie one behind the other,
// each with its gaps.
struct ElementBuffer {
  std::byte* at = nullptr;  // nullptr, without a layout: no buffer
  const Layout* layout = nullptr;

  bool exists() const { return at != nullptr || layout != nullptr; }
  // Copies the elements [first, first + count) to a row, and from a row to their places.
  void load(const ElementForm& form, std::uint64_t first, std::uint64_t count,
            std::byte* row) const;
  void store(const ElementForm& form, std::uint64_t first, std::uint64_t count,
             const std::byte* row) const;
};

// `count` elements one behind the other from `offset` of a target's memory on.
struct WindowPiece {
  std::uint64_t offset;
  std::uint64_t count;
};

// Elements at a target: from `offset` on, or as `layout` places them from there.
struct TargetElements {
  std::uint64_t offset = 0;
  std::uint64_t count = 0;
  const Layout* layout = nullptr;
};

// What fits one step of the way through a target's elements.
struct StepRoom {
  std::uint64_t elements;  // most of them
  std::size_t pieces;      // most of these
  std::size_t bytes;       // of pieces and elements together, where these take:
  std::size_t per_piece;
  std::size_t per_element;
};
// Puts the pieces of the elements from number `first` on into `pieces`, which it empties first;
// returns how many elements those are, at least 1.
std::uint64_t next_pieces(const TargetElements& target, const ElementForm& form,
                          std::uint64_t first, const StepRoom& room,
                          std::vector<WindowPiece>* pieces);

// Copies `from.size` bytes, as many as `to` has, each in its own order. Nothing overlaps where one
// of them does not lie in a row.
void copy_data(const Data& to, const Data& from);

// Bytes in a row at a time, on the average.
std::uint64_t run_length(const Layout& layout);

}  // namespace fairlead::mpi
