// A first-in first-out queue that costs what it holds: the first few entries lie in the object
// itself, more in memory that doubles (std::deque takes 600 bytes when empty, which tens of
// thousands of modelled nodes cannot afford). Thread: one at a time.
#pragma once
#include <array>
#include <bit>
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
        size_(other.size_),
        log_capacity_(other.log_capacity_),
        outside_(std::move(other.outside_)),
        inside_(std::move(other.inside_)) {
    other.size_ = 0;
    other.log_capacity_ = kLogInside;
  }

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  T& front() { return at(0); }
  const T& front() const { return const_cast<Ring*>(this)->at(0); }
  // The i-th from the front.
  T& operator[](std::size_t i) { return at(static_cast<std::uint32_t>(i)); }

  void push_back(T value) {
    if (size_ == capacity()) [[unlikely]]
      grow();
    at(size_) = std::move(value);
    ++size_;
  }
  void pop_front() {
    FAIRLEAD_DCHECK(size_ > 0, "an empty ring");
    // What an entry owns goes with it.
    if constexpr (!std::is_trivially_copyable_v<T>) front() = T();
    head_ = (head_ + 1) & (capacity() - 1);
    --size_;
  }

 private:
  static constexpr unsigned kLogFirst = 2;  // in memory of its own
  static constexpr unsigned kNone = 31;     // no room at all
  static constexpr unsigned kLogInside =
      kInside == 0 ? kNone : static_cast<unsigned>(std::countr_zero(kInside));
  static constexpr std::uint32_t kMaxSize = std::uint32_t{1} << 26;

  std::uint32_t capacity() const {
    return kInside == 0 && log_capacity_ == kNone ? 0 : std::uint32_t{1} << log_capacity_;
  }
  T& at(std::uint32_t i) {
    const std::uint32_t index = (head_ + i) & (capacity() - 1);
    if constexpr (kInside > 0) {
      if (outside_ == nullptr) [[likely]]
        return inside_[index];
    }
    return outside_[index];
  }
  [[gnu::noinline, gnu::cold]] void grow() {
    FAIRLEAD_CHECK(size() < kMaxSize, "{} entries", size());
    const unsigned larger = capacity() == 0 ? kLogFirst : log_capacity_ + 1;
    auto moved = std::make_unique<T[]>(std::size_t{1} << larger);
    for (std::uint32_t i = 0; i < size_; ++i) moved[i] = std::move(at(i));
    outside_ = std::move(moved);
    log_capacity_ = larger & 31;
    head_ = 0;
  }

  std::uint32_t head_ = 0;
  std::uint32_t size_ : 27 = 0;
  std::uint32_t log_capacity_ : 5 = kLogInside;
  std::unique_ptr<T[]> outside_;
  struct Nothing {};
  [[no_unique_address]] std::conditional_t<(kInside > 0), std::array<T, kInside>, Nothing>
      inside_{};
};

}  // namespace fairlead
