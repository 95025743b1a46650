#include "fairlead/lci/frame_pool.h"

#include <sys/mman.h>

#include <new>

namespace fairlead::lci {

// Not a multiple of a page: frames start in different sets of the cache.
FramePool::FramePool(std::size_t frame_bytes, std::uint32_t frames)
    : stride_((frame_bytes + 63) / 64 * 64 + 64), frames_(frames) {
  void* const at = ::mmap(nullptr, stride_ * frames_, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<std::byte*>(at);
}

FramePool::~FramePool() { ::munmap(base_, stride_ * frames_); }

}  // namespace fairlead::lci
