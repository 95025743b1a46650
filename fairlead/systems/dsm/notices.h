// Who wrote which page in which interval: what an acquire has to bring.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/base/post.h"
#include "fairlead/systems/dsm/memory.h"

namespace fairlead::dsm {

// Interval `seq` (from 1) of rank `writer` wrote `page`.
struct Notice {
  PageId page;
  std::uint32_t writer;
  std::uint32_t seq;

  friend bool operator==(const Notice&, const Notice&) = default;
};

// Intervals of each rank, all up to the number that stands here.
using VectorTime = std::vector<std::uint32_t>;

// The newest notice of a page and writer says all: who has heard of it waits for its version. Once
// there are `most` notices the others go, and `most` becomes twice what is left: so locks that are
// taken again and again between two barriers cost what they wrote, not how often. Keeps no order.
constexpr std::size_t kNoticesLeast = 1024;
void keep_newest(std::vector<Notice>& notices, std::size_t& most);

// Notices that somebody may still have to hear of. Closed: with an interval it has every earlier
// one of the same writer that was not dropped, or newer ones of the same pages.
class NoticeLog {
 public:
  explicit NoticeLog(std::size_t ranks) : time_(ranks, 0) {}

  // Intervals that it knows already change nothing. An interval comes whole, in one call. Returns
  // those that it did not know, until the next call.
  std::span<const Notice> add(std::span<const Notice> notices);
  // What a rank that knows `time` has not heard of.
  std::vector<Notice> newer_than(std::span<const std::uint32_t> time) const;
  // The newest of each page and writer, until the next call: they say all. Others are forgotten.
  std::span<const Notice> newest();
  // Forgets those that every rank has heard of.
  void drop_covered(std::span<const std::uint32_t> time);
  // The newest interval of each rank in it, dropped ones included.
  const VectorTime& time() const { return time_; }
  std::size_t size() const { return notices_.size(); }

 private:
  VectorTime time_;
  std::vector<Notice> notices_;
  std::size_t most_ = kNoticesLeast;
};

}  // namespace fairlead::dsm
