#include "fairlead/fabric/fault_plan.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "fairlead/base/prng.h"

namespace fairlead::fabric {
namespace {

constexpr const char* kHelp =
    "valid: drop=P, dup=P, corrupt=P, reorder=P (P from 0 to 1), delay=TIME:P, kill=RANK@TIME "
    "(TIME "
    "like 50us, 3ms, 1s), separated by commas";

Error wrong(std::string_view part, const char* why) {
  return Error{fmt::format("faults: '{}': {}; {}", part, why, kHelp)};
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::optional<double> probability(std::string_view text) {
  const std::optional<double> p = number(text);
  return p && *p >= 0 && *p <= 1 ? p : std::nullopt;
}

std::optional<Ps> time_of(std::string_view text) {
  struct Unit {
    std::string_view name;
    double us;
  };
  for (const Unit& unit : {Unit{"ns", 1e-3}, Unit{"us", 1}, Unit{"ms", 1e3}, Unit{"s", 1e6}}) {
    if (text.size() <= unit.name.size() || !text.ends_with(unit.name)) continue;
    const std::optional<double> value = number(text.substr(0, text.size() - unit.name.size()));
    // Up to a day: what is longer is a mistake.
    if (!value) continue;
    if (*value < 0 || *value * unit.us > 86400e6) return std::nullopt;
    return microseconds_rounded(*value * unit.us);
  }
  return std::nullopt;
}

std::optional<FaultPlan::Kill> kill_of(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) return std::nullopt;
  FaultPlan::Kill kill{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + at, kill.rank);
  const std::optional<Ps> when = time_of(text.substr(at + 1));
  if (error != std::errc() || end != text.data() + at || at == 0 || !when) return std::nullopt;
  kill.at = *when;
  return kill;
}

Result<void> parse_part(std::string_view part, FaultPlan& plan) {
  const std::size_t equals = part.find('=');
  if (equals == std::string_view::npos) return wrong(part, "no '='");
  const std::string_view key = part.substr(0, equals);
  const std::string_view value = part.substr(equals + 1);
  double* chance = key == "drop"      ? &plan.drop
                   : key == "dup"     ? &plan.duplicate
                   : key == "corrupt" ? &plan.corrupt
                   : key == "reorder" ? &plan.reorder
                                      : nullptr;
  if (chance != nullptr) {
    const std::optional<double> p = probability(value);
    if (!p) return wrong(part, "not a probability");
    *chance = *p;
    return {};
  }
  if (key == "delay") {
    const std::size_t colon = value.find(':');
    const std::optional<Ps> length = time_of(value.substr(0, colon));
    const std::optional<double> p =
        colon == std::string_view::npos ? std::nullopt : probability(value.substr(colon + 1));
    if (!length || !p) return wrong(part, "not TIME:PROBABILITY");
    plan.delay = *length;
    plan.delayed = *p;
    return {};
  }
  if (key == "kill") {
    const std::optional<FaultPlan::Kill> kill = kill_of(value);
    if (!kill) return wrong(part, "not RANK@TIME");
    plan.kills.push_back(*kill);
    return {};
  }
  return wrong(part, "unknown key");
}

}  // namespace

Result<FaultPlan> parse_fault_plan(std::string_view text, std::uint64_t seed) {
  FaultPlan plan;
  plan.seed = seed;
  plan.text = std::string(text);
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const Result<void> parsed = parse_part(text.substr(0, comma), plan);
    if (!parsed.ok()) return parsed.error();
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) return wrong(plan.text, "ends with a comma");
  }
  return plan;
}

std::string repeat_line(const FaultPlan& plan) {
  return fmt::format("--faults {} --seed {}", plan.text, plan.seed);
}

Fate fate_of(const FaultPlan& plan, Peer source, Peer dest, std::uint64_t count) {
  Prng mix(plan.seed);
  const std::uint64_t pair = (std::uint64_t{source} << 32 | dest) * 0x9e3779b97f4a7c15u;
  Prng draw(mix.next() ^ Prng(pair ^ (count * 0xd1342543de82ef95u)).next());
  Fate fate;
  fate.drop = draw.chance(plan.drop);
  fate.duplicate = draw.chance(plan.duplicate);
  fate.corrupt = draw.chance(plan.corrupt);
  fate.reorder = draw.chance(plan.reorder);
  if (draw.chance(plan.delayed)) fate.delay = plan.delay;
  fate.bit = draw.next();
  return fate;
}

}  // namespace fairlead::fabric
