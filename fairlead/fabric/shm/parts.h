// What an endpoint in shared memory lends to who wants no call on its way (lci/client/fast_path.h):
// the rings and the buffers that all packets to and from all peers go through. The endpoint's own.
#pragma once

namespace fairlead::fabric {

class ShmOutRings;
class ShmInRings;
class ShmPool;
class ShmLoans;

struct ShmParts {
  ShmOutRings* out = nullptr;
  ShmInRings* in = nullptr;
  ShmPool* pool = nullptr;
  ShmLoans* loans = nullptr;
};

}  // namespace fairlead::fabric
