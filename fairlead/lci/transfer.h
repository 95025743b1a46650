// How a packet's data gets from the host into NI memory: the paper's transfer methods (sections 4.1
// and 5.2), as policies of NiPort.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/lci/host_ni.h"

namespace fairlead::lci {

// I-pio: the host writes it with programmed stores; its memory is its own again at once.
struct PioTransfer {
  static constexpr std::size_t kDescriptorLines = 1;
  static constexpr bool kReports = false;

  template <HostNi Ni>
  static void move(Ni& ni, std::uint32_t, std::size_t size) {
    ni.charge(Step::send);
    ni.write(size);
  }
};

// I-sdma: the host copies it to a pinned packet buffer and gives address and size to the NI, which
// fetches it by DMA and reports when it has.
struct SdmaTransfer {
  static constexpr std::size_t kDescriptorLines = 2;
  static constexpr bool kReports = true;

  template <HostNi Ni>
  static void move(Ni& ni, std::uint32_t id, std::size_t size) {
    ni.charge(Step::send);
    if (size == 0) return;
    ni.charge(Step::send_dma);
    // The first line is part of the step as measured.
    if (size > kFirstLine) ni.copy(size - kFirstLine);
    ni.packet(id).fetch_bytes = static_cast<std::uint16_t>(size);
  }

 private:
  static constexpr std::size_t kFirstLine = 32;
};

}  // namespace fairlead::lci
