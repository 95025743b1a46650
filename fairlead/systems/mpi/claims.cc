#include "fairlead/systems/mpi/claims.h"

#include <algorithm>

namespace fairlead::mpi {

std::optional<Claim> ClaimSlots::take(lci::Port& port) {
  if (!asked_) {
    asked_ = true;
    table_ = static_cast<ClaimWord*>(
        port.allocate(kClaimSegment, kClaimSlots * sizeof(ClaimWord), lci::Place::host));
    if (table_ != nullptr) {
      for (std::uint32_t slot = kClaimSlots; slot > 0; --slot) free_.push_back(slot - 1);
    }
  }
  if (free_.empty()) return {};
  const Claim claim(free_.back(), ++generation_);
  free_.pop_back();
  claim.open(table_);
  return claim;
}

std::uint64_t chunk_bytes(std::uint64_t message) {
  const auto pages = [](std::uint64_t bytes) { return (bytes + 4095) / 4096 * 4096; };
  const std::uint64_t eighth = std::clamp(pages(message / 4), kChunkBytesMin, kChunkBytesMax);
  return std::max(eighth, pages(message / Claim::kChunksMax + 1));
}

}  // namespace fairlead::mpi
