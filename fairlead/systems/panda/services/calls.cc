#include "fairlead/systems/panda/services/calls.h"

#include <utility>

namespace fairlead::panda {

CallSlot& Calls::begin(Rank to, Service service) {
  if (free_ == nullptr) {
    free_ = &slots_.emplace_back();
    free_->index = static_cast<std::uint32_t>(slots_.size() - 1);
    free_->generation = first_;
  }
  CallSlot& slot = *free_;
  free_ = std::exchange(slot.next_free, nullptr);
  slot.open = true;
  slot.to = to;
  slot.service = service;
  return slot;
}

void Calls::end(CallSlot& slot) {
  slot.answer = nullptr;
  slot.generation = following(slot.generation);
  slot.next_free = free_;
  free_ = &slot;
}

Calls::Verdict Calls::arrived(Received* message) {
  const auto index = static_cast<std::uint32_t>(message->extra);
  const auto generation = static_cast<std::uint32_t>(message->extra >> 32);
  if (index >= slots_.size()) return Verdict::foreign;
  CallSlot& slot = slots_[index];
  if (generation == slot.generation) {
    if (!slot.open) return slot.answer != nullptr ? Verdict::twice : Verdict::foreign;
    if (message->source != slot.to || message->service != slot.service) return Verdict::foreign;
    slot.open = false;
    slot.answer = message;
    slot.answered.ok.fetch_add(1, std::memory_order_relaxed);
    return Verdict::taken;
  }
  // The answer belongs to an earlier call: generations wrap.
  const std::uint32_t age = slot.generation - generation;
  return generation != 0 && age < std::uint32_t{1} << 31 ? Verdict::twice : Verdict::foreign;
}

}  // namespace fairlead::panda
