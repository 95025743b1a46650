// Cutting a large transfer into packets and putting it together again. Each fragment names its
// index, so the receiver needs no order; duplicates and impossible ones are told apart.
#pragma once
#include <algorithm>
#include <cstdint>

namespace fairlead::proto {

struct Fragment {
  std::uint32_t index;
  std::uint64_t offset;
  std::uint32_t size;
};

// Number of fragments of `total` bytes; an empty transfer still takes one. fragment_max > 0.
constexpr std::uint64_t fragment_count(std::uint64_t total, std::uint32_t fragment_max) {
  return total == 0 ? 1 : (total + fragment_max - 1) / fragment_max;
}
constexpr Fragment fragment_at(std::uint64_t total, std::uint32_t fragment_max,
                               std::uint32_t index) {
  const std::uint64_t offset = std::uint64_t{index} * fragment_max;
  return {index, offset,
          static_cast<std::uint32_t>(std::min<std::uint64_t>(fragment_max, total - offset))};
}

// Sender: hands out the fragments in order.
class Fragmenter {
 public:
  Fragmenter() = default;
  Fragmenter(std::uint64_t total, std::uint32_t fragment_max)
      : total_(total), fragment_max_(fragment_max), count_(fragment_count(total, fragment_max)) {}

  bool more() const { return next_ < count_; }
  Fragment peek() const {
    return fragment_at(total_, fragment_max_, static_cast<std::uint32_t>(next_));
  }
  void advance() { ++next_; }

 private:
  std::uint64_t total_ = 0;
  std::uint32_t fragment_max_ = 1;
  std::uint64_t count_ = 0;
  std::uint64_t next_ = 0;
};

// Receiver: fragments may come in any order within kWindow of the first one missing.
class Reassembly {
 public:
  static constexpr std::uint32_t kWindow = 64;
  enum class Answer : std::uint8_t {
    accepted,    // new; not the last
    complete,    // new, and now everything is there
    duplicate,   // came before: drop
    too_far,     // beyond the window: drop, the sender broke its window
    impossible,  // no such fragment, or of the wrong size: drop
  };

  Reassembly() = default;
  Reassembly(std::uint64_t total, std::uint32_t fragment_max)
      : total_(total), fragment_max_(fragment_max), count_(fragment_count(total, fragment_max)) {}

  Answer arrived(std::uint32_t index, std::uint64_t size) {
    if (index >= count_ || size != fragment_at(total_, fragment_max_, index).size)
      return Answer::impossible;
    if (index < base_) return Answer::duplicate;
    if (index - base_ >= kWindow) return Answer::too_far;
    const std::uint64_t bit = std::uint64_t{1} << (index - base_);
    if ((seen_ & bit) != 0) return Answer::duplicate;
    seen_ |= bit;
    for (; (seen_ & 1) != 0; seen_ >>= 1) ++base_;
    return base_ == count_ ? Answer::complete : Answer::accepted;
  }

  std::uint64_t offset_of(std::uint32_t index) const {
    return std::uint64_t{index} * fragment_max_;
  }
  bool complete() const { return base_ == count_; }
  // Fragment `index` may come now. The asking side asks for no other: a count of those under way is
  // no bound, as one that is late lets any number of later ones pass.
  bool reaches(std::uint64_t index) const { return index < base_ + kWindow; }
  // The first fragment not yet there.
  std::uint64_t missing() const { return base_; }

 private:
  std::uint64_t total_ = 0;
  std::uint32_t fragment_max_ = 1;
  std::uint64_t count_ = 0;
  std::uint64_t base_ = 0;  // all below are there
  std::uint64_t seen_ = 0;  // bit i: base_ + i is there
};

}  // namespace fairlead::proto
