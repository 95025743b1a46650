// A first-in first-out queue that costs what it holds: the first few entries lie in the object
// itself, more in memory that doubles (std::deque takes 600 bytes when empty, which tens of
// thousands of modelled nodes cannot afford). Thread: one at a time.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "fairlead/base/check.h"

namespace fairlead {

// T is default-constructible and movable; `kInside`: a power of two, or 0.
template <class T, std::uint32_t kInside = 0>
class Ring {
 public:
  static_assert((kInside & (kInside - 1)) == 0);

  Ring() = default;
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  // The other one is empty then.
  Ring(Ring&& other) noexcept
      : head_(std::exchange(other.head_, 0)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, kInside)),
        outside_(std::move(other.outside_)),
        inside_(std::move(other.inside_)) {}

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  T& front() { return at(0); }
  const T& front() const { return const_cast<Ring*>(this)->at(0); }
  // The i-th from the front.
  T& operator[](std::size_t i) { return at(static_cast<std::uint32_t>(i)); }

  void push_back(T value) {
    if (size_ == capacity_) [[unlikely]]
      grow();
    at(size_) = std::move(value);
    ++size_;
  }
  void pop_front() {
    FAIRLEAD_DCHECK(size_ > 0, "an empty ring");
    // What an entry owns goes with it.
    if constexpr (!std::is_trivially_copyable_v<T>) front() = T();
    head_ = (head_ + 1) & (capacity_ - 1);
    --size_;
  }

 private:
  static constexpr std::uint32_t kFirst = 4;  // in memory of its own

  T& at(std::uint32_t i) {
    const std::uint32_t index = (head_ + i) & (capacity_ - 1);
    if constexpr (kInside > 0) {
      if (outside_ == nullptr) [[likely]]
        return inside_[index];
    }
    return outside_[index];
  }
  [[gnu::noinline, gnu::cold]] void grow() {
    FAIRLEAD_CHECK(capacity_ <= UINT32_MAX / 2, "{} entries", size_);
    const std::uint32_t larger = capacity_ == 0 ? kFirst : 2 * capacity_;
    auto moved = std::make_unique<T[]>(larger);
    for (std::uint32_t i = 0; i < size_; ++i) moved[i] = std::move(at(i));
    outside_ = std::move(moved);
    capacity_ = larger;
    head_ = 0;
  }

  std::uint32_t head_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = kInside;
  std::unique_ptr<T[]> outside_;
  [[no_unique_address]] std::array<T, kInside> inside_{};
};

}  // namespace fairlead
