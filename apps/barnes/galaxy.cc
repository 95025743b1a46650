#include "apps/barnes/galaxy.h"

#include <algorithm>

#include "apps/common/scramble.h"

namespace barnes {
namespace {

// Bodies further out are drawn again, as Plummer's model has no end.
constexpr double kRadiusMax = 9.0;

// Numbers of one body, one after the other.
class Draw {
 public:
  explicit Draw(std::int64_t body) : body_(body) {}
  double next() {  // 0 < value < 1
    const std::uint64_t drawn = apps::scramble(1, body_, ++count_);
    return (static_cast<double>(drawn >> 11) + 0.5) * 0x1p-53;
  }
  // A point of the unit sphere's inside, moved out to `length`.
  Vector direction(double length) {
    for (;;) {
      const Vector at{2 * next() - 1, 2 * next() - 1, 2 * next() - 1};
      const double squared = square(at);
      if (squared > 1e-6 && squared <= 1) return length / std::sqrt(squared) * at;
    }
  }

 private:
  std::int64_t body_;
  std::int64_t count_ = 0;
};

Body make_body(std::int64_t i, std::int64_t bodies) {
  Draw draw(i);
  double radius = kRadiusMax;
  while (radius >= kRadiusMax) {
    const double mass_within = std::cbrt(draw.next());
    radius = 1 / std::sqrt(1 / (mass_within * mass_within) - 1);
  }
  // The speed in units of that of escape has the density x^2 (1 - x^2)^(7/2), at most 0.092.
  double x = 0;
  double density = -1;
  while (density < 0) {
    x = draw.next();
    const double rest = 1 - x * x;
    density = x * x * rest * rest * rest * std::sqrt(rest) - 0.1 * draw.next();
  }
  const double escape = std::sqrt(2 / std::sqrt(1 + radius * radius));
  Body body;
  body.position = draw.direction(radius);
  body.velocity = draw.direction(x * escape);
  body.mass = 1 / static_cast<double>(bodies);
  return body;
}

// 21 bits of each coordinate, interleaved from the highest down.
std::uint64_t place_on_curve(const Vector& at) {
  const auto bits_of = [](double value) {
    return static_cast<std::uint64_t>((value + kRadiusMax) / (2 * kRadiusMax) * (1 << 21));
  };
  const std::uint64_t x = bits_of(at.x);
  const std::uint64_t y = bits_of(at.y);
  const std::uint64_t z = bits_of(at.z);
  std::uint64_t place = 0;
  for (int bit = 20; bit >= 0; --bit) {
    place = place << 3 | (x >> bit & 1) << 2 | (y >> bit & 1) << 1 | (z >> bit & 1);
  }
  return place;
}

}  // namespace

std::vector<Body> make_galaxy(std::int64_t bodies) {
  std::vector<Body> all;
  for (std::int64_t i = 0; i < bodies; ++i) all.push_back(make_body(i, bodies));
  std::stable_sort(all.begin(), all.end(), [](const Body& a, const Body& b) {
    return place_on_curve(a.position) < place_on_curve(b.position);
  });
  for (std::size_t i = 0; i < all.size(); ++i) all[i].number = i;
  return all;
}

}  // namespace barnes
