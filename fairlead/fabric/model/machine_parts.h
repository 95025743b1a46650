// What the nodes of a modelled machine have in common: one of each, which all of them use. A node's
// own state is out of the cache where there are many; what lies here is not.
#pragma once
#include "fairlead/fabric/model/journeys.h"
#include "fairlead/hw/host_cost.h"
#include "fairlead/hw/network.h"
#include "fairlead/hw/ni_processor.h"
#include "fairlead/hw/packet_pool.h"
#include "fairlead/hw/platform.h"
#include "fairlead/sim/engine.h"

namespace fairlead::fabric::model {

// The machine's (machine.h), which outlives its nodes.
struct MachineParts {
  sim::Engine& engine;
  const hw::Platform& platform;
  const hw::HostRates& host_rates;
  const hw::NiFirmware& firmware;
  hw::Network& network;
  hw::PacketPool& pool;
  Journeys* journeys = nullptr;  // traced only
};

}  // namespace fairlead::fabric::model
