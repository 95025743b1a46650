// A machine of round numbers for tests: every golden time below and above hw can be checked by
// hand.
#pragma once
#include "fairlead/hw/platform.h"

namespace fairlead::hw {

// One switch, 10 ns a byte on the links, 100 ns a switch, 10 ns a host step, 100 ns an NI step.
inline Platform round_platform() {
  Platform p;
  p.name = "round";
  p.host_clock = Hertz{1'000'000'000};
  p.l2_bytes = 256 * 1024;
  p.line_bytes = 32;
  p.memory_latency = nanoseconds(100);
  p.l2_latency = nanoseconds(10);
  p.memcpy_memory = BytesPerSec{500'000'000};
  p.memcpy_l2 = BytesPerSec{1'000'000'000};
  p.interrupt = microseconds(10);
  p.watchdog = microseconds(50);
  // 16 bytes in 200 ns: 16 data phases and 4 clocks of overhead.
  p.bus_peak = BytesPerSec{100'000'000};
  p.bus_clock = Hertz{100'000'000};
  p.dma_burst_clocks = 16;
  p.dma_overhead_clocks = 4;
  p.pio_issue = nanoseconds(100);
  p.pio_line_bytes = 32;
  p.pio_line = nanoseconds(400);
  p.pio_posted_lines = 2;
  p.doorbell = nanoseconds(500);
  p.ni_clock = Hertz{100'000'000};
  p.dma_latency = microseconds(2);
  p.dma_fixed = microseconds(1);
  p.host_visible = nanoseconds(500);
  p.receive_buffers = 64;
  p.send_buffers = 16;
  p.host_buffers = 16;
  p.completion_batch = 2;
  p.host_ring_batch = 4;
  p.link = BytesPerSec{100'000'000};
  p.switch_delay = nanoseconds(100);
  p.network_fixed = nanoseconds(200);
  p.header_bytes = 20;
  p.topology = TopologyKind::single_switch;
  p.hosts_per_switch = 8;
  p.uplinks_per_switch = 8;
  p.nodes = 8;
  p.resend_window = 8;
  p.host_window = 8;
  p.resend_timeout = microseconds(500);
  p.ack_delay = microseconds(50);
  p.host_cycles.fill(Cycles{10});
  p.ni_cycles.fill(Cycles{10});
  return p;
}

// The same hosts and network with RDMA engines: a byte a nanosecond on each lane, packets of 100
// bytes with 10 of overhead.
inline Platform round_rdma_platform() {
  Platform p = round_platform();
  RdmaParams made;
  made.lanes = {
      BytesPerSec{1'000'000'000}, 100, 10, nanoseconds(200), nanoseconds(50), nanoseconds(30), 64};
  made.ni.work_entry = nanoseconds(40);
  made.ni.packet = nanoseconds(20);
  made.ni.translate = nanoseconds(30);
  made.ni.atomic = nanoseconds(50);
  made.ni.mtu_bytes = 1024;
  made.ni.inline_bytes = 32;
  made.ni.entry_bytes = 64;
  made.ni.completion_bytes = 32;
  made.ni.send_queue = 8;
  made.ni.receive_queue = 4;
  made.ni.signal_every = 4;
  made.ni.reads_ahead = 2;
  made.ni.copies = 4;
  made.library = {Cycles{10}, Cycles{5}, Cycles{15}, Cycles{12}};
  p.rdma = std::make_shared<const RdmaParams>(made);
  return p;
}

}  // namespace fairlead::hw
