#include "fairlead/base/huge_heap.h"

#include <malloc.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

namespace fairlead {

#ifdef __GLIBC__
namespace {
constexpr std::uintptr_t kHugePage = 2 << 20;

// As much of `bytes` as there is address space for.
void* take_block(std::size_t& bytes) {
  for (; bytes >= kHugePage; bytes /= 2) {
    if (void* const block = std::malloc(bytes); block != nullptr) return block;
  }
  return nullptr;
}
}  // namespace
#endif

void expect_heap(std::size_t bytes) {
#ifdef __GLIBC__
  constexpr int kMappingsMax = 65536;  // the library's default
  constexpr int kLargestThreshold = 4 * 1024 * 1024 * static_cast<int>(sizeof(long));  // it takes
  // One block that is not a mapping of its own goes back to the heap's end whole when it is freed.
  if (mallopt(M_TRIM_THRESHOLD, -1) == 0 || mallopt(M_MMAP_MAX, 0) == 0) return;
  void* const block = take_block(bytes);
  (void)mallopt(M_MMAP_MAX, kMappingsMax);
  // Objects of some MiB lie in the heap too.
  (void)mallopt(M_MMAP_THRESHOLD, kLargestThreshold);
  if (block == nullptr) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  const std::uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
  const std::uintptr_t end = (begin + bytes) / kHugePage * kHugePage;
  if (first < end) (void)madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
  std::free(block);
#else
  (void)bytes;
#endif
}

}  // namespace fairlead
