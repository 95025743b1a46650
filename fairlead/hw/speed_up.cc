#include "fairlead/hw/speed_up.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <string>

#include "fairlead/base/numbers.h"
#include "fairlead/hw/custom_network.h"

namespace fairlead::hw {
namespace {

constexpr double kFactorMin = 0.01;
constexpr double kFactorMax = 100;

template <class Rate>
void faster(Rate& rate, double factor) {
  const double scaled = std::round(static_cast<double>(rate.count) * factor);
  rate.count = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(scaled));
}
void shorter(Ps& time, double factor) {
  time.count = std::llround(static_cast<double>(time.count) / factor);
}

Error unknown(std::string_view part) {
  std::string names;
  for (std::size_t i = 0; i < kTimerResource; ++i) {
    names += fmt::format("{}{}", i == 0 ? "" : ", ", kResourceNames[i]);
  }
  return Error{
      fmt::format("faster: '{}' is not RESOURCE=FACTOR; resources: {}; factors {} to {}, for "
                  "example ni=2",
                  part, names, kFactorMin, kFactorMax)};
}

}  // namespace

namespace {

// Host and links are every machine's.
void speed_up_rdma(Platform& p, Resource resource, double factor) {
  RdmaParams params = *p.rdma;
  if (resource == kBusResource) {
    faster(params.lanes.rate, factor);
    for (Ps* time : {&params.lanes.latency, &params.lanes.memory_read, &params.lanes.store_line})
      shorter(*time, factor);
  } else if (resource == kNiResource) {
    for (Ps* time :
         {&params.ni.work_entry, &params.ni.packet, &params.ni.translate, &params.ni.atomic})
      shorter(*time, factor);
  }
  p.rdma = std::make_shared<const RdmaParams>(params);
}

}  // namespace

void speed_up(Platform& p, Resource resource, double factor) {
  if (p.rdma != nullptr) speed_up_rdma(p, resource, factor);
  switch (resource) {
    case kHostResource:
      faster(p.host_clock, factor);
      faster(p.memcpy_memory, factor);
      faster(p.memcpy_l2, factor);
      for (Ps* time : {&p.memory_latency, &p.l2_latency, &p.interrupt}) shorter(*time, factor);
      return;
    case kBusResource:
      faster(p.bus_peak, factor);
      faster(p.bus_clock, factor);
      for (Ps* time : {&p.pio_issue, &p.pio_line, &p.doorbell}) shorter(*time, factor);
      p.pio_line.count = std::max<std::int64_t>(1, p.pio_line.count);
      return;
    case kDmaResource:
      for (Ps* time : {&p.dma_latency, &p.dma_fixed}) shorter(*time, factor);
      return;
    case kNiResource:
      return faster(p.ni_clock, factor);
    case kLinkResource:
      faster(p.link, factor);
      for (Ps* time : {&p.switch_delay, &p.network_fixed}) shorter(*time, factor);
      if (p.custom_network != nullptr) p.custom_network = p.custom_network->faster(factor);
      return;
    case kVisibilityResource:
      return shorter(p.host_visible, factor);
    case kTimerResource:
    case kResources:
      return;
  }
}

Result<void> speed_up(Platform& platform, std::string_view text) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    const std::string_view name = part.substr(0, equals);
    const auto* const end = std::begin(kResourceNames) + kTimerResource;
    const auto* const found = std::find(std::begin(kResourceNames), end, name);
    if (equals == std::string_view::npos || found == end) return unknown(part);
    const auto factor = real_number(part.substr(equals + 1), {kFactorMin, kFactorMax});
    if (!factor) return unknown(part);
    speed_up(platform, static_cast<Resource>(found - std::begin(kResourceNames)), *factor);
  }
  return {};
}

}  // namespace fairlead::hw
