// Points, directions and colours.
#pragma once
#include <cmath>

namespace raytrace {

struct Vector {
  double x = 0;
  double y = 0;
  double z = 0;
};

inline Vector operator+(const Vector& a, const Vector& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
inline Vector operator-(const Vector& a, const Vector& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
// By coordinates.
inline Vector operator*(const Vector& a, const Vector& b) {
  return {a.x * b.x, a.y * b.y, a.z * b.z};
}
inline Vector operator/(const Vector& a, const Vector& b) {
  return {a.x / b.x, a.y / b.y, a.z / b.z};
}
inline Vector operator*(double s, const Vector& a) { return {s * a.x, s * a.y, s * a.z}; }
inline double dot(const Vector& a, const Vector& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Vector cross(const Vector& a, const Vector& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline Vector unit(const Vector& a) { return (1 / std::sqrt(dot(a, a))) * a; }

}  // namespace raytrace
