#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fairlead/hw/elan/elan_params.h"

namespace fairlead::hw {
namespace {
constexpr Resource kOwn[] = {kNiResource};
constexpr std::string_view kBuses[] = {"pci"};

std::function<void(double)> period_from_rate(Ps& to) {
  return [&to](double per_second) {
    to = per_second == 0 ? Ps{0} : microseconds_rounded(1e6 / per_second);
  };
}
}  // namespace

const PartKind ElanParams::kKind = {
    "ni", kName, [] { return std::unique_ptr<Part>(std::make_unique<ElanParams>()); }, kOwn,
    kBuses};

void ElanParams::add_keys(std::vector<Key>& to) {
  to.insert(to.end(),
            {{"ni", "clock_MHz", 1, 1e5, hertz_from_mhz(clock)},
             {"ni", "command_cycles", 0, 1e6, cycles(command)},
             {"ni", "dma_cycles", 0, 1e6, cycles(dma)},
             {"ni", "input_cycles", 0, 1e6, cycles(input)},
             {"ni", "event_cycles", 0, 1e6, cycles(event)},
             {"ni", "atomic_cycles", 0, 1e6, cycles(atomic)},
             {"ni", "schedule_cycles", 0, 1e6, cycles(schedule)},
             {"ni", "thread_build_cycles", 0, 1e6, cycles(thread_build)},
             {"ni", "thread_look_cycles", 0, 1e6, cycles(thread_look)},
             {"ni", "thread_take_cycles", 0, 1e6, cycles(thread_take)},
             {"ni", "thread_match_cycles", 0, 1e6, cycles(thread_match)},
             {"ni", "thread_dma_cycles", 0, 1e6, cycles(thread_dma)},
             {"ni", "thread_combine_cycles", 0, 1e6, cycles(thread_combine), true},
             {"ni", "packet_bytes", 64, 4096, whole(packet_bytes)},
             {"ni", "slot_bytes", 192, 4096, whole(slot_bytes)},
             {"ni", "slots", 2, 65536, whole(slots)},
             {"ni", "entry_bytes", 8, 1024, whole(entry_bytes)},
             {"ni", "inline_bytes", 0, 96, whole(inline_bytes)},
             {"ni", "event_bytes", 4, 64, whole(event_bytes)},
             {"ni", "circuits", 1, 64, whole(circuits)},
             {"ni", "slice_packets", 1, 65536, whole(slice_packets)},
             {"ni", "retry_us", 0.01, 1e3, ps_from_us(retry)},
             {"ni", "send_queue", 1, 65536, whole(send_queue)},
             {"ni", "copies", 1, 65536, whole(copies)},
             {"ni", "memory_bytes", 0, 4e9, whole(memory_bytes)},
             {"ni", "memory_MBps", 0, 1e6, rate_from_mb(memory_rate), true},
             {"ni", "tlb_entries", 0, 65536, whole(tlb_entries), true},
             {"ni", "page_bytes", 4096, 1 << 30, whole(page_bytes), true},
             {"ni", "walk_cycles", 0, 1e6, cycles(walk), true},
             {"ni", "tport_bytes", 0, 4e9, whole(tport_bytes)},
             {"library", "post_cycles", 0, 1e6, cycles(library.post)},
             {"library", "arm_cycles", 0, 1e6, cycles(library.arm)},
             {"library", "poll_cycles", 1, 1e6, cycles(library.poll)},
             {"library", "receive_cycles", 0, 1e6, cycles(library.receive)},
             {"library", "completion_cycles", 0, 1e6, cycles(library.completion)},
             // At most four fifths of the processor.
             {"noise", "ticks_per_s", 0, 1e4, period_from_rate(noise.tick.period), true},
             {"noise", "tick_us", 0, 40, ps_from_us(noise.tick.length), true},
             {"noise", "daemons_per_s", 0, 1e3, period_from_rate(noise.daemon.period), true},
             {"noise", "daemon_us", 0, 400, ps_from_us(noise.daemon.length), true},
             {"noise", "seed", 0, 1e6, whole(noise.seed), true}});
  background.add_keys(to, true);
}

std::optional<Part::Conflict> ElanParams::conflict() const {
  if (slot_bytes <= packet_bytes) return std::nullopt;
  return Conflict{
      "ni", "slot_bytes",
      fmt::format("{} bytes of a slot do not fit a packet of {}", slot_bytes, packet_bytes)};
}

void ElanParams::speed_up(Resource resource, double factor) {
  if (resource == kHostResource) {
    for (NoiseParams::Source* source : {&noise.tick, &noise.daemon}) {
      shorter(source->length, factor);
      source->length.count = std::min(source->length.count, source->period.count * 2 / 5);
    }
  }
  if (resource != kNiResource) return;
  faster(clock, factor);
  faster(memory_rate, factor);
  shorter(retry, factor);
}

const PartKind& elan_kind() { return ElanParams::kKind; }

}  // namespace fairlead::hw
