// Names of the program's static variables: offsets in its parts, which are equal on every rank that
// runs the same binary, wherever it was loaded.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fairlead/base/program_data.h"
#include "fairlead/base/result.h"

namespace fairlead::dsm {

class StaticData {
 public:
  struct Place {
    std::size_t part;  // of parts()
    std::uint64_t offset;
  };

  // Nothing: [data, data + bytes) is not within one of the parts.
  std::optional<Place> place_of(const void* data, std::size_t bytes) const;
  const std::vector<DataPart>& parts() const { return program_.parts; }

 private:
  ProgramData program_ = program_data();
};

// The static variables that are the program's own and mean the same on every rank: without those of
// libraries that the linker placed in the program (`stdout`, `environ`). Error: the program may lie
// at another address on each rank, or the loader writes addresses of libraries among them; says how
// to link it.
Result<std::vector<DataPart>> portable_variables();

// A library that a process has loaded, in whole: elsewhere in each process.
struct Library {
  std::uint64_t name;  // equal for the same file
  std::uintptr_t begin;
  std::uintptr_t end;
};
std::vector<Library> loaded_libraries();

// Addresses in a process with the libraries `from`, as they are in one with the libraries `to`.
class LibraryMoves {
 public:
  LibraryMoves() = default;
  LibraryMoves(std::span<const Library> from, std::span<const Library> to);

  // A word that points into no such library stays.
  std::uintptr_t operator()(std::uintptr_t word) const {
    return word < least_ || word >= most_ ? word : moved(word);
  }

 private:
  struct Move {
    std::uintptr_t from;
    std::uintptr_t bytes;
    std::uintptr_t to;
  };
  std::uintptr_t moved(std::uintptr_t word) const;

  std::vector<Move> moves_;  // of libraries that lie elsewhere
  std::uintptr_t least_ = 0;
  std::uintptr_t most_ = 0;
};

}  // namespace fairlead::dsm
