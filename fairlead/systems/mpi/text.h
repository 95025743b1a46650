// Strings that calls answer.
#pragma once
#include <cstring>
#include <string_view>

namespace fairlead::mpi {

// Copies `text` with its final zero, as much as fits `room` bytes with it, and says its length.
inline void copy_text(std::string_view text, std::size_t room, char* to, int* length) {
  const std::size_t n = text.size() < room ? text.size() : room - 1;
  std::memcpy(to, text.data(), n);
  to[n] = '\0';
  *length = static_cast<int>(n);
}

}  // namespace fairlead::mpi
