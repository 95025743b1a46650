// [ni] of kind "lanai": a processor that runs firmware, one DMA engine to the host, packet buffers
// in its own memory; [background]: traffic of another job; and the file of steps, which says what
// the firmware and the host's library cost, step by step (LCI paper, section 5.1).
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "fairlead/base/step.h"
#include "fairlead/base/units.h"
#include "fairlead/hw/background_params.h"
#include "fairlead/hw/part.h"

namespace fairlead::hw {

struct LanaiParams final : Part {
  static constexpr std::string_view kName = "lanai";
  static const PartKind kKind;

  Hertz clock{};
  Ps dma_latency{};   // small transfer, start to done seen
  Ps dma_fixed{};     // engine and NI processor held at the start of a transfer
  Ps host_visible{};  // transfer done to full flag seen by the host's poll
  std::uint32_t receive_buffers = 0;
  std::uint32_t send_buffers = 0;
  std::uint32_t host_buffers = 0;   // receive buffers in host memory
  std::uint32_t tlb_entries = 256;  // of pages of host memory, where its program translates
  std::uint32_t completion_batch = 0;
  std::uint32_t host_ring_batch = 0;

  // Retransmission, where an implementation has it.
  std::uint32_t resend_window = 0;  // packets under way to one peer
  std::uint32_t host_window = 0;    // the same where the host runs the protocol; 0: as above
  Ps resend_timeout{};
  Ps ack_delay{};

  BackgroundParams background;  // its messages are fetched from main memory

  std::array<Cycles, kSteps> host_cycles{};
  std::array<Cycles, kSteps> ni_cycles{};

  const PartKind& kind() const override { return kKind; }
  std::unique_ptr<Part> copy() const override { return std::make_unique<LanaiParams>(*this); }
  void add_keys(std::vector<Key>& to) override;
  void add_step_keys(std::vector<Key>& to) override;
  std::optional<Conflict> conflict() const override;
  Result<void> check_nodes(std::uint32_t nodes) const override {
    return background.check_nodes(nodes);
  }
  void speed_up(Resource resource, double factor) override;
};

}  // namespace fairlead::hw
