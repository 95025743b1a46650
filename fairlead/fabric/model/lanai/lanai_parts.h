// What the nodes of a machine of LANais have in common: one of each, which all of them use. A
// node's own state is out of the cache where there are many; what lies here is not.
#pragma once
#include <algorithm>
#include <cstdint>

#include "fairlead/base/even_nodes.h"
#include "fairlead/fabric/model/figures.h"
#include "fairlead/fabric/model/journeys.h"
#include "fairlead/fabric/model/lanai/stages.h"
#include "fairlead/hw/lanai/lanai_params.h"
#include "fairlead/hw/lanai/library_rates.h"
#include "fairlead/hw/lanai/ni_processor.h"
#include "fairlead/hw/network.h"
#include "fairlead/hw/packet_pool.h"
#include "fairlead/hw/pci/pci_params.h"
#include "fairlead/sim/engine.h"

namespace fairlead::fabric::model {

// What each rank of a node has of the NI's buffers, where they share it.
struct LanaiShares {
  // Buffers in host memory for what a rank sends to others of its node: more than one receiver may
  // keep and are reserved for replies.
  static constexpr std::uint32_t kNearBuffers = 64;
  // Fewer are no way to work with: some are for replies, some are kept by the client.
  static constexpr std::uint32_t kSendBuffersMin = 16;
  static constexpr std::uint32_t kHostBuffersMin = 8;

  std::uint32_t send_buffers;
  std::uint32_t host_buffers;
  std::uint32_t host_ring_batch;
  std::uint32_t near_buffers = kNearBuffers;

  LanaiShares(const hw::LanaiParams& ni, const EvenNodes& nodes)
      // A quarter of them is a whole number: the NI tells its host of so many at once.
      : send_buffers(nodes.several() ? ni.send_buffers / nodes.each / 4 * 4 : ni.send_buffers),
        host_buffers(ni.host_buffers / nodes.each),
        host_ring_batch(nodes.several() ? std::clamp(host_buffers / 4, 1U, ni.host_ring_batch)
                                        : ni.host_ring_batch) {}
  // Returns how many ranks one NI's buffers are enough for.
  static std::uint32_t most_ranks(const hw::LanaiParams& ni) {
    return std::max(1U,
                    std::min(ni.send_buffers / kSendBuffersMin, ni.host_buffers / kHostBuffersMin));
  }
};

// The machine's (lanai_machine.h), which outlives its nodes.
struct LanaiParts {
  sim::Engine& engine;
  const hw::LanaiParams& params;
  const hw::PciParams& bus;
  std::uint32_t header_bytes;  // of a packet on the wire
  const hw::LibraryRates& host_rates;
  const hw::NiFirmware& firmware;
  hw::Network& network;
  hw::PacketPool& pool;
  EvenNodes nodes;
  LanaiShares shares;
  BytesPerSec memory_rate;       // of a node's memory, where several ranks share it
  Journeys* journeys = nullptr;  // traced only
  Figures* figures = nullptr;    // counted only
};

}  // namespace fairlead::fabric::model
