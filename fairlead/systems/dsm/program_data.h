// The static variables of the program, which lie at the same offsets on every rank that runs the
// same binary, wherever it was loaded.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fairlead::dsm {

class ProgramData {
 public:
  // Looks at the program this process runs.
  ProgramData();

  // False: [data, data + bytes) is not within its static variables.
  bool offset_of(const void* data, std::size_t bytes, std::uint64_t& offset) const;
  // nullptr: there is no such place.
  void* at(std::uint64_t offset, std::size_t bytes) const;

 private:
  struct Segment {
    std::uint64_t offset;
    std::uint64_t bytes;
  };
  std::uintptr_t base_ = 0;
  std::vector<Segment> writable_;
};

}  // namespace fairlead::dsm
