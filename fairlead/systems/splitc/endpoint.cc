#include "fairlead/systems/splitc/endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace fairlead::splitc {

bool make_endpoint(lci::Port& port, eb_t& bundle, ep_t& endpoint, std::span<const Rank> left_out) {
  en_t name{};
  bool good = AM_AllocateBundle(AM_SEQ, &bundle) == AM_OK &&
              AM_AllocateEndpoint(bundle, &endpoint, &name) == AM_OK &&
              AM_SetNumTranslations(endpoint, static_cast<int>(port.size())) == AM_OK;
  for (Rank rank = 0; good && rank < port.size(); ++rank) {
    if (rank == port.self() || std::binary_search(left_out.begin(), left_out.end(), rank)) continue;
    good =
        AM_Map(endpoint, static_cast<int>(rank), AM_NameOf(rank, name.endpoint), AM_ALL) == AM_OK;
  }
  return good;
}

void came_back(int status, const void* block) {
  const auto& back = *static_cast<const am_returned_t*>(block);
  if ((status & EUNREACHABLE) != 0) {
    current_host().fail(fmt::format("rank {} was lost, with a message to it", back.to.rank));
  }
  current_host().fail(
      fmt::format("a message to rank {} came back with status {:#x}", back.to.rank, status));
  std::abort();  // GCC forgets that a virtual function does not return
}

}  // namespace fairlead::splitc
