#include <fmt/format.h>

#include "fairlead/hw/rdma/rdma_params.h"

namespace fairlead::hw {
namespace {
constexpr Resource kOwn[] = {kNiResource};
constexpr std::string_view kBuses[] = {"lanes", "pcix"};
}  // namespace

const PartKind RdmaParams::kKind = {
    "ni", kName, [] { return std::unique_ptr<Part>(std::make_unique<RdmaParams>()); }, kOwn,
    kBuses};

void RdmaParams::add_keys(std::vector<Key>& to) {
  to.insert(to.end(), {{"ni", "work_entry_ns", 0, 1e6, ps_from_ns(work_entry)},
                       {"ni", "packet_ns", 0, 1e6, ps_from_ns(packet)},
                       {"ni", "translate_ns", 0, 1e6, ps_from_ns(translate)},
                       {"ni", "atomic_ns", 0, 1e6, ps_from_ns(atomic)},
                       {"ni", "mtu_bytes", 512, 65536, whole(mtu_bytes)},
                       {"ni", "inline_bytes", 0, 96, whole(inline_bytes)},
                       {"ni", "entry_bytes", 16, 1024, whole(entry_bytes)},
                       {"ni", "completion_bytes", 8, 1024, whole(completion_bytes)},
                       {"ni", "send_queue", 2, 65536, whole(send_queue)},
                       {"ni", "receive_queue", 2, 65536, whole(receive_queue)},
                       {"ni", "signal_every", 1, 65536, whole(signal_every)},
                       {"ni", "reads_ahead", 1, 1024, whole(reads_ahead)},
                       {"ni", "copies", 1, 65536, whole(copies)},
                       {"ni", "two_atomics", 0, 1, whole(two_atomics), true},
                       {"ni", "interrupts", 0, 1, whole(interrupts), true},
                       {"ni", "contexts", 0, 1 << 20, whole(contexts), true},
                       {"ni", "context_bytes", 8, 4096, whole(context_bytes), true},
                       {"ni", "translations", 0, 1 << 24, whole(translations), true},
                       {"ni", "translation_bytes", 8, 4096, whole(translation_bytes), true},
                       {"ni", "ack_timeout_us", 0, 1e7, ps_from_us(ack_timeout), true},
                       {"ni", "retries", 0, 1000, whole(retries), true},
                       {"library", "post_cycles", 0, 1e6, cycles(library.post)},
                       {"library", "poll_cycles", 1, 1e6, cycles(library.poll)},
                       {"library", "receive_cycles", 0, 1e6, cycles(library.receive)},
                       {"library", "completion_cycles", 0, 1e6, cycles(library.completion)}});
  background.add_keys(to, false);
}

std::optional<Part::Conflict> RdmaParams::conflict() const {
  if (contexts > 0 && context_bytes == 0) {
    return Conflict{"ni", "contexts", "context_bytes is missing: what is read for one"};
  }
  if (translations > 0 && translation_bytes == 0) {
    return Conflict{"ni", "translations", "translation_bytes is missing: what is read for a line"};
  }
  if (signal_every <= send_queue) return std::nullopt;
  return Conflict{"ni", "signal_every",
                  fmt::format("{} is more than send_queue, {}: no completion would come",
                              signal_every, send_queue)};
}

void RdmaParams::speed_up(Resource resource, double factor) {
  if (resource != kNiResource) return;
  for (Ps* time : {&work_entry, &packet, &translate, &atomic}) shorter(*time, factor);
}

const PartKind& rdma_kind() { return RdmaParams::kKind; }

}  // namespace fairlead::hw
