// The time that a program takes of itself: virtual on modelled platforms.
#pragma once
#include <time.h>

namespace apps {

// Seconds since whenever.
inline double seconds_now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace apps
