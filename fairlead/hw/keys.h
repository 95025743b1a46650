// One number of a platform file: where it stands, its range, and where it goes. Each part of a
// machine lists its own.
#pragma once
#include <cmath>
#include <cstdint>
#include <functional>

#include "fairlead/base/units.h"

namespace fairlead::hw {

struct Key {
  const char* section;
  const char* name;
  double least;
  double most;
  std::function<void(double)> store;
  bool optional = false;
};

// What stores a number given in the key's unit. `to` outlives it.
std::function<void(double)> hertz_from_mhz(Hertz& to);
std::function<void(double)> rate_from_mb(BytesPerSec& to);
std::function<void(double)> ps_from_us(Ps& to);
std::function<void(double)> ps_from_ns(Ps& to);
std::function<void(double)> cycles(Cycles& to);
template <class Integer>
std::function<void(double)> whole(Integer& to) {
  return [&to](double n) { to = static_cast<Integer>(std::llround(n)); };
}

// A rate times `factor`, a time divided by it (Part::speed_up).
template <class Rate>
void faster(Rate& rate, double factor) {
  const double scaled = std::round(static_cast<double>(rate.count) * factor);
  rate.count = scaled < 1 ? 1 : static_cast<std::uint64_t>(scaled);
}
inline void shorter(Ps& time, double factor) {
  time.count = std::llround(static_cast<double>(time.count) / factor);
}

}  // namespace fairlead::hw
