// The smallest control program of an NI, for tests: no flow control and no steps of its own, only
// the main loop's. It moves packets and nothing else.
#pragma once
#include "fairlead/fabric/model/lanai/ni_hardware.h"

namespace fairlead::fabric::model {

inline void test_mover(void* self, hw::NiWork work) {
  auto& ni = *static_cast<NiHardware*>(self);
  switch (work.kind) {
    case kDescriptor:
      if (ni.packet(work.packet).fetch_bytes > 0) return ni.fetch(work.packet);
      return ni.transmit(ni.packet(work.packet).peer, work.packet);
    case kFetched:
      return ni.transmit(ni.packet(work.packet).peer, work.packet);
    case kReceived:
      return ni.deliver(work.packet);
    default:
      return;
  }
}
inline constexpr NiProgramCalls kTestMover{.turn = &test_mover};

}  // namespace fairlead::fabric::model
