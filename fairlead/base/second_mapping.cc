#include "fairlead/base/second_mapping.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace fairlead {
namespace {

constexpr std::size_t kPage = 4096;

// The pages of a shared mapping again, readable and writable; nullptr where they are private.
void* map_again(void* at, std::size_t bytes) {
  // Of a length of 0 mremap keeps the former mapping.
  void* const again = ::mremap(at, 0, bytes, MREMAP_MAYMOVE);
  if (again == MAP_FAILED) return nullptr;
  if (::mprotect(again, bytes, PROT_READ | PROT_WRITE) == 0) return again;
  ::munmap(again, bytes);
  return nullptr;
}

// Puts shared pages with the same contents in the place of private ones.
bool share(std::byte* at, std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  auto* const fresh = static_cast<std::byte*>(memory);
  static constexpr std::byte kZeros[kPage] = {};
  for (std::size_t done = 0; done < bytes; done += kPage) {
    const std::size_t size = std::min(kPage, bytes - done);
    // A page that was never written stays memory that nobody needed.
    if (std::memcmp(at + done, kZeros, size) != 0) std::memcpy(fresh + done, at + done, size);
  }
  if (::mremap(memory, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) != MAP_FAILED) return true;
  ::munmap(memory, bytes);
  return false;
}

}  // namespace

SecondMapping::SecondMapping(std::byte* at, std::size_t bytes)
    : bytes_((bytes + kPage - 1) / kPage * kPage) {
  void* again = map_again(at, bytes_);
  if (again == nullptr && share(at, bytes_)) again = map_again(at, bytes_);
  base_ = static_cast<std::byte*>(again);
}

SecondMapping::~SecondMapping() {
  if (base_ != nullptr) ::munmap(base_, bytes_);
}

}  // namespace fairlead
