// How far this rank is in the stream of ordered messages, and what waits for it to get further.
//
// Replicas alone are sequentially consistent, as are single copies. Both together are not: a
// process could learn by a call of a write that its own rank's replica has not seen. Therefore
// every message outside the stream says how much of the stream its sender had executed, and is
// taken up when the receiver has executed as much (Fekete, Kaashoek, Lynch: Implementing
// Sequentially Consistent Shared Objects Using Broadcast and Point-to-Point Communication, 1998).
#pragma once
#include <cstdint>
#include <map>
#include <utility>

namespace fairlead::orca {

template <class T>
class Horizon {
 public:
  // Messages executed: the number of the last one plus 1.
  std::uint64_t seen() const { return seen_; }
  bool reached(std::uint64_t number) const { return seen_ >= number; }
  void defer(std::uint64_t until, T&& what) { waiting_.emplace(until, std::move(what)); }
  void reach(std::uint64_t seen) { seen_ = seen; }
  // Calls `run` with what waited for no more than was reached, in order of need, then of arrival.
  template <class Run>
  void release(Run&& run) {
    while (!waiting_.empty() && waiting_.begin()->first <= seen_) {
      T what = std::move(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
      run(std::move(what));
    }
  }

 private:
  std::uint64_t seen_ = 0;
  std::multimap<std::uint64_t, T> waiting_;
};

}  // namespace fairlead::orca
