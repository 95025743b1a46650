// Names of the program's static variables: offsets in its parts, which are equal on every rank that
// runs the same binary, wherever it was loaded.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
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

}  // namespace fairlead::dsm
