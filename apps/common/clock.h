// The time that a program takes of itself: virtual on modelled platforms.
#pragma once
#include <time.h>

#include <cstdint>

namespace apps {

// Since whenever. Differences are exact: on a modelled platform they repeat, as those of seconds in
// floating point do not to the last bit.
inline std::int64_t nanoseconds_now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}
inline double seconds_now() { return static_cast<double>(nanoseconds_now()) * 1e-9; }

}  // namespace apps
