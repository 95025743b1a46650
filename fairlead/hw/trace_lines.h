// The lines of a node's part of a trace, top to bottom.
#pragma once
#include <cstddef>
#include <cstdint>

namespace fairlead::hw {

enum TraceLine : std::uint32_t {
  kHostLine,
  kNiProcessorLine,
  kHostDmaLine,
  kBusLine,
  kSendDmaLine,
  kLinkOutLine,
  kLinkInLine,
  kReceiveDmaLine,
  kTraceLines
};

constexpr const char* kTraceLineNames[kTraceLines] = {"host",    "NI processor", "host DMA",
                                                      "I/O bus", "send DMA",     "link out",
                                                      "link in", "receive DMA"};

// An interval of the host's line in which nothing runs there.
constexpr const char* kAsleep = "asleep";

}  // namespace fairlead::hw
