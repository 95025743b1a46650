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

// The host's line of the rank at `place` of its node: further ranks have lines of their own.
constexpr std::uint32_t host_line(std::uint32_t place) {
  return place == 0 ? std::uint32_t{kHostLine} : kTraceLines + place - 1;
}

// An interval of the host's line in which nothing runs there.
constexpr const char* kAsleep = "asleep";

}  // namespace fairlead::hw
