#include "fairlead/systems/via/loss.h"

#include <charconv>
#include <string_view>

namespace fairlead::via {
namespace {

bool number_of(std::string_view text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

Result<LossPlan> parse_loss_plan(const std::string& text) {
  LossPlan plan;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const std::size_t equal = part.find('=');
    const std::string_view name = part.substr(0, equal);
    double value = 0;
    const bool is_number =
        equal != std::string_view::npos && number_of(part.substr(equal + 1), value);
    double* const field = name == "drop"      ? &plan.drop
                          : name == "dup"     ? &plan.dup
                          : name == "reorder" ? &plan.reorder
                          : name == "corrupt" ? &plan.corrupt
                                              : nullptr;
    const bool is_seed = name == "seed" && is_number && value >= 0 && value < 1e15;
    if (is_seed) {
      plan.seed = static_cast<std::uint64_t>(value);
    } else if (field != nullptr && is_number && value >= 0 && value <= 0.9) {
      *field = value;
    } else {
      return Error{std::string(kLossVariable) + ": '" + std::string(part) +
                   "' is none of drop, dup, reorder, corrupt (0 to 0.9) and seed"};
    }
  }
  return plan;
}

}  // namespace fairlead::via
