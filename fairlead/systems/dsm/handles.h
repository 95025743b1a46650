// Shared memory by handles: elements are read and written by calls that first have their page here.
// It works with every engine, and with EngineKind::checked it is the way: such programs also run as
// fibers, whose ranks see the heap at different addresses.
//
//   const auto counts = dsm::Shared<long>::allocate(dsm, 1000);   // collective
//   counts.set(3, counts.get(3) + 1);
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "fairlead/systems/dsm/dsm.h"

namespace fairlead::dsm {

// `count` elements of the heap. A copy names the same elements.
template <class T>
class Shared {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  // Collective: rank 0 allocates, all learn where. `count` 0 afterwards: the heap has no room left.
  static Shared allocate(Dsm& dsm, std::size_t count) {
    constexpr std::uint64_t kNone = ~std::uint64_t{0};
    std::uint64_t handle = kNone;
    if (dsm.self() == 0) {
      void* const block = dsm.allocate(count * sizeof(T));
      if (block != nullptr) handle = dsm.handle(block);
    }
    handle = dsm.agree(handle);
    return handle == kNone ? Shared(dsm, 0, 0) : Shared(dsm, handle, count);
  }
  // What others named: handle() and size() of theirs.
  Shared(Dsm& dsm, std::uint64_t handle, std::size_t count)
      : dsm_(&dsm),
        handle_(handle),
        count_(count),
        data_(count == 0 ? nullptr : static_cast<T*>(dsm.address(handle))) {}

  std::uint64_t handle() const { return handle_; }
  std::size_t size() const { return count_; }

  T get(std::size_t i) const {
    dsm_->touch(data_ + i, sizeof(T), false);
    return data_[i];
  }
  void set(std::size_t i, const T& value) const {
    dsm_->touch(data_ + i, sizeof(T), true);
    data_[i] = value;
  }
  // Elements [first, first + count), here until this rank's next call that synchronises.
  std::span<const T> read(std::size_t first, std::size_t count) const {
    dsm_->touch(data_ + first, count * sizeof(T), false);
    return {data_ + first, count};
  }
  std::span<T> write(std::size_t first, std::size_t count) const {
    dsm_->touch(data_ + first, count * sizeof(T), true);
    return {data_ + first, count};
  }
  // For the calls of Dsm that take an address.
  T* address(std::size_t i) const { return data_ + i; }

 private:
  Dsm* dsm_;
  std::uint64_t handle_;
  std::size_t count_;
  T* data_;  // on this rank
};

}  // namespace fairlead::dsm
