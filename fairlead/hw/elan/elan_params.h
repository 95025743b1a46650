// [ni] of kind "elan": QsNet's network interface (Quadrics paper, section 2.1); [library]: what the
// host's part of it costs; [noise]: what else its processors do;
// [background]: traffic of another job.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "fairlead/base/units.h"
#include "fairlead/hw/background_params.h"
#include "fairlead/hw/host_noise.h"
#include "fairlead/hw/part.h"

namespace fairlead::hw {

struct ElanParams final : Part {
  static constexpr std::string_view kName = "elan";
  static const PartKind kKind;

  Hertz clock{};
  // Steps of its units, in its cycles. The microcode's four threads of execution:
  Cycles command{};         // command processor: takes up what a host wrote
  Cycles dma{};             // DMA thread: a descriptor, and each packet of it
  Cycles input{};           // inputter: a packet
  Cycles event{};           // inputter: an event counts, and what waits for it is looked at
  Cycles atomic{};          // inputter: test-and-write, fetch-and-add
  Cycles schedule{};        // scheduler: the thread processor takes up another thread
  Cycles thread_build{};    // thread processor: makes a packet
  Cycles thread_look{};     // and looks at its acknowledgment
  Cycles thread_take{};     // takes a message or a request up, with its envelope
  Cycles thread_match{};    // and looks for what matches it
  Cycles thread_dma{};      // and starts what moves its bytes
  Cycles thread_combine{};  // combines one word of 8 bytes or less; 0: it is not asked to

  std::uint32_t packet_bytes = 0;   // payload of one packet
  std::uint32_t slot_bytes = 0;     // of a queue's slot; a client's header is a part of it
  std::uint32_t slots = 0;          // of a queue, for each rank and lane
  std::uint32_t entry_bytes = 0;    // a DMA descriptor with its command
  std::uint32_t inline_bytes = 0;   // payload written with a descriptor, at most
  std::uint32_t event_bytes = 0;    // what an event writes to host memory
  std::uint32_t circuits = 0;       // packets under way at once
  std::uint32_t slice_packets = 0;  // of one DMA before it goes behind the others
  Ps retry{};                       // from a refused packet until it is sent again
  std::uint32_t send_queue = 0;     // descriptors of a host, for each peer and lane
  std::uint32_t copies = 0;         // other operations of a host under way
  std::uint64_t memory_bytes = 0;   // of the interface's, for its host's programs
  BytesPerSec memory_rate{};        // at which it is read and written; 0: that takes no time
  // The MMU's: pages whose translations its TLB has, 0: all; steps of a unit that waits for a walk.
  std::uint32_t tlb_entries = 0;
  std::uint64_t page_bytes = 8192;
  Cycles walk{};
  std::uint64_t tport_bytes = 0;  // of it, for each rank's messages that no receive has taken

  // Cycles of the host's processor.
  struct Library {
    Cycles post{};
    Cycles arm{};  // beside it, where the operation waits for an event
    Cycles poll{};
    Cycles receive{};
    Cycles completion{};
  };
  Library library;
  NoiseParams noise;
  BackgroundParams background;

  const PartKind& kind() const override { return kKind; }
  std::unique_ptr<Part> copy() const override { return std::make_unique<ElanParams>(*this); }
  void add_keys(std::vector<Key>& to) override;
  std::optional<Conflict> conflict() const override;
  std::uint32_t reduction_bytes_max() const override { return packet_bytes; }
  Result<void> check_nodes(std::uint32_t nodes) const override {
    return background.check_nodes(nodes);
  }
  void speed_up(Resource resource, double factor) override;
};

}  // namespace fairlead::hw
