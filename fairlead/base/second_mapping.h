// Memory of this process at a second address: what is stored at one is there at the other, and each
// has a protection of its own.
#pragma once
#include <cstddef>
#include <utility>

namespace fairlead {

class SecondMapping {
 public:
  SecondMapping() = default;
  // Maps the pages [at, at + bytes) again; `at` begins a page. Private memory becomes shared by it:
  // its contents stay, but nobody may store there meanwhile, a device that has it pinned keeps the
  // former pages, and processes forked later share it. data() is nullptr where the kernel has no
  // room.
  SecondMapping(std::byte* at, std::size_t bytes);
  SecondMapping(SecondMapping&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  SecondMapping& operator=(SecondMapping&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~SecondMapping();

  std::byte* data() const { return base_; }

 private:
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace fairlead
