#include "fairlead/base/pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace fairlead {

void* map_again(void* memory, std::size_t bytes, void* at) {
  // A length of 0: another mapping of the same pages.
  void* const made = at != nullptr ? mremap(memory, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at)
                                   : mremap(memory, 0, bytes, MREMAP_MAYMOVE);
  return made == MAP_FAILED ? nullptr : made;
}

std::span<std::byte> whole_pages(std::span<std::byte> part) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(part.data());
  const std::uintptr_t from = first / page * page;
  const std::uintptr_t to = (first + part.size() + page - 1) / page * page;
  return {reinterpret_cast<std::byte*>(from), to - from};
}

bool move_onto(std::byte* shared, std::span<std::byte> pages) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::vector<std::byte> zero(page);
  for (std::size_t at = 0; at < pages.size(); at += page) {
    if (std::memcmp(pages.data() + at, zero.data(), page) != 0) {
      std::memcpy(shared + at, pages.data() + at, page);
    }
  }
  return map_again(shared, pages.size(), pages.data()) != nullptr;
}

}  // namespace fairlead
