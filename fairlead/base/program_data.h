// The static variables of the program: its writable segments without what the loader makes
// read-only. They lie at the same offsets in every process that runs the same binary, wherever it
// was loaded.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fairlead {

struct DataPart {
  std::byte* base;
  std::size_t bytes;
  std::size_t from_file = 0;  // so many at its beginning the program's file has; the rest are zero
};

// The static variables of the program that this process runs, and where it was loaded.
struct ProgramData {
  std::uintptr_t base = 0;
  std::vector<DataPart> parts;
};
ProgramData program_data();
// Names this process among all that ever ran: equal only for ranks that are fibers of one process,
// which share these variables.
std::uint64_t process_name();
// Equal for programs with the same layout.
std::uint64_t layout_name(const std::vector<DataPart>& parts);

}  // namespace fairlead
