// Shared memory for containers of the standard library: std::vector<int, Allocator<int>>. A rank's
// container is used by others through its elements; the container's own state may lie in the heap.
#pragma once
#include <cstddef>
#include <new>

#include "fairlead/systems/dsm/dsm.h"

namespace fairlead::dsm {

template <class T>
class Allocator {
 public:
  using value_type = T;

  explicit Allocator(Dsm& dsm) : dsm_(&dsm) {}
  template <class Other>
  Allocator(const Allocator<Other>& other) : dsm_(other.dsm()) {}

  // std::bad_alloc: the heap has no room left.
  T* allocate(std::size_t count) {
    void* const block = dsm_->allocate(count * sizeof(T));
    if (block == nullptr) throw std::bad_alloc();
    return static_cast<T*>(block);
  }
  void deallocate(T* block, std::size_t) { dsm_->free(block); }
  Dsm* dsm() const { return dsm_; }

  template <class Other>
  friend bool operator==(const Allocator& a, const Allocator<Other>& b) {
    return a.dsm() == b.dsm();
  }

 private:
  Dsm* dsm_;
};

}  // namespace fairlead::dsm
