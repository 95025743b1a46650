// Objects that never move, one after the other in one piece of memory whose size is known before
// the first is made. Where they were allocated one by one, the allocator's rounding could put them
// at powers of two apart, and so on the same few sets of a cache.
#pragma once
#include <cstddef>
#include <memory>
#include <utility>

#include "fairlead/base/check.h"

namespace fairlead {

// T may be neither copied nor moved. Destroyed last to first.
template <class T>
class PinnedArray {
 public:
  explicit PinnedArray(std::size_t capacity)
      : capacity_(capacity), first_(std::allocator<T>().allocate(capacity)) {}
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;
  ~PinnedArray() {
    while (size_ > 0) std::destroy_at(&first_[--size_]);
    std::allocator<T>().deallocate(first_, capacity_);
  }

  template <class... Arguments>
  T& emplace_back(Arguments&&... arguments) {
    FAIRLEAD_CHECK(size_ < capacity_, "{} of {} made", size_, capacity_);
    T* const made = std::construct_at(&first_[size_], std::forward<Arguments>(arguments)...);
    ++size_;
    return *made;
  }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return first_[i]; }
  const T& operator[](std::size_t i) const { return first_[i]; }

 private:
  std::size_t capacity_;
  std::size_t size_ = 0;
  T* first_;
};

}  // namespace fairlead
