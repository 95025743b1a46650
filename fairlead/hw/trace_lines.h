// The lines of a node's part of a trace, top to bottom.
#pragma once
#include <cstdint>

namespace fairlead::hw {

enum TraceLine : std::uint32_t {
  kHostLine,
  kNiProcessorLine,
  kHostDmaLine,
  kBusLine,  // programmed writes; DMA has its own
  kLinkOutLine,
};

}  // namespace fairlead::hw
