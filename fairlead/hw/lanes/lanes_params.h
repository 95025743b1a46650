// [bus] of kind "lanes": a serial host path, as PCI Express has it (host_lanes.h).
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "fairlead/base/units.h"
#include "fairlead/hw/host_path.h"

namespace fairlead::hw {

struct LanesParams final : HostPathParams {
  static constexpr std::string_view kName = "lanes";
  static const PartKind kKind;

  BytesPerSec rate{};                // of each lane, one way
  std::uint64_t payload_bytes = 0;   // most that one of its packets carries
  std::uint64_t overhead_bytes = 0;  // header, check and framing of each packet
  Ps latency{};                      // one way, bridge included
  Ps memory_read{};                  // from a read's request at the host to its first byte

  const PartKind& kind() const override { return kKind; }
  std::unique_ptr<Part> copy() const override { return std::make_unique<LanesParams>(*this); }
  BytesPerSec peak() const override { return rate; }
  std::unique_ptr<HostPath> make_path() const override;
  void add_keys(std::vector<Key>& to) override;
  void speed_up(Resource resource, double factor) override;
};

}  // namespace fairlead::hw
