// The time that a program takes of itself: virtual on modelled platforms.
#pragma once
#include <sys/time.h>

namespace apps {

// Seconds since whenever.
inline double seconds_now() {
  timeval time;
  gettimeofday(&time, nullptr);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace apps
