#include "apps/raytrace/scene.h"

#include <algorithm>
#include <cmath>

namespace raytrace {
namespace {

constexpr double kNear = 1e-6;  // rays leave a surface so far from it
constexpr int kDepthMax = 4;    // rays that follow each other
constexpr int kCurve = 24;      // spheres of a curve
constexpr Vector kSky = {0.55, 0.7, 0.9};
constexpr double kAmbient = 0.15;

struct Lamp {
  Vector at;
  double strength;
};
constexpr Lamp kLamps[] = {{{6, 9, -5}, 0.7}, {{-7, 6, -6}, 0.35}};

constexpr Vector kEye = {0.6, 3.4, -7.5};
constexpr Vector kLooksAt = {0.1, 1.0, 0};

// Where a ray meets an ellipsoid first, or -1.
double meets(const Ray& ray, const Vector& centre, const Vector& radii) {
  const Vector from = (ray.from - centre) / radii;
  const Vector along = ray.along / radii;
  const double a = dot(along, along);
  const double b = dot(from, along);
  const double c = dot(from, from) - 1;
  const double root = b * b - a * c;
  if (root < 0) return -1;
  const double width = std::sqrt(root);
  const double first = (-b - width) / a;
  if (first > kNear) return first;
  const double second = (-b + width) / a;
  return second > kNear ? second : -1;
}

double power_32(double value) {
  for (int i = 0; i < 5; ++i) value *= value;
  return value;
}

std::uint32_t byte_of(double light) {
  // The square root stands for a screen's gamma.
  const double shown = std::sqrt(std::clamp(light, 0.0, 1.0)) * 255 + 0.5;
  return static_cast<std::uint32_t>(shown);
}

}  // namespace

Scene::Scene() {
  const Material china{{0.85, 0.35, 0.25}, 0.25};
  ellipsoids_.push_back({{0, 1.1, 0}, {1.6, 1.1, 1.6}, china});           // body
  ellipsoids_.push_back({{0, 1.95, 0}, {0.95, 0.4, 0.95}, china});        // lid
  ellipsoids_.push_back({{0, 2.45, 0}, {0.22, 0.22, 0.22}, china});       // knob
  ellipsoids_.push_back({{0, 0.12, 0}, {1.15, 0.14, 1.15}, china});       // foot
  add_curve({1.3, 0.9, 0}, {2.2, 0.8, 0}, {2.6, 2.0, 0}, 0.38, 0.17);     // spout
  add_curve({-1.4, 1.7, 0}, {-3.0, 1.9, 0}, {-1.4, 0.6, 0}, 0.15, 0.15);  // handle
}

void Scene::add_curve(const Vector& a, const Vector& b, const Vector& c, double thick,
                      double thin) {
  const Material china{{0.85, 0.35, 0.25}, 0.25};
  for (int i = 0; i <= kCurve; ++i) {
    const double t = static_cast<double>(i) / kCurve;
    const double s = 1 - t;
    const double radius = s * thick + t * thin;
    ellipsoids_.push_back({s * s * a + 2 * s * t * b + t * t * c, {radius, radius, radius}, china});
  }
}

bool Scene::nearest(const Ray& ray, Hit& hit, std::uint64_t& tests) const {
  const Ellipsoid* found = nullptr;
  hit.distance = 1e30;
  tests += ellipsoids_.size() + 1;
  for (const Ellipsoid& each : ellipsoids_) {
    const double distance = meets(ray, each.centre, each.radii);
    if (distance > 0 && distance < hit.distance) {
      hit.distance = distance;
      found = &each;
    }
  }
  const double floor = ray.along.y < 0 ? -ray.from.y / ray.along.y : -1;
  if (floor > kNear && floor < hit.distance) {
    hit.distance = floor;
    hit.point = ray.from + floor * ray.along;
    hit.normal = {0, 1, 0};
    const auto square = static_cast<std::int64_t>(std::floor(hit.point.x)) +
                        static_cast<std::int64_t>(std::floor(hit.point.z));
    const double shade = square % 2 == 0 ? 0.85 : 0.25;
    hit.material = {{shade, shade, shade}, 0.1};
    return true;
  }
  if (found == nullptr) return false;
  hit.point = ray.from + hit.distance * ray.along;
  hit.normal = unit((hit.point - found->centre) / (found->radii * found->radii));
  hit.material = found->material;
  return true;
}

bool Scene::in_shadow(const Ray& ray, double distance, std::uint64_t& tests) const {
  for (const Ellipsoid& each : ellipsoids_) {
    ++tests;
    const double at = meets(ray, each.centre, each.radii);
    if (at > 0 && at < distance) return true;
  }
  return false;
}

Vector Scene::seen(const Ray& ray, int depth, std::uint64_t& tests) const {
  Hit hit;
  // The floor ends in haze.
  if (!nearest(ray, hit, tests) || hit.distance > 60) return kSky;
  const Vector from = hit.point + kNear * hit.normal;
  Vector light = kAmbient * hit.material.colour;
  for (const Lamp& lamp : kLamps) {
    const Vector way = lamp.at - from;
    const double distance = std::sqrt(dot(way, way));
    const Vector towards = (1 / distance) * way;
    const double facing = dot(towards, hit.normal);
    if (facing <= 0 || in_shadow({from, towards}, distance, tests)) continue;
    light = light + lamp.strength * facing * hit.material.colour;
    const Vector half = unit(towards - ray.along);
    const double shine = 0.5 * lamp.strength * power_32(std::max(0.0, dot(half, hit.normal)));
    light = light + Vector{shine, shine, shine};
  }
  if (depth + 1 >= kDepthMax) return light;
  const Vector mirrored = ray.along - 2 * dot(ray.along, hit.normal) * hit.normal;
  const double part = hit.material.mirror;
  return (1 - part) * light + part * seen({from, unit(mirrored)}, depth + 1, tests);
}

std::uint32_t Scene::pixel(std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height,
                           std::int64_t samples, std::uint64_t& tests) const {
  const Vector forward = unit(kLooksAt - kEye);
  const Vector right = unit(cross({0, 1, 0}, forward));
  const Vector up = cross(forward, right);
  // Half of the picture's shorter side, 1 ahead.
  constexpr double kHalf = 0.42;
  const double scale = 2 * kHalf / static_cast<double>(std::min(width, height));
  Vector light;
  for (std::int64_t i = 0; i < samples * samples; ++i) {
    const double part = 1 / static_cast<double>(samples);
    const double at_x = static_cast<double>(x) + (static_cast<double>(i % samples) + 0.5) * part;
    const double at_y = static_cast<double>(y) + (static_cast<double>(i / samples) + 0.5) * part;
    const double u = (at_x - static_cast<double>(width) / 2) * scale;
    const double v = (static_cast<double>(height) / 2 - at_y) * scale;
    light = light + seen({kEye, unit(forward + u * right + v * up)}, 0, tests);
  }
  light = (1 / static_cast<double>(samples * samples)) * light;
  return byte_of(light.x) << 16 | byte_of(light.y) << 8 | byte_of(light.z);
}

}  // namespace raytrace
