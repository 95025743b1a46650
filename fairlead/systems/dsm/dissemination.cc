#include "fairlead/systems/dsm/dissemination.h"

#include <algorithm>

namespace fairlead::dsm {

Dissemination::Dissemination(Rank self, std::uint32_t size) : self_(self), size_(size) {
  std::uint32_t round = 0;
  for (std::uint64_t known = 1; known < size; known *= kToldMost + 1) {
    for (std::uint64_t i = 1; i <= kToldMost && i * known < size; ++i) {
      const auto distance = static_cast<std::uint32_t>(i * known);
      steps_.push_back({round, (self + distance) % size, (self + size - distance) % size,
                        std::min(static_cast<std::uint32_t>(known), size - distance)});
    }
    ++round;
  }
}

std::span<const Dissemination::Step> Dissemination::round_at(std::size_t first) const {
  std::size_t end = first;
  while (end < steps_.size() && steps_[end].round == steps_[first].round) ++end;
  return std::span(steps_).subspan(first, end - first);
}

std::size_t Dissemination::step_from(Rank from) const {
  const auto at = std::find_if(steps_.begin(), steps_.end(),
                               [from](const Step& step) { return step.from == from; });
  return static_cast<std::size_t>(at - steps_.begin());
}

}  // namespace fairlead::dsm
