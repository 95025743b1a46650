#include "fairlead/hw/resource.h"

#include "fairlead/hw/event_kinds.h"

namespace fairlead::hw {

std::uint8_t resource_of(std::uint8_t event_kind) {
  switch (event_kind) {
    case kHeadEvent:
    case kTailEvent:
    case kLeftEvent:
    case kAckEvent:
    case kEndEvent:
    case kCutEvent:
    case kFreedEvent:
      return kLinkResource;
    case kNiTurnEvent:
      return kNiResource;
    case kDoorbellEvent:
    case kDmaEvent:
      return kBusResource;
    case kVisibleEvent:
    case kNearEvent:
      return kVisibilityResource;
    default:
      return kTimerResource;
  }
}

}  // namespace fairlead::hw
