// The lane of an I/O bus in a trace: programmed writes, and DMA where it has the bus between them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "fairlead/base/trace.h"
#include "fairlead/base/units.h"

namespace fairlead::hw {

class BusLane {
 public:
  explicit BusLane(TraceLane lane) : lane_(lane) {}

  // Writes come in the order of their times; one may begin before a transfer ends
  // and end after it.
  void write(Ps from, Ps to, std::uint64_t bytes) {
    lane_.interval(from, to, "write", {"bytes", bytes});
    writes_.push_back({from, to});
  }
  void dma(Ps from, Ps to) {
    for (const Written& write : writes_) {
      if (write.from > from && from < to) lane_.interval(from, std::min(write.from, to), "DMA");
      from = std::max(from, write.to);
    }
    if (from < to) lane_.interval(from, to, "DMA");
    forget_before(to);
  }
  // No transfer that began earlier is under way.
  void forget_before(Ps at) {
    std::erase_if(writes_, [at](const Written& write) { return write.to <= at; });
  }

 private:
  struct Written {
    Ps from;
    Ps to;
  };

  TraceLane lane_;
  std::vector<Written> writes_;
};

}  // namespace fairlead::hw
