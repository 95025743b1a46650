// Names of the program's static variables: offsets from where it was loaded, which are equal on
// every rank that runs the same binary.
#pragma once
#include <cstddef>
#include <cstdint>

#include <vector>

#include "fairlead/base/program_data.h"
#include "fairlead/base/result.h"

namespace fairlead::dsm {

class StaticData {
 public:
  // False: [data, data + bytes) is not within the program's static variables.
  bool offset_of(const void* data, std::size_t bytes, std::uint64_t& offset) const;
  // nullptr: there is no such place.
  void* at(std::uint64_t offset, std::size_t bytes) const;

 private:
  ProgramData program_ = program_data();
};

// The static variables that are the program's own and mean the same on every rank: without those of
// libraries that the linker placed in the program (`stdout`, `environ`). Error: the program may lie
// at another address on each rank, or the loader writes addresses of libraries among them; says how
// to link it.
Result<std::vector<DataPart>> portable_variables();

}  // namespace fairlead::dsm
