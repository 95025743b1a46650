// [bus] of kind "pci": one arbitrated medium for the host's programmed writes and the network
// interface's DMA (io_bus.h).
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "fairlead/base/units.h"
#include "fairlead/hw/part.h"

namespace fairlead::hw {

struct PciParams final : Part {
  static constexpr std::string_view kName = "pci";
  static const PartKind kKind;

  // DMA moves `dma_burst_clocks` data phases per arbitration.
  BytesPerSec peak{};
  Hertz clock{};
  std::uint64_t dma_burst_clocks = 0;
  std::uint64_t dma_overhead_milliclocks = 0;  // a thousandth of a clock
  Ps pio_issue{};                              // processor time of one posted write
  std::uint64_t pio_line_bytes = 0;            // write-combining line
  Ps pio_line{};                               // bus time of a full line
  std::uint64_t pio_posted_lines = 0;
  Ps doorbell{};       // host store to NI memory
  Ps read_latency{};   // of host memory by the interface: from its address to its first data
  Ps write_latency{};  // of host memory: from its last data on the bus until a processor sees it

  // Sustained DMA rate: the peak less arbitration, address phase and turn-around of each burst.
  BytesPerSec dma_rate() const {
    return BytesPerSec{peak.count * dma_burst_clocks * 1000 /
                       (dma_burst_clocks * 1000 + dma_overhead_milliclocks)};
  }
  std::uint64_t dma_burst_bytes() const { return peak.count * dma_burst_clocks / clock.count; }

  const PartKind& kind() const override { return kKind; }
  std::unique_ptr<Part> copy() const override { return std::make_unique<PciParams>(*this); }
  void add_keys(std::vector<Key>& to) override;
  std::optional<Conflict> conflict() const override;
  void speed_up(Resource resource, double factor) override;
};

}  // namespace fairlead::hw
