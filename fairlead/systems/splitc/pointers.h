// Pointers into the memory of all ranks (Split-C paper, section 1): a rank and a place in its heap.
// A place has one offset on every rank.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace fairlead::splitc {

// What travels between ranks as its bytes.
template <class T>
concept Plain = std::is_trivially_copyable_v<T>;

// `T *global`: arithmetic stays on the rank. A default one points nowhere.
template <class T>
class global_ptr {  // NOLINT(readability-identifier-naming): Split-C's word
 public:
  global_ptr() = default;
  global_ptr(std::uint32_t rank, std::uint64_t offset) : offset_(offset), rank_(rank) {}

  std::uint32_t rank() const { return rank_; }
  // Bytes from the beginning of the rank's heap.
  std::uint64_t offset() const { return offset_; }
  explicit operator bool() const { return offset_ != 0; }
  // This place as another type; on another rank.
  template <class Other>
  global_ptr<Other> as() const {
    return {rank_, offset_};
  }
  global_ptr on(std::uint32_t rank) const { return {rank, offset_}; }

  global_ptr& operator+=(std::int64_t n) {
    offset_ += static_cast<std::uint64_t>(n) * sizeof(T);
    return *this;
  }
  global_ptr& operator-=(std::int64_t n) { return *this += -n; }
  global_ptr& operator++() { return *this += 1; }
  global_ptr& operator--() { return *this += -1; }
  friend global_ptr operator+(global_ptr p, std::int64_t n) { return p += n; }
  friend global_ptr operator-(global_ptr p, std::int64_t n) { return p -= n; }
  // Elements between two places of one rank.
  friend std::int64_t operator-(global_ptr a, global_ptr b) {
    return static_cast<std::int64_t>(a.offset_ - b.offset_) / static_cast<std::int64_t>(sizeof(T));
  }
  friend auto operator<=>(const global_ptr&, const global_ptr&) = default;

 private:
  std::uint64_t offset_ = 0;
  std::uint32_t rank_ = 0;
};

// `T *spread`: arithmetic walks the ranks first, then on in their heaps.
template <class T>
class spread_ptr {  // NOLINT(readability-identifier-naming): Split-C's word
 public:
  spread_ptr() = default;
  // `procs` > 0: of the job.
  spread_ptr(std::uint32_t procs, std::uint32_t rank, std::uint64_t offset)
      : offset_(offset), rank_(rank), procs_(procs) {}

  std::uint32_t rank() const { return rank_; }
  std::uint64_t offset() const { return offset_; }
  explicit operator bool() const { return offset_ != 0; }
  // NOLINTNEXTLINE(google-explicit-constructor): as in Split-C
  operator global_ptr<T>() const { return {rank_, offset_}; }
  global_ptr<T> operator[](std::int64_t n) const { return *this + n; }

  spread_ptr& operator+=(std::int64_t n) {
    const std::int64_t procs = procs_;
    std::int64_t place = rank_ + n;
    std::int64_t rows = place / procs;
    place -= rows * procs;
    if (place < 0) {
      place += procs;
      --rows;
    }
    rank_ = static_cast<std::uint32_t>(place);
    offset_ += static_cast<std::uint64_t>(rows) * sizeof(T);
    return *this;
  }
  spread_ptr& operator-=(std::int64_t n) { return *this += -n; }
  spread_ptr& operator++() { return *this += 1; }
  spread_ptr& operator--() { return *this += -1; }
  friend spread_ptr operator+(spread_ptr p, std::int64_t n) { return p += n; }
  friend spread_ptr operator-(spread_ptr p, std::int64_t n) { return p -= n; }
  friend std::int64_t operator-(const spread_ptr& a, const spread_ptr& b) {
    const auto bytes = static_cast<std::int64_t>(a.offset_ - b.offset_);
    return bytes / static_cast<std::int64_t>(sizeof(T)) * a.procs_ + a.rank_ - b.rank_;
  }
  friend bool operator==(const spread_ptr&, const spread_ptr&) = default;

 private:
  std::uint64_t offset_ = 0;
  std::uint32_t rank_ = 0;
  std::uint32_t procs_ = 1;
};

}  // namespace fairlead::splitc
