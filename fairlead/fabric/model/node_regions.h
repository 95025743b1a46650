// Memory that ranks of a modelled node share (Nic::region()), where a node has several and they do
// not run on network interfaces with programs of ours.
#pragma once
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "fairlead/base/even_nodes.h"
#include "fairlead/base/reserved_memory.h"
#include "fairlead/fabric/model/machine.h"

namespace fairlead::fabric::model {

// What of each rank's memory others of its node can load: what a Port may allocate, and its tables.
constexpr std::uint64_t kRegionMemoryBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kNodeRegionBytes = kRegionMemoryBytes + (std::uint64_t{64} << 20);

// The one of `rank` among those of all ranks, one after the other. Empty: ranks share no memory.
inline std::span<std::byte> region_of(std::span<std::byte> regions, Rank rank) {
  if (regions.empty()) return {};
  return regions.subspan(rank * kNodeRegionBytes, kNodeRegionBytes);
}

// Those of all ranks of a machine: `shared` by their processes, or the machine's own.
class NodeRegions {
 public:
  // Where there is no address space for it ranks share no memory.
  NodeRegions(const EvenNodes& ranks, const SharedMemory& shared) : all_(shared.regions) {
    if (!shared.packets.empty() || !ranks.several()) return;
    try {
      own_ = ReservedMemory(ranks.ranks * kNodeRegionBytes, ReservedMemory::Pages::shared);
      all_ = own_.all();
    } catch (const std::bad_alloc&) {
      all_ = {};
    }
  }

  std::span<std::byte> all() const { return all_; }

 private:
  ReservedMemory own_;
  std::span<std::byte> all_;
};

}  // namespace fairlead::fabric::model
