// A modelled machine as its platform file describes it: every number with a source and a mark.
// Costs are times of hardware transactions, and cycle counts of named steps times a clock.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/base/step.h"
#include "fairlead/base/units.h"
#include "fairlead/hw/rdma_params.h"

namespace fairlead::hw {

class CustomNetwork;

enum class TopologyKind : std::uint8_t { grid, clos, fat_tree, single_switch, custom };

struct Platform {
  std::string name;
  std::string description;
  std::string file;
  std::string changes;  // what was set otherwise than the file says; empty: nothing

  // Host processor and its memory.
  Hertz host_clock{};
  std::uint64_t l2_bytes = 0;
  std::uint64_t line_bytes = 0;
  Ps memory_latency{};          // one line from memory
  Ps l2_latency{};              // one line from L2
  BytesPerSec memcpy_memory{};  // large copies
  BytesPerSec memcpy_l2{};      // copies within L2
  Ps interrupt{};               // until the handler polls
  Ps watchdog{};                // polling watchdog's default delay

  // I/O bus. DMA moves `dma_burst_clocks` data phases per arbitration.
  BytesPerSec bus_peak{};
  Hertz bus_clock{};
  std::uint64_t dma_burst_clocks = 0;
  std::uint64_t dma_overhead_clocks = 0;
  Ps pio_issue{};                    // processor time of one posted write
  std::uint64_t pio_line_bytes = 0;  // write-combining line
  Ps pio_line{};                     // bus time of a full line
  std::uint64_t pio_posted_lines = 0;
  Ps doorbell{};  // host store to NI memory

  // Network interface.
  Hertz ni_clock{};
  Ps dma_latency{};   // small transfer, start to done seen
  Ps dma_fixed{};     // engine and NI processor held at the start of a transfer
  Ps host_visible{};  // transfer done to full flag seen by the host's poll
  std::uint32_t receive_buffers = 0;
  std::uint32_t send_buffers = 0;
  std::uint32_t host_buffers = 0;  // receive buffers in host memory
  std::uint32_t completion_batch = 0;
  std::uint32_t host_ring_batch = 0;

  // Network.
  BytesPerSec link{};
  Ps switch_delay{};
  Ps network_fixed{};              // NI staging, (de)serialisation
  std::uint32_t header_bytes = 0;  // route, type, LCI header and CRC of a packet on the wire
  TopologyKind topology = TopologyKind::single_switch;
  std::uint32_t hosts_per_switch = 0;
  std::uint32_t uplinks_per_switch = 0;  // of a fat tree
  std::uint32_t nodes = 0;               // of the published machine
  // In which order nodes are numbered over a regular network's places: 0 along it, else a random
  // order, of which this is the seed.
  std::uint32_t host_order = 0;
  // Of TopologyKind::custom; else none.
  std::string network_file;
  std::shared_ptr<const CustomNetwork> custom_network;

  // Retransmission, where an implementation has it (LCI paper section 5.1).
  std::uint32_t resend_window = 0;  // packets under way to one peer
  std::uint32_t host_window = 0;    // the same where the host runs the protocol; 0: as above
  Ps resend_timeout{};
  Ps ack_delay{};

  std::array<Cycles, kSteps> host_cycles{};
  std::array<Cycles, kSteps> ni_cycles{};

  // Where the network interfaces are RDMA engines: in place of I/O bus, NI processor,
  // retransmission and steps. nullptr: they have a processor with firmware.
  std::shared_ptr<const RdmaParams> rdma;

  // Sustained DMA rate: the bus peak less arbitration, address phase and turn-around of each burst.
  BytesPerSec dma_rate() const {
    return BytesPerSec{bus_peak.count * dma_burst_clocks /
                       (dma_burst_clocks + dma_overhead_clocks)};
  }
  std::uint64_t dma_burst_bytes() const {
    return bus_peak.count * dma_burst_clocks / bus_clock.count;
  }
};

// What a user sets otherwise than the platform's file says.
struct PlatformChanges {
  std::string topology;          // as the file's key; empty: the file's
  std::vector<std::string> set;  // "section.key=value", value in the file's unit
  std::string faster;            // see speed_up.h
  std::string steps = {};        // a cycle table beside the file; empty: the one it names
};

// Reads a platform file. Error: names file, line, key and reason; of a change: the valid keys.
Result<Platform> load_platform(const std::string& path, const PlatformChanges& changes = {});

}  // namespace fairlead::hw
