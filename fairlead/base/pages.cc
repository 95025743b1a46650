#include "fairlead/base/pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

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

// Word by word, as memcmp() and memcpy() of a program that AddressSanitizer watches refuse what it
// keeps between variables. What is 0 is so there, and takes no memory.
[[gnu::no_sanitize_address]] bool move_onto(std::byte* shared, std::span<std::byte> pages) {
  using Word [[gnu::may_alias]] = std::uint64_t;
  const Word* const from = reinterpret_cast<const Word*>(pages.data());
  Word* const to = reinterpret_cast<Word*>(shared);
  for (std::size_t i = 0; i < pages.size() / sizeof *from; ++i) {
    if (from[i] != 0) to[i] = from[i];
  }
  return map_again(shared, pages.size(), pages.data()) != nullptr;
}

}  // namespace fairlead
