#include "fairlead/hw/keys.h"

namespace fairlead::hw {

std::function<void(double)> hertz_from_mhz(Hertz& to) {
  return [&to](double mhz) { to = Hertz{static_cast<std::uint64_t>(std::llround(mhz * 1e6))}; };
}
std::function<void(double)> rate_from_mb(BytesPerSec& to) {
  return [&to](double mb) { to = BytesPerSec{static_cast<std::uint64_t>(std::llround(mb * 1e6))}; };
}
std::function<void(double)> ps_from_us(Ps& to) {
  return [&to](double us) { to = microseconds_rounded(us); };
}
std::function<void(double)> ps_from_ns(Ps& to) {
  return [&to](double ns) { to = microseconds_rounded(ns / 1e3); };
}
std::function<void(double)> cycles(Cycles& to) {
  return [&to](double count) { to = Cycles{std::llround(count)}; };
}

}  // namespace fairlead::hw
