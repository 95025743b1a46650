// What the nodes of a machine of LANais have in common: one of each, which all of them use. A
// node's own state is out of the cache where there are many; what lies here is not.
#pragma once
#include <cstdint>
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
  Journeys* journeys = nullptr;  // traced only
};

}  // namespace fairlead::fabric::model
