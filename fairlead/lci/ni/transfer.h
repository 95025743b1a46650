// How a packet's data gets from the host into NI memory: the paper's transfer methods (sections 4.1
// and 5.2), as policies of NiPort.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/lci/ni/host_ni.h"

namespace fairlead::lci {

// move(): of a packet's `size` bytes, `gathered` come from the client's memory; the rest it wrote
// into the packet itself, or it is a received packet that goes on.

// kCopiesPages: puts go as page transfers (page_copies.h). kHasQueues: the NI looks at queues of
// its host in turn, of which a client may open more, and puts are RDMA writes (via_puts.h).
// kNiServesWords: an NI's memory holds words for fetch-and-add.
struct TransferDefaults {
  static constexpr bool kCopiesPages = false;
  static constexpr bool kHasQueues = false;
  static constexpr bool kNiServesWords = true;
};

// I-pio: the host writes it with programmed stores; its memory is its own again at once.
struct PioTransfer : TransferDefaults {
  static constexpr std::size_t kDescriptorLines = 1;
  static constexpr bool kReports = false;

  template <HostNi Ni>
  static void move(Ni& ni, std::uint32_t, std::size_t size, std::size_t) {
    ni.charge(Step::send);
    ni.write(size);
  }
};

// I-sdma: the data is in a pinned packet buffer, gathered there by a copy; the host gives address
// and size to the NI, which fetches it by DMA and reports when it has.
struct SdmaTransfer : TransferDefaults {
  static constexpr std::size_t kDescriptorLines = 2;
  static constexpr bool kReports = true;

  template <HostNi Ni>
  static void move(Ni& ni, std::uint32_t id, std::size_t size, std::size_t gathered) {
    ni.charge(Step::send);
    if (size == 0) return;
    ni.charge(Step::send_dma);
    // The first line is part of the step as measured.
    if (gathered > kFirstLine) ni.copy(gathered - kFirstLine);
    ni.packet(id).fetch_bytes = static_cast<std::uint16_t>(size);
  }

 private:
  static constexpr std::size_t kFirstLine = 32;
};

// I-rcpy: its packets are I-sdma's.
struct RcpyTransfer : SdmaTransfer {
  static constexpr bool kCopiesPages = true;
};

// Virtual interfaces (via_program.h): data and descriptor are in registered memory; what crosses
// the bus is a token for the doorbell.
struct ViaTransfer : TransferDefaults {
  static constexpr std::size_t kDescriptorLines = 1;
  static constexpr bool kReports = false;  // every descriptor's status is written
  static constexpr bool kHasQueues = true;
  static constexpr bool kNiServesWords = false;

  template <HostNi Ni>
  static void move(Ni& ni, std::uint32_t id, std::size_t size, std::size_t gathered) {
    ni.charge(Step::send);
    if (gathered > 0) ni.copy(gathered);
    ni.packet(id).fetch_bytes = static_cast<std::uint16_t>(size);
  }
};

// GM 1.5, the baseline of the paper's table III: as I-sdma, with longer descriptors.
struct GmTransfer : SdmaTransfer {
  static constexpr std::size_t kDescriptorLines = 5;
};

}  // namespace fairlead::lci
