// What implementations over Active Messages share: an endpoint that is mapped to those of all other
// ranks.
#pragma once
#include "fairlead/systems/am/am.h"
#include "fairlead/systems/splitc/remote.h"

namespace fairlead::splitc {

template <class F>
am_handler_t handler_of(F* function) {
  return reinterpret_cast<am_handler_t>(function);
}

// Makes a bundle with an endpoint, whose translations are the other ranks by number; every rank's
// Split-C has the same number of endpoint. False: none can be had.
bool make_endpoint(lci::Port& port, eb_t& bundle, ep_t& endpoint,
                   std::span<const Rank> left_out = {});

// A message came back to handler 0: ends the job.
[[noreturn]] void came_back(int status, const void* block);

}  // namespace fairlead::splitc
