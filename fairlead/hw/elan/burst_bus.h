// A PCI bus on which several requesters of the network interface and the host's programmed writes
// alternate burst by burst: each burst has its data clocks and an overhead of arbitration, address
// and turn-around. A transfer of one burst waits for the burst that is under way; longer ones go
// behind those that began before, and are held up by the short ones between their bursts.
#pragma once
#include <algorithm>
#include <cstdint>

#include "fairlead/base/units.h"
#include "fairlead/hw/pci/pci_params.h"

namespace fairlead::hw {

// Calls come in the order of their times, which are those of events.
class BurstBus {
 public:
  explicit BurstBus(const PciParams& params) : params_(params) {}

  // The interface writes `bytes` to host memory from `at` on: when a processor can see them.
  Ps write(Ps at, std::uint64_t bytes) { return carry(at, bytes) + params_.write_latency; }
  // It reads them: when they are there.
  Ps read(Ps at, std::uint64_t bytes) { return carry(at + params_.read_latency, bytes); }
  // The host writes them with programmed stores: when they are in the interface.
  Ps store(Ps at, std::uint64_t bytes) { return carry(at, bytes) + params_.doorbell; }

  Ps busy() const { return busy_; }

 private:
  // Data clocks in whole words of the bus, and the overhead.
  Ps burst(std::uint64_t bytes) const {
    const std::uint64_t width =
        std::max<std::uint64_t>(params_.peak.count / params_.clock.count, 1);
    const std::uint64_t data = (bytes + width - 1) / width * 1000;
    const std::uint64_t clocks = data + params_.dma_overhead_milliclocks;
    return time_for(Cycles{static_cast<std::int64_t>(clocks)}, params_.clock) / 1000;
  }
  Ps carry(Ps at, std::uint64_t bytes) {
    const std::uint64_t most = params_.dma_burst_bytes();
    if (bytes <= most) {
      const Ps takes = burst(std::max<std::uint64_t>(bytes, 1));
      // Half a burst is what is left of one on the mean.
      const Ps wait = free_at_ > at ? std::min(free_at_ - at, burst(most) / 2) : Ps{0};
      const Ps end = std::max(at + wait, short_free_at_) + takes;
      short_free_at_ = end;
      free_at_ = std::max(free_at_ + takes, end);
      busy_ += takes;
      return end;
    }
    Ps takes = burst(most) * static_cast<std::int64_t>(bytes / most);
    if (bytes % most != 0) takes += burst(bytes % most);
    free_at_ = std::max(free_at_, at) + takes;
    busy_ += takes;
    return free_at_;
  }

  const PciParams& params_;
  Ps free_at_{};
  Ps short_free_at_{};
  Ps busy_{};
};

}  // namespace fairlead::hw
