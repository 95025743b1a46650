#include "fairlead/systems/via/loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "fairlead/base/numbers.h"

namespace fairlead::via {

namespace {

constexpr double kChanceMost = 0.9;
constexpr double kSeedMost = 1e15;

}  // namespace

Result<LossPlan> parse_loss_plan(const std::string& text) {
  LossPlan plan;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const std::size_t equal = part.find('=');
    const std::string_view name = part.substr(0, equal);
    const std::string_view digits = equal == std::string_view::npos ? "" : part.substr(equal + 1);
    const double value = real_number(digits, {0, kSeedMost}).value_or(-1);
    double* const field = name == "drop"      ? &plan.drop
                          : name == "dup"     ? &plan.dup
                          : name == "reorder" ? &plan.reorder
                          : name == "corrupt" ? &plan.corrupt
                                              : nullptr;
    if (name == "seed" && value >= 0) {
      plan.seed = static_cast<std::uint64_t>(value);
    } else if (field != nullptr && value >= 0 && value <= kChanceMost) {
      *field = value;
    } else {
      return Error{
          fmt::format("{}: '{}' is none of drop, dup, reorder, corrupt (0 to 0.9) and seed",
                      kLossVariable, part)};
    }
  }
  return plan;
}

}  // namespace fairlead::via
