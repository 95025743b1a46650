// What a host's library beside an Elan must know of host and interface.
#pragma once
#include <algorithm>

#include "fairlead/fabric/model/rdma/rdma_terms.h"
#include "fairlead/fabric/packet.h"
#include "fairlead/hw/elan/elan_params.h"
#include "fairlead/hw/pci/pci_params.h"
#include "fairlead/hw/platform.h"

namespace fairlead::fabric::model {

inline RdmaTerms elan_terms(const hw::Platform& platform) {
  const auto& ni = platform.ni.as<hw::ElanParams>();
  const auto& bus = platform.bus.as<hw::PciParams>();
  RdmaTerms terms{hw::HostRates(platform.host)};
  // A slot holds a client's header, too.
  terms.mtu_bytes = ni.slot_bytes - static_cast<std::uint32_t>(sizeof(ClientHeader));
  terms.packet_bytes = std::max(terms.mtu_bytes, ni.packet_bytes);
  terms.inline_bytes = ni.inline_bytes;
  terms.entry_bytes = ni.entry_bytes;
  terms.send_queue = ni.send_queue;
  terms.receive_queue = ni.slots;
  // An event of each queue DMA is looked at.
  terms.signal_every = 1;
  terms.copies = ni.copies;
  terms.post = time_for(ni.library.post, platform.host.clock);
  terms.poll = time_for(ni.library.poll, platform.host.clock);
  terms.receive = time_for(ni.library.receive, platform.host.clock);
  terms.completion = time_for(ni.library.completion, platform.host.clock);
  terms.arm = time_for(ni.library.arm, platform.host.clock);
  terms.store_line = bus.pio_issue;
  terms.store_line_bytes = bus.pio_line_bytes;
  terms.names = true;
  terms.reduction_bytes = platform.network.reduction_bytes;
  if (ni.thread_combine.count > 0) terms.interface_reduction_bytes = ni.packet_bytes;
  return terms;
}

}  // namespace fairlead::fabric::model
