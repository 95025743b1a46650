// [bus] of kind "pcix": one medium for both ways whose reads are split (pcix_bus.h).
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "fairlead/base/units.h"
#include "fairlead/hw/host_path.h"

namespace fairlead::hw {

struct PcixParams final : HostPathParams {
  static constexpr std::string_view kName = "pcix";
  static const PartKind kKind;

  Hertz clock{};
  std::uint64_t width_bytes = 0;      // of a data phase, one a clock
  std::uint64_t overhead_clocks = 0;  // of each transaction, beside its data
  std::uint64_t burst_bytes = 0;      // most that one transaction carries
  std::uint64_t read_bytes = 0;       // most that one read asks for
  std::uint32_t reads = 0;            // split reads of the interface that are under way
  Ps latency{};                       // of the bridge between bus and memory, one way
  Ps memory_read{};                   // the memory's first byte

  const PartKind& kind() const override { return kKind; }
  std::unique_ptr<Part> copy() const override { return std::make_unique<PcixParams>(*this); }
  BytesPerSec peak() const override { return BytesPerSec{clock.count * width_bytes}; }
  std::unique_ptr<HostPath> make_path() const override;
  void add_keys(std::vector<Key>& to) override;
  void speed_up(Resource resource, double factor) override;
};

}  // namespace fairlead::hw
