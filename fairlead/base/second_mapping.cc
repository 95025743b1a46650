#include "fairlead/base/second_mapping.h"

#include <sys/mman.h>

#include "fairlead/base/pages.h"

namespace fairlead {
namespace {

constexpr std::size_t kPage = 4096;

// Shared pages with the contents of private ones, which become another mapping of them; nullptr:
// the kernel refused.
void* shared_in_place_of(std::byte* at, std::size_t bytes) {
  void* const fresh = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (fresh == MAP_FAILED) return nullptr;
  if (move_onto(static_cast<std::byte*>(fresh), {at, bytes})) return fresh;
  ::munmap(fresh, bytes);
  return nullptr;
}

}  // namespace

SecondMapping::SecondMapping(std::byte* at, std::size_t bytes)
    : bytes_((bytes + kPage - 1) / kPage * kPage) {
  void* again = map_again(at, bytes_, nullptr);
  if (again == nullptr) {
    again = shared_in_place_of(at, bytes_);
  } else if (::mprotect(again, bytes_, PROT_READ | PROT_WRITE) != 0) {
    ::munmap(again, bytes_);
    again = nullptr;
  }
  base_ = static_cast<std::byte*>(again);
}

SecondMapping::~SecondMapping() {
  if (base_ != nullptr) ::munmap(base_, bytes_);
}

}  // namespace fairlead
