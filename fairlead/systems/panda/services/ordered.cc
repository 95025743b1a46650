#include "fairlead/systems/panda/services/ordered.h"

#include <bit>
#include <utility>

namespace fairlead::panda {

Reorder::Verdict Reorder::arrived(Received* message, Ring<Received*>& ready) {
  const std::uint64_t ahead = message->extra - next_;  // numbers wrap
  if (ahead >= std::uint64_t{1} << 63) return Verdict::duplicate;
  if (ahead >= kWindow) return Verdict::too_far;
  if (ahead > 0) {
    if (ahead >= waiting_.size()) widen(ahead);
    Received*& place = at(message->extra);
    if (place != nullptr) return Verdict::duplicate;
    place = message;
    return Verdict::early;
  }
  ready.push_back(message);
  ++next_;
  while (!waiting_.empty() && at(next_) != nullptr) {
    ready.push_back(std::exchange(at(next_), nullptr));
    ++next_;
  }
  return Verdict::in_order;
}

void Reorder::widen(std::uint64_t ahead) {
  constexpr std::uint64_t kFirst = 16;
  std::vector<Received*> wider(std::max(kFirst, std::bit_ceil(ahead + 1)));
  for (Received* message : waiting_) {
    if (message != nullptr) wider[message->extra & (wider.size() - 1)] = message;
  }
  waiting_ = std::move(wider);
}

}  // namespace fairlead::panda
