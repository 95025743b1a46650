// Address space that becomes memory where it is touched: for pools and heaps of which most is never
// used. Zero at the start.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <span>
#include <utility>

namespace fairlead {

class ReservedMemory {
 public:
  ReservedMemory() = default;
  // Throws std::bad_alloc where there is no address space left.
  explicit ReservedMemory(std::size_t bytes) : bytes_(bytes) {
    void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<std::byte*>(at);
  }
  ReservedMemory(ReservedMemory&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  ReservedMemory& operator=(ReservedMemory&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~ReservedMemory() {
    if (base_ != nullptr) ::munmap(base_, bytes_);
  }

  std::byte* data() const { return base_; }
  std::span<std::byte> all() const { return {base_, bytes_}; }

 private:
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace fairlead
