// The bodies, and where they are at the beginning: a galaxy in equilibrium, the same for any number
// of ranks, in an order that puts neighbours in space beside each other.
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

namespace barnes {

struct Vector {
  double x = 0;
  double y = 0;
  double z = 0;

  Vector& operator+=(const Vector& other) {
    x += other.x;
    y += other.y;
    z += other.z;
    return *this;
  }
};
inline Vector operator-(const Vector& a, const Vector& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
inline Vector operator*(double factor, const Vector& of) {
  return {factor * of.x, factor * of.y, factor * of.z};
}
inline double square(const Vector& of) { return of.x * of.x + of.y * of.y + of.z * of.z; }

// Keeps close encounters of bodies soft; a galaxy is the unit of length.
constexpr double kSoftening = 0.05;

// What a mass that far away adds to a body's acceleration, in units in which gravity is 1.
inline Vector attraction(const Vector& distance, double mass) {
  const double squared = square(distance) + kSoftening * kSoftening;
  return mass / (squared * std::sqrt(squared)) * distance;
}

// As it lies in its region.
struct Body {
  Vector position;
  Vector velocity;
  Vector acceleration;
  double mass = 0;
  std::uint64_t number = 0;
};
static_assert(sizeof(Body) == 88, "the least of the LCI paper's regions, section 7");

// Plummer's model of a cluster of stars (Aarseth, Henon, Wielen 1974), its bodies along a curve
// that fills space cube by cube. All masses together are 1.
std::vector<Body> make_galaxy(std::int64_t bodies);

}  // namespace barnes
