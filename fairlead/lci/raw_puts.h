// Puts that may be lost: a flag of Port::put(), for clients that can put again what did not come
// through, and would rather know than have the port wait and do so (remote shared memory).
#pragma once
#include <cstdint>

#include "fairlead/lci/port.h"

namespace fairlead::lci {

// Among a put's flags (lci::Flag), to a rank whose path has kRawPuts; elsewhere it changes nothing.
// The put may be lost, whole or in part, when the path changes: `done` then counts failed, and
// path().lost has grown since the call. A put without `done` makes the next fence to that rank fail
// instead. What of it came through is there once a later fence has ended. Without the flag the
// port puts again what was lost, until it is there or the peer is down.
constexpr std::uint32_t kRaw = 32;
static_assert(kRaw > kSolicited && kRaw < 1U << kQueueShift, "one bit for each flag of a put");

}  // namespace fairlead::lci
