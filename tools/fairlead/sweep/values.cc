#include "tools/fairlead/sweep/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "fairlead/base/numbers.h"

namespace fairlead::tools {

namespace {

const char kForm[] =
    "A..B:N is N values evenly apart, A..B:Nlog N values in equal ratios, A,B,C these";

Error wrong(const std::string& name, std::string_view text, const std::string& reason) {
  return Error{fmt::format("{} {}: {}; {}", name, text, reason, kForm)};
}

std::vector<double> spread(double first, double last, std::size_t count, bool ratios) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(count - 1);
    const double value =
        ratios ? first * std::pow(last / first, part) : first + (last - first) * part;
    // Six digits are what anybody sets, and make kept results those of the next sweep as well.
    values.push_back(i + 1 == count ? last : std::stod(fmt::format("{:.6g}", value)));
  }
  return values;
}

Result<std::vector<double>> read_range(const std::string& name, std::string_view text,
                                       std::size_t dots) {
  const std::size_t colon = text.find(':', dots);
  if (colon == std::string_view::npos) return wrong(name, text, "says no number of values");
  const std::optional<double> first = real_number(text.substr(0, dots));
  const std::optional<double> last = real_number(text.substr(dots + 2, colon - dots - 2));
  if (!first || !last) return wrong(name, text, "its ends must be numbers");
  std::string_view count_text = text.substr(colon + 1);
  const bool ratios = count_text.ends_with("log");
  if (ratios) count_text.remove_suffix(3);
  const auto count = whole_number<std::size_t>(count_text, {2, kSweepValuesMax});
  if (!count) {
    return wrong(name, text, fmt::format("N must be a whole number from 2 to {}", kSweepValuesMax));
  }
  if (*first >= *last) return wrong(name, text, "it is empty: A must be less than B");
  if (ratios && *first <= 0) return wrong(name, text, "equal ratios need values above 0");
  return spread(*first, *last, *count, ratios);
}

}  // namespace

bool is_several(std::string_view text) {
  return text.find("..") != std::string_view::npos || text.find(',') != std::string_view::npos;
}

Result<std::vector<double>> read_values(const std::string& name, std::string_view text) {
  const std::size_t dots = text.find("..");
  if (dots != std::string_view::npos) return read_range(name, text, dots);
  std::vector<double> values;
  std::string_view rest = text;
  for (;;) {
    const std::size_t comma = rest.find(',');
    const std::optional<double> value = real_number(rest.substr(0, comma));
    if (!value) return wrong(name, text, "its values must be numbers");
    values.push_back(*value);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::string value_text(double value) { return fmt::format("{}", value); }

}  // namespace fairlead::tools
