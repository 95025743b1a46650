// A machine of round numbers for tests: every golden time below and above hw can be checked by
// hand.
#pragma once
#include <memory>

#include "fairlead/hw/firelink/firelink_params.h"
#include "fairlead/hw/fireplane/fireplane_params.h"
#include "fairlead/hw/lanai/lanai_params.h"
#include "fairlead/hw/lanes/lanes_params.h"
#include "fairlead/hw/pci/pci_params.h"
#include "fairlead/hw/platform.h"
#include "fairlead/hw/rdma/rdma_params.h"

namespace fairlead::hw {

// A byte of memory a nanosecond within L2, 10 ns a line there.
inline HostParams round_host() {
  HostParams host;
  host.clock = Hertz{1'000'000'000};
  host.l2_bytes = 256 * 1024;
  host.line_bytes = 32;
  host.memory_latency = nanoseconds(100);
  host.open_row = nanoseconds(50);
  host.reorder_ops = 40;
  host.l2_latency = nanoseconds(10);
  host.memcpy_memory = BytesPerSec{500'000'000};
  host.memcpy_l2 = BytesPerSec{1'000'000'000};
  host.memory = BytesPerSec{2'000'000'000};
  host.interrupt = microseconds(10);
  host.watchdog = microseconds(50);
  return host;
}

// 16 bytes in 200 ns: 16 data phases and 4 clocks of overhead.
inline PciParams round_bus() {
  PciParams bus;
  bus.peak = BytesPerSec{100'000'000};
  bus.clock = Hertz{100'000'000};
  bus.dma_burst_clocks = 16;
  bus.dma_overhead_milliclocks = 4000;
  bus.pio_issue = nanoseconds(100);
  bus.pio_line_bytes = 32;
  bus.pio_line = nanoseconds(400);
  bus.pio_posted_lines = 2;
  bus.doorbell = nanoseconds(500);
  return bus;
}

// 10 ns a host step, 100 ns an NI step.
inline LanaiParams round_ni() {
  LanaiParams ni;
  ni.clock = Hertz{100'000'000};
  ni.dma_latency = microseconds(2);
  ni.dma_fixed = microseconds(1);
  ni.host_visible = nanoseconds(500);
  ni.receive_buffers = 64;
  ni.send_buffers = 16;
  ni.host_buffers = 16;
  ni.completion_batch = 2;
  ni.host_ring_batch = 4;
  ni.resend_window = 8;
  ni.host_window = 8;
  ni.resend_timeout = microseconds(500);
  ni.ack_delay = microseconds(50);
  ni.host_cycles.fill(Cycles{10});
  ni.ni_cycles.fill(Cycles{10});
  return ni;
}

// One switch, 10 ns a byte on the links, 100 ns a switch.
inline NetworkParams round_network() {
  NetworkParams network;
  network.link = BytesPerSec{100'000'000};
  network.switch_delay = nanoseconds(100);
  network.fixed = nanoseconds(200);
  network.header_bytes = 20;
  network.topology = TopologyKind::single_switch;
  network.hosts_per_switch = 8;
  network.uplinks_per_switch = 8;
  network.nodes = 8;
  return network;
}

inline Platform round_platform() {
  Platform p;
  p.name = "round";
  p.host = round_host();
  p.bus = AnyPart(std::make_unique<PciParams>(round_bus()));
  p.ni = AnyPart(std::make_unique<LanaiParams>(round_ni()));
  p.network = round_network();
  return p;
}

// As above, but with RDMA engines: a byte a nanosecond on each lane, packets of 100
// bytes with 10 of overhead.
inline Platform round_rdma_platform() {
  LanesParams lanes;
  lanes.rate = BytesPerSec{1'000'000'000};
  lanes.payload_bytes = 100;
  lanes.overhead_bytes = 10;
  lanes.latency = nanoseconds(200);
  lanes.memory_read = nanoseconds(50);
  lanes.store_line = nanoseconds(30);
  lanes.store_line_bytes = 64;
  RdmaParams ni;
  ni.work_entry = nanoseconds(40);
  ni.packet = nanoseconds(20);
  ni.translate = nanoseconds(30);
  ni.atomic = nanoseconds(50);
  ni.mtu_bytes = 1024;
  ni.inline_bytes = 32;
  ni.entry_bytes = 64;
  ni.completion_bytes = 32;
  ni.send_queue = 8;
  ni.receive_queue = 4;
  ni.signal_every = 4;
  ni.reads_ahead = 2;
  ni.copies = 4;
  ni.library = {Cycles{10}, Cycles{5}, Cycles{15}, Cycles{12}};
  Platform p = round_platform();
  p.bus = AnyPart(std::make_unique<LanesParams>(lanes));
  p.ni = AnyPart(std::make_unique<RdmaParams>(ni));
  return p;
}

// Two hosts wired to each other by one link, or as `nis` and `links` say: a line is 100 ns on it, a
// completion 25; 20 ns on an interface's path; 40 ns of a processor.
inline Platform round_firelink_platform(std::uint32_t nis = 1, std::uint32_t links = 1,
                                        std::uint32_t switches = 0) {
  FireplaneParams plane;
  plane.ni_path = BytesPerSec{3'200'000'000};
  plane.latency = nanoseconds(100);
  plane.memory_write = nanoseconds(50);
  plane.memory_read = nanoseconds(60);
  plane.store_line = nanoseconds(40);
  plane.stores_ahead = 64;
  plane.near_line = nanoseconds(70);
  FirelinkParams ni;
  ni.line_wire = 100'000;
  ni.completion_wire = 25'000;
  ni.pass = nanoseconds(30);
  ni.slot_bytes = 1024;
  ni.slots = 4;
  ni.copies = 4;
  ni.load_bytes_max = 4096;
  ni.nis = nis;
  ni.links = links;
  ni.switches = switches;
  ni.ports = 8;
  ni.stripes = 16;
  ni.block_bytes = 4096;
  ni.found = microseconds(100);
  ni.reroute = microseconds(400);
  ni.library = {Cycles{10}, Cycles{5}, Cycles{15}, Cycles{12}, Cycles{1000}};
  Platform p = round_platform();
  p.network.link = BytesPerSec{1'000'000'000};
  p.bus = AnyPart(std::make_unique<FireplaneParams>(plane));
  p.ni = AnyPart(std::make_unique<FirelinkParams>(ni));
  return p;
}

}  // namespace fairlead::hw
