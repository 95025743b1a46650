// Quantities that cross functions: time in picoseconds, sizes, rates, clocks. No implicit
// conversion between them and no floating point: rates stay exact until the moment of use.
#pragma once
#include <compare>
#include <cstdint>

namespace fairlead {

// Instant since the World started, or a length of time, in picoseconds. 2^63 ps = 106 days.
struct Ps {
  std::int64_t count = 0;

  friend constexpr auto operator<=>(Ps, Ps) = default;
  constexpr Ps& operator+=(Ps other) {
    count += other.count;
    return *this;
  }
  constexpr Ps& operator-=(Ps other) {
    count -= other.count;
    return *this;
  }
  friend constexpr Ps operator+(Ps a, Ps b) { return Ps{a.count + b.count}; }
  friend constexpr Ps operator-(Ps a, Ps b) { return Ps{a.count - b.count}; }
  friend constexpr Ps operator*(Ps a, std::int64_t n) { return Ps{a.count * n}; }
  friend constexpr Ps operator*(std::int64_t n, Ps a) { return Ps{a.count * n}; }
  friend constexpr Ps operator/(Ps a, std::int64_t n) { return Ps{a.count / n}; }
};

constexpr Ps kNever{INT64_MAX};

constexpr Ps nanoseconds(std::int64_t n) { return Ps{n * 1'000}; }
constexpr Ps microseconds(std::int64_t n) { return Ps{n * 1'000'000}; }
constexpr Ps milliseconds(std::int64_t n) { return Ps{n * 1'000'000'000}; }
constexpr Ps seconds(std::int64_t n) { return Ps{n * 1'000'000'000'000}; }
// From a figure of a platform file or command line; rounds to the nearest picosecond.
constexpr Ps microseconds_rounded(double us) {
  return Ps{static_cast<std::int64_t>(us * 1e6 + (us < 0 ? -0.5 : 0.5))};
}
// For printing only.
constexpr double to_us(Ps t) { return static_cast<double>(t.count) / 1e6; }
constexpr double to_seconds(Ps t) { return static_cast<double>(t.count) / 1e12; }

struct Bytes {
  std::uint64_t count = 0;
  friend constexpr auto operator<=>(Bytes, Bytes) = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes{a.count + b.count}; }
};

struct BytesPerSec {
  std::uint64_t count = 0;
  friend constexpr auto operator<=>(BytesPerSec, BytesPerSec) = default;
};

struct Cycles {
  std::int64_t count = 0;
  friend constexpr auto operator<=>(Cycles, Cycles) = default;
  friend constexpr Cycles operator+(Cycles a, Cycles b) { return Cycles{a.count + b.count}; }
};

struct Hertz {
  std::uint64_t count = 0;
  friend constexpr auto operator<=>(Hertz, Hertz) = default;
};

// value * 10^12 / per_second, rounded up: a transfer or step is never shorter than exact.
constexpr Ps scaled_to_ps(std::uint64_t value, std::uint64_t per_second) {
  __extension__ using Wide = unsigned __int128;
  const auto exact = static_cast<Wide>(value) * 1'000'000'000'000u;
  return Ps{static_cast<std::int64_t>((exact + per_second - 1) / per_second)};
}

// Time to move `size` at `rate`; `rate` is positive.
constexpr Ps time_for(Bytes size, BytesPerSec rate) { return scaled_to_ps(size.count, rate.count); }

// Time of `cycles` (not negative) at `clock` (positive).
constexpr Ps time_for(Cycles cycles, Hertz clock) {
  return scaled_to_ps(static_cast<std::uint64_t>(cycles.count), clock.count);
}

}  // namespace fairlead
