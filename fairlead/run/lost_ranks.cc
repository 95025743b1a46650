#include "fairlead/run/lost_ranks.h"

#include <fmt/format.h>

namespace fairlead::run {

std::string lost_ranks(const lci::Port& port) {
  constexpr Rank kNamedMax = 4;
  std::string text;
  Rank lost = 0;
  for (Rank rank = 0; rank < port.size(); ++rank) {
    const lci::PathState path = port.path(rank);
    if (!path.down || ++lost > kNamedMax) continue;
    text += fmt::format("{}rank {} was lost: {}", lost == 1 ? "" : "; ", rank, path.reason);
  }
  if (lost > kNamedMax) text += fmt::format("; {} more were lost", lost - kNamedMax);
  return lost == 0 ? "a rank of the job was lost" : text;
}

}  // namespace fairlead::run
