// [bus] of kind "fireplane": the memory interconnect of a large shared-memory node, to which
// network interfaces are attached directly; processors load and store through them line by line.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "fairlead/base/units.h"
#include "fairlead/hw/part.h"

namespace fairlead::hw {

struct FireplaneParams final : Part {
  static constexpr std::string_view kName = "fireplane";
  static const PartKind kKind;

  BytesPerSec ni_path{};           // of each network interface, both directions together
  Ps latency{};                    // a line from a processor to an interface, or back
  Ps memory_write{};               // a line from an interface until it is in memory
  Ps look{};                       // from then on until a processor that looks there has loaded it
  Ps memory_read{};                // a line of memory for an interface
  Ps store_line{};                 // a processor's time for one line that it stores
  std::uint32_t stores_ahead = 0;  // lines of a processor that are stored and not completed
  Ps near_line{};                  // a line that another processor of the node wrote

  const PartKind& kind() const override { return kKind; }
  std::unique_ptr<Part> copy() const override { return std::make_unique<FireplaneParams>(*this); }
  void add_keys(std::vector<Key>& to) override;
  void speed_up(Resource resource, double factor) override;
};

}  // namespace fairlead::hw
