#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fairlead/hw/pci/pci_params.h"

namespace fairlead::hw {
namespace {
constexpr Resource kOwn[] = {kBusResource};
}

const PartKind PciParams::kKind = {
    "bus", kName, [] { return std::unique_ptr<Part>(std::make_unique<PciParams>()); }, kOwn};

void PciParams::add_keys(std::vector<Key>& to) {
  to.insert(to.end(), {{"bus", "peak_MBps", 1, 1e6, rate_from_mb(peak)},
                       {"bus", "clock_MHz", 1, 1e4, hertz_from_mhz(clock)},
                       {"bus", "dma_burst_clocks", 1, 4096, whole(dma_burst_clocks)},
                       {"bus", "dma_overhead_clocks", 0, 4096,
                        [this](double clocks) {
                          dma_overhead_milliclocks =
                              static_cast<std::uint64_t>(std::llround(clocks * 1000));
                        }},
                       {"bus", "pio_issue_us", 0, 1e3, ps_from_us(pio_issue)},
                       {"bus", "pio_line_bytes", 4, 4096, whole(pio_line_bytes)},
                       {"bus", "pio_line_us", 0.0001, 1e3, ps_from_us(pio_line)},
                       {"bus", "pio_posted_lines", 0, 1024, whole(pio_posted_lines)},
                       {"bus", "doorbell_us", 0, 1e3, ps_from_us(doorbell)},
                       {"bus", "read_latency_us", 0, 1e3, ps_from_us(read_latency), true},
                       {"bus", "write_latency_us", 0, 1e3, ps_from_us(write_latency), true}});
}

std::optional<Part::Conflict> PciParams::conflict() const {
  if (dma_burst_bytes() > 0 && dma_rate().count > 0) return std::nullopt;
  return Conflict{
      "bus", "dma_burst_clocks",
      fmt::format("{} clocks of {} MHz at {} MB/s move less than a byte; more clocks, or a faster "
                  "bus",
                  dma_burst_clocks, static_cast<double>(clock.count) / 1e6,
                  static_cast<double>(peak.count) / 1e6)};
}

void PciParams::speed_up(Resource resource, double factor) {
  if (resource != kBusResource) return;
  faster(peak, factor);
  faster(clock, factor);
  for (Ps* time : {&pio_issue, &pio_line, &doorbell, &read_latency, &write_latency})
    shorter(*time, factor);
  pio_line.count = std::max<std::int64_t>(1, pio_line.count);
}

const PartKind& pci_kind() { return PciParams::kKind; }

}  // namespace fairlead::hw
