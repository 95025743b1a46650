// What a rank's library beside a LANai knows of its host: the host's own rates, and what its part
// of a protocol takes. Fixed-width: a rank in a process of its own is told the same.
#pragma once
#include <cstdint>

#include "fairlead/base/step.h"
#include "fairlead/base/units.h"
#include "fairlead/hw/host_cost.h"
#include "fairlead/hw/lanai/lanai_params.h"

namespace fairlead::hw {

struct LibraryRates : HostRates {
  LibraryRates(const HostParams& host, const LanaiParams& ni)
      : HostRates(host),
        resend_timeout(ni.resend_timeout),
        ack_delay(ni.ack_delay),
        host_window(ni.host_window > 0 ? ni.host_window : ni.resend_window) {
    for (std::size_t i = 0; i < kSteps; ++i) step[i] = time_for(ni.host_cycles[i], host.clock);
  }

  // Where the host sends again what was lost.
  Ps resend_timeout;
  Ps ack_delay;
  std::uint64_t host_window;
  Ps step[kSteps];
};

}  // namespace fairlead::hw
