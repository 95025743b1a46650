#include <fmt/format.h>

#include "fairlead/hw/lanai/lanai_params.h"

namespace fairlead::hw {
namespace {

constexpr Resource kOwn[] = {kDmaResource, kNiResource, kVisibilityResource};
constexpr std::string_view kBuses[] = {"pci"};

// The step names outlive every key.
const char* name_of(std::size_t step) { return kStepNames[step].data(); }

}  // namespace

const PartKind LanaiParams::kKind = {
    "ni", kName,  [] { return std::unique_ptr<Part>(std::make_unique<LanaiParams>()); },
    kOwn, kBuses, true};

void LanaiParams::add_keys(std::vector<Key>& to) {
  to.insert(to.end(), {{"ni", "clock_MHz", 1, 1e5, hertz_from_mhz(clock)},
                       {"ni", "dma_latency_us", 0, 1e3, ps_from_us(dma_latency)},
                       {"ni", "dma_fixed_us", 0, 1e3, ps_from_us(dma_fixed)},
                       {"ni", "host_visible_us", 0, 1e3, ps_from_us(host_visible)},
                       {"ni", "receive_buffers", 1, 1e6, whole(receive_buffers)},
                       {"ni", "send_buffers", 1, 1e6, whole(send_buffers)},
                       {"ni", "host_buffers", 2, 1e6, whole(host_buffers)},
                       {"ni", "tlb_entries", 1, 1e6, whole(tlb_entries), true},
                       {"ni", "completion_batch", 1, 1e4, whole(completion_batch)},
                       {"ni", "host_ring_batch", 1, 1e4, whole(host_ring_batch)}});
  background.add_keys(to, false);
}

// The protocol's own numbers, then the cycles of each step. A step may cost nothing.
void LanaiParams::add_step_keys(std::vector<Key>& to) {
  to.insert(to.end(), {{"protocol", "resend_window", 1, 1e4, whole(resend_window)},
                       {"protocol", "host_window", 1, 1e4, whole(host_window), true},
                       {"protocol", "resend_timeout_us", 1, 1e9, ps_from_us(resend_timeout)},
                       {"protocol", "ack_delay_us", 0, 1e9, ps_from_us(ack_delay)}});
  for (std::size_t step = 0; step < kSteps; ++step) {
    to.push_back({"host", name_of(step), 0, 1e6, cycles(host_cycles[step]), true});
    to.push_back({"ni", name_of(step), 0, 1e6, cycles(ni_cycles[step]), true});
  }
}

std::optional<Part::Conflict> LanaiParams::conflict() const {
  if (dma_latency >= dma_fixed) return std::nullopt;
  return Conflict{"ni", "dma_latency_us",
                  fmt::format("{} is less than dma_fixed_us, {}: a transfer is seen as done after "
                              "its start",
                              to_us(dma_latency), to_us(dma_fixed))};
}

void LanaiParams::speed_up(Resource resource, double factor) {
  if (resource == kDmaResource) {
    for (Ps* time : {&dma_latency, &dma_fixed}) shorter(*time, factor);
  }
  if (resource == kNiResource) faster(clock, factor);
  if (resource == kVisibilityResource) shorter(host_visible, factor);
}

const PartKind& lanai_kind() { return LanaiParams::kKind; }

}  // namespace fairlead::hw
