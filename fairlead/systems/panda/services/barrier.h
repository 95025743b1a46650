// What rank 0 gathers in a barrier, and the others wait for. With it goes what shows whether
// messages are under way: so many were sent, so many received, the same twice in a row.
#pragma once
#include <cstdint>

#include "fairlead/base/post.h"
#include "fairlead/systems/panda/wire.h"

namespace fairlead::panda {

enum class Meeting : Service { barrier = 0, stop = 1 };

class Barrier {
 public:
  // The calling rank enters the next one; its number.
  std::uint64_t enter() { return ++round_; }
  std::uint64_t round() const { return round_; }

  // Rank 0: another rank has entered barrier `round` (as it counts); false: not the next one.
  bool gathered(std::uint64_t round, Service meeting, const Gathered& sums);
  // Rank 0: all have; `own` is its part. Whether nothing is under way.
  bool complete(const Gathered& own);
  // Rank 0: of those that came, how many are in stop().
  std::uint64_t in_stop() const { return in_stop_; }
  // The others: rank 0 let them go.
  bool released(std::uint64_t round, bool quiet);
  bool quiet() const { return quiet_; }

  const Counter& came() const { return came_; }
  const Counter& left() const { return left_; }

 private:
  std::uint64_t round_ = 0;
  std::uint64_t completed_ = 0;
  Counter came_;  // at rank 0, over all barriers
  Counter left_;
  Gathered sums_{};
  std::uint64_t in_stop_ = 0;
  std::uint64_t sent_before_ = ~std::uint64_t{0};
  bool quiet_ = false;
};

}  // namespace fairlead::panda
