#include "tools/fairlead/reproduce/study.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace fairlead::tools {

void add_cell(Study& study, std::string row, std::string column, std::string unit, Quantity ours) {
  study.cells.push_back({std::move(row), std::move(column), std::move(unit), std::move(ours), {}});
}

SeriesPlan series_over(std::string name, std::vector<PointPlan> points, std::string key) {
  SeriesPlan series{std::move(name), points.front().measurement, std::move(key)};
  series.points = std::move(points);
  return series;
}

Quantity constant(const std::string& label, double value) {
  return {label, {}, [value](std::span<const Measured* const>) { return std::optional(value); }};
}

Quantity figure_of(const std::string& label, const Measurement& measurement,
                   const std::string& key) {
  return {label, {measurement}, [key](auto measured) { return measured[0]->figure(key); }};
}

Quantity figure_at(const std::string& label, const Measurement& measurement, const std::string& key,
                   std::uint64_t size) {
  return {
      label, {measurement}, [key, size](auto measured) { return measured[0]->figure(key, size); }};
}

Quantity peak_of(const std::string& label, const Measurement& measurement, const std::string& key) {
  return {label, {measurement}, [key](auto measured) {
            double most = 0;
            for (const auto& [size, rate] : measured[0]->points(key)) most = std::max(most, rate);
            return most;
          }};
}

Quantity crossover_of(const Measurement& rising, const Measurement& other, const std::string& key) {
  return {"", {rising, other}, [key](auto measured) -> std::optional<double> {
            const auto a = measured[0]->points(key);
            const auto b = measured[1]->points(key);
            for (std::size_t i = 1; i < std::min(a.size(), b.size()); ++i) {
              const double before = a[i - 1].second - b[i - 1].second;
              const double after = a[i].second - b[i].second;
              if (before >= 0 || after < 0) continue;
              const double part = before / (before - after);
              return a[i - 1].first + part * (a[i].first - a[i - 1].first);
            }
            return std::nullopt;
          }};
}

namespace {

// What `of` makes of the values of both, where both have one.
Quantity of_both(const std::string& label, const Quantity& a, const Quantity& b,
                 std::optional<double> (*of)(double, double)) {
  std::vector<Measurement> needs = a.needs;
  needs.insert(needs.end(), b.needs.begin(), b.needs.end());
  return {label, needs, [a, b, of](auto measured) -> std::optional<double> {
            const auto left = a.value(measured.first(a.needs.size()));
            const auto right = b.value(measured.subspan(a.needs.size()));
            return left && right ? of(*left, *right) : std::nullopt;
          }};
}

}  // namespace

Quantity difference_of(const std::string& label, const Quantity& a, const Quantity& b) {
  return of_both(label, a, b,
                 [](double left, double right) -> std::optional<double> { return left - right; });
}

Quantity ratio_of(const std::string& label, const Quantity& a, const Quantity& b) {
  return of_both(label, a, b, [](double over, double under) -> std::optional<double> {
    return under == 0 ? std::nullopt : std::optional<double>(over / under);
  });
}

}  // namespace fairlead::tools
