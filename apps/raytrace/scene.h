// A teapot of ellipsoids on a chequered floor, and the colour that a ray from the camera sees:
// light of two lamps with their shadows, highlights, and mirrored rays (Whitted 1980). It needs no
// function of the mathematics library but the square root, whose result every machine has alike.
#pragma once
#include <cstdint>
#include <vector>

#include "apps/raytrace/vector.h"

namespace raytrace {

struct Ray {
  Vector from;
  Vector along;  // of length 1
};

class Scene {
 public:
  Scene();

  // Red, green and blue of a pixel, as 0xRRGGBB. `samples` * `samples` rays are averaged. Adds the
  // number of intersections that were looked for to `tests`.
  std::uint32_t pixel(std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height,
                      std::int64_t samples, std::uint64_t& tests) const;

 private:
  struct Material {
    Vector colour;
    double mirror;  // part of the light that is mirrored
  };
  struct Ellipsoid {
    Vector centre;
    Vector radii;
    Material material;
  };
  struct Hit {
    double distance;
    Vector point;
    Vector normal;
    Material material;
  };

  // Spheres of radii from `thick` to `thin` along a curve with three control points.
  void add_curve(const Vector& a, const Vector& b, const Vector& c, double thick, double thin);
  bool nearest(const Ray& ray, Hit& hit, std::uint64_t& tests) const;
  bool in_shadow(const Ray& ray, double distance, std::uint64_t& tests) const;
  Vector seen(const Ray& ray, int depth, std::uint64_t& tests) const;

  std::vector<Ellipsoid> ellipsoids_;
};

}  // namespace raytrace
