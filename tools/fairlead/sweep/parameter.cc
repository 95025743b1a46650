#include "tools/fairlead/sweep/parameter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "fairlead/base/numbers.h"
#include "tools/fairlead/sweep/values.h"

namespace fairlead::tools {

namespace {

constexpr double kRanksMax = 1U << 20;

// One part of a list, "drop=0..0.05:6" of "dup=0.1,drop=0..0.05:6": where its number stands.
struct Place {
  std::size_t name;  // where the part begins
  std::size_t begin;
  std::size_t end;
};

// The part whose number is a range; commas stand between parts.
std::optional<Place> range_in(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) return std::nullopt;
  const std::size_t equals = text.rfind('=', dots);
  if (equals == std::string::npos) return std::nullopt;
  const std::size_t comma = text.rfind(',', equals);
  return Place{comma == std::string::npos ? 0 : comma + 1, equals + 1,
               std::min(text.find(',', dots), text.size())};
}

Result<void> add(Sweep& sweep, Parameter parameter, const std::string& called,
                 const std::string& text) {
  Result<std::vector<double>> values = read_values(called, text);
  if (!values.ok()) return values.error();
  parameter.values = std::move(values.value());
  sweep.parameters.push_back(std::move(parameter));
  return {};
}

Result<void> add_ranks(Sweep& sweep, const std::string& text) {
  if (!is_several(text)) {
    const Result<std::uint32_t> ranks = read_whole<std::uint32_t>("-n", text, {1, 1U << 20});
    if (!ranks.ok()) return ranks.error();
    sweep.choice.world.ranks = ranks.value();
    return {};
  }
  if (Result<void> r = add(sweep, {Parameter::Option::ranks, "ranks", "", "", {}}, "-n", text);
      !r.ok()) {
    return r;
  }
  std::vector<double>& values = sweep.parameters.back().values;
  for (double& value : values) value = std::round(value);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.front() >= 1 && values.back() <= kRanksMax) return {};
  return Error{fmt::format("-n {}: must be whole numbers from 1 to 2^20", text)};
}

Result<void> add_set(Sweep& sweep, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || !is_several(text.substr(equals + 1))) {
    sweep.choice.world.set.push_back(text);
    return {};
  }
  const std::string key = text.substr(0, equals);
  return add(sweep, {Parameter::Option::set, key, key + "=", "", {}}, "--set " + key,
             text.substr(equals + 1));
}

// --faults and --faster: parts with commas between, of which one may have a range.
Result<void> add_list(Sweep& sweep, Parameter::Option option, const char* called,
                      const std::string& text, std::string& otherwise) {
  const std::optional<Place> place = range_in(text);
  if (!place) {
    otherwise = text;
    return {};
  }
  std::string name = text.substr(place->name, place->begin - 1 - place->name);
  const std::string full = fmt::format("{} {}", called, name);
  if (text.find("..", place->end) != std::string::npos) {
    return Error{fmt::format("{} {}: one of its numbers may be a range", called, text)};
  }
  if (option == Parameter::Option::faster) name = "faster " + name;
  return add(sweep, {option, name, text.substr(0, place->begin), text.substr(place->end), {}}, full,
             text.substr(place->begin, place->end - place->begin));
}

}  // namespace

std::string Parameter::text(double value) const { return before + value_text(value) + after; }

void Parameter::apply(double value, WorldChoice& choice, std::string& faster) const {
  switch (option) {
    case Option::set:
      choice.world.set.push_back(text(value));
      break;
    case Option::ranks:
      choice.world.ranks = static_cast<std::uint32_t>(value);
      break;
    case Option::faults:
      choice.world.faults = text(value);
      break;
    case Option::faster:
      faster = text(value);
  }
}

std::size_t Sweep::points() const {
  std::size_t points = 1;
  for (const Parameter& one : parameters) points *= one.values.size();
  return points;
}

std::vector<double> Sweep::values_at(std::size_t index) const {
  std::vector<double> values(parameters.size());
  for (std::size_t i = parameters.size(); i-- > 0;) {
    const std::vector<double>& own = parameters[i].values;
    values[i] = own[index % own.size()];
    index /= own.size();
  }
  return values;
}

Result<Sweep> sweep_of(const SweptOptions& options, const WorldChoice& choice) {
  Sweep sweep;
  sweep.choice = choice;
  sweep.choice.world.set.clear();
  if (Result<void> r = add_ranks(sweep, options.ranks); !r.ok()) return r.error();
  for (const std::string& one : options.set) {
    if (Result<void> r = add_set(sweep, one); !r.ok()) return r.error();
  }
  using Option = Parameter::Option;
  if (Result<void> r =
          add_list(sweep, Option::faults, "--faults", options.faults, sweep.choice.world.faults);
      !r.ok()) {
    return r.error();
  }
  if (Result<void> r = add_list(sweep, Option::faster, "--faster", options.faster, sweep.faster);
      !r.ok()) {
    return r.error();
  }
  if (sweep.parameters.empty()) {
    return Error{
        "sweep needs a number to change: -n 4..64:5, --set ni.clock_MHz=33..266:8, "
        "--faults drop=0..0.05:6 or --faster ni=1..4:4"};
  }
  if (sweep.parameters.size() > 2) {
    return Error{
        fmt::format("sweep changes one number or two, and here are {}", sweep.parameters.size())};
  }
  return sweep;
}

}  // namespace fairlead::tools
