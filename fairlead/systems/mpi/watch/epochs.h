// What one rank has accessed of its windows' memory, by epoch: accesses of one epoch may not touch
// the same bytes, but for those that all read them, or all combine (MPI 5.0, section 12.7).
// Accesses of this rank are checked against each other when they are made. Those of several ranks
// are checked at the next collective of the window (a fence, MPI_Win_free, MPI_Finalize): against
// others between the same two fences, in the same exposure of the target (MPI_Win_post), or at the
// same time where both ranks have a lock.
//
// What is the same time the target's count of completed accesses says (WindowControl). It is read
// before each access; a flush or unlock counts it up once the access is completed there, and before
// anybody can know of that. So an access that begins behind another one, however its rank came to
// know, reads a larger number than the other had when it was counted.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::mpi {

enum class AccessKind : std::uint8_t { put, get, combine };
constexpr std::size_t kAccessKinds = 3;

// What began the epoch of an access.
enum class EpochKind : std::uint8_t { fence, start, lock };

// Bytes of a member's memory: from its window's first one on, or addresses where the window is
// dynamic.
struct Access {
  int target = 0;
  AccessKind kind = AccessKind::put;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  EpochKind epoch = EpochKind::fence;
  // EpochKind::start: the number of the target's exposure. EpochKind::lock: the target's count of
  // completed accesses, as it was read before this one.
  std::uint64_t from = 0;
  // EpochKind::lock: the count that this access was given when it was completed.
  std::uint64_t to = 0;
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
  // More ranges of one window are not remembered, as that would take too much memory and time: of
  // an epoch that is open the first ones are kept, of those that are over the last ones.
  static constexpr std::size_t kRangesMax = std::size_t{1} << 16;
  static constexpr std::size_t kPastMax = std::size_t{1} << 12;

  // One access of `target` by this rank.
  struct Made {
    std::uint32_t window = 0;  // Window::id()
    int target = 0;
    AccessKind kind = AccessKind::put;
    std::vector<Spans::Range> ranges;
    EpochKind epoch = EpochKind::fence;
    std::uint64_t from = 0;  // as Access has it
  };
  // Counts a completed access of a target; returns the count before.
  using Count = std::function<std::uint64_t(int target)>;

  // What it touches that an earlier one of its epoch does; empty: nothing.
  std::string conflict(const Made& access) const;
  void add(const Made& access);

  // All members have entered a collective: nothing of what was before matters any more.
  void forget(std::uint32_t window) { windows_.erase(window); }
  // What this rank has accessed of one target, or of all (kAllTargets), is completed: the epoch is
  // over, or was flushed.
  static constexpr int kAllTargets = -1;
  void end(std::uint32_t window, int target, const Count& count);
  // What was read has been read; other accesses go on.
  void end_gets(std::uint32_t window, int target, const Count& count);
  // Whether accesses of that target are not completed.
  bool has_open(std::uint32_t window, int target) const;
  // Those that are not completed (without `from` and `to`), and those of epochs of locks and starts
  // that are.
  std::vector<Access> open(std::uint32_t window) const;
  std::vector<Access> past(std::uint32_t window) const;

 private:
  // What is not completed.
  struct OfTarget {
    EpochKind epoch = EpochKind::fence;
    std::array<Spans, kAccessKinds> kinds;
    std::vector<Access> apart;  // in epochs of locks and starts: one by one
  };
  struct OfWindow {
    std::map<int, OfTarget> targets;
    std::size_t ranges = 0;  // added
    std::deque<Access> past;
  };
  static void end(OfWindow& window, OfTarget& target, bool gets_alone, const Count& count);
  std::map<std::uint32_t, OfWindow> windows_;
};

// Says which accesses by different members, by rank, touch the same bytes and must not; empty: none
// do.
std::string conflict_between(const std::vector<const std::vector<Access>*>& members);

}  // namespace fairlead::mpi
