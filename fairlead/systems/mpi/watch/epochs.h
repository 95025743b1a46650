// What one rank has accessed of its windows' memory, by epoch: accesses of one epoch may not touch
// the same bytes, but for those that all read them, or all combine (MPI 5.0, section 12.7).
// Accesses of this rank are checked against each other when they are made, those of several ranks
// at the fence that ends their epoch.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::mpi {

enum class AccessKind : std::uint8_t { put, get, combine };
constexpr std::size_t kAccessKinds = 3;

// Bytes of a member's memory: from its window's first one on, or addresses where the window is
// dynamic.
struct Access {
  int target = 0;
  AccessKind kind = AccessKind::put;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Bytes as ranges that lie apart.
class Spans {
 public:
  using Range = std::pair<std::uint64_t, std::uint64_t>;  // from, to behind the last
  void add(Range range);
  // The bytes of the first range that has some in common; an empty range: none has.
  Range common(Range range) const;
  const std::map<std::uint64_t, std::uint64_t>& ranges() const { return ranges_; }
  void clear() { ranges_.clear(); }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;
};

class Epochs {
 public:
  // More ranges of one window are not remembered, as that would take too much memory and time.
  static constexpr std::size_t kRangesMax = std::size_t{1} << 16;

  // One access of `target` by this rank.
  struct Made {
    std::uint32_t window = 0;  // Window::id()
    int target = 0;
    AccessKind kind = AccessKind::put;
    std::vector<Spans::Range> ranges;
  };

  // What it touches that an earlier one of its epoch does; empty: nothing.
  std::string conflict(const Made& access) const;
  void add(const Made& access);

  // The epoch is over for all targets, or for one.
  void end(std::uint32_t window) { windows_.erase(window); }
  void end(std::uint32_t window, int target);
  // What was read has been read, for all targets (kAllTargets) or one; other accesses go on.
  static constexpr int kAllTargets = -1;
  void end_gets(std::uint32_t window, int target);
  // Those whose epoch is not over.
  std::vector<Access> all(std::uint32_t window) const;

 private:
  using Kinds = std::array<Spans, kAccessKinds>;
  struct OfWindow {
    std::map<int, Kinds> targets;
    std::size_t ranges = 0;  // added
  };
  std::map<std::uint32_t, OfWindow> windows_;
};

// Says which accesses by different members, by rank, touch the same bytes and must not; empty: none
// do.
std::string conflict_between(const std::vector<const std::vector<Access>*>& members);

}  // namespace fairlead::mpi
