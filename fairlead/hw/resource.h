// What a modelled machine's time goes into: the classes of its critical path (sim/critical_path.h),
// and what can be made faster (speed_up.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fairlead::hw {

enum Resource : std::uint8_t {
  kHostResource,        // host processors: library and computing
  kBusResource,         // programmed writes, doorbells, the bursts of DMA
  kDmaResource,         // host DMA engine: start of a transfer, completion seen
  kNiResource,          // NI processors
  kLinkResource,        // links and switches, the wait for a taken one included
  kVisibilityResource,  // a transfer is done, the host does not see it yet
  kTimerResource,       // sleeps, time-outs and delays that a program or a fault plan asks for
  kResources
};

// As the command line and results know them.
constexpr std::string_view kResourceNames[kResources] = {"host", "bus",        "dma",  "ni",
                                                         "link", "visibility", "timer"};
constexpr std::string_view kResourceTitles[kResources] = {
    "host processor", "I/O bus",         "host DMA engine", "NI processor",
    "links",          "host visibility", "timers"};

// Where the time before an event of a kind goes unless the model says otherwise.
std::uint8_t resource_of(std::uint8_t event_kind);

}  // namespace fairlead::hw
