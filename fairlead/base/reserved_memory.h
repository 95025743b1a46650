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
  // shared: processes that are forked later have it in common, and it can be mapped again
  // (second_mapping.h) although a device has it pinned. Each such memory is a mapping of its own,
  // of which a process may have 65,530.
  enum class Pages { private_to_process, shared };

  ReservedMemory() = default;
  // Throws std::bad_alloc where there is no address space left.
  explicit ReservedMemory(std::size_t bytes, Pages pages = Pages::private_to_process)
      : bytes_(bytes) {
    const int sharing = pages == Pages::shared ? MAP_SHARED : MAP_PRIVATE;
    void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
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
