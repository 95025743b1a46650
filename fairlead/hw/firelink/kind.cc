#include <fmt/format.h>

#include <cmath>

#include "fairlead/hw/firelink/firelink_params.h"
#include "fairlead/hw/firelink/wiring.h"

namespace fairlead::hw {
namespace {
constexpr Resource kOwn[] = {kNiResource};
constexpr std::string_view kBuses[] = {"fireplane"};

std::function<void(double)> thousandths(std::uint64_t& to) {
  return [&to](double bytes) { to = static_cast<std::uint64_t>(std::llround(bytes * 1000)); };
}

std::function<void(double)> ps_from_ms(Ps& to) {
  return [&to](double ms) { to = microseconds_rounded(ms * 1000); };
}
}  // namespace

const PartKind FirelinkParams::kKind = {
    "ni", kName, [] { return std::unique_ptr<Part>(std::make_unique<FirelinkParams>()); }, kOwn,
    kBuses};

void FirelinkParams::add_keys(std::vector<Key>& to) {
  to.insert(to.end(), {{"ni", "line_wire_bytes", 64, 4096, thousandths(line_wire)},
                       {"ni", "completion_wire_bytes", 0, 4096, thousandths(completion_wire)},
                       {"ni", "pass_ns", 0, 1e6, ps_from_ns(pass)},
                       {"ni", "slot_bytes", 512, kFirelinkSlotBytesMax, whole(slot_bytes)},
                       {"ni", "slots", 2, 65536, whole(slots)},
                       {"ni", "copies", 1, 65536, whole(copies)},
                       {"ni", "load_bytes_max", 0, 1e9, whole(load_bytes_max)},
                       {"links", "nis", 1, 4, whole(nis)},
                       {"links", "per_ni", 1, 4, whole(links)},
                       {"links", "switches", 0, 16, whole(switches)},
                       {"links", "switch_ports", 2, 64, whole(ports)},
                       {"links", "stripes", 1, 16, whole(stripes)},
                       {"links", "block_bytes", 64, 1e6, whole(block_bytes)},
                       {"links", "found_ms", 0.001, 1e4, ps_from_ms(found)},
                       {"links", "reroute_ms", 0.001, 1e4, ps_from_ms(reroute)},
                       {"library", "post_cycles", 0, 1e6, cycles(library.post)},
                       {"library", "poll_cycles", 1, 1e6, cycles(library.poll)},
                       {"library", "receive_cycles", 0, 1e6, cycles(library.receive)},
                       {"library", "completion_cycles", 0, 1e6, cycles(library.completion)},
                       {"library", "part_line_cycles", 0, 1e6, cycles(library.part_line)}});
  background.add_keys(to, false);
}

std::optional<Part::Conflict> FirelinkParams::conflict() const {
  if (block_bytes % kFirelinkLineBytes == 0) return std::nullopt;
  return Conflict{
      "links", "block_bytes",
      fmt::format("{} is no whole number of lines of {}", block_bytes, kFirelinkLineBytes)};
}

Result<void> FirelinkParams::check_nodes(std::uint32_t nodes) const {
  if (Result<void> fits = FirelinkWiring::check(*this, nodes); !fits.ok()) return fits;
  return background.check_nodes(nodes);
}

void FirelinkParams::speed_up(Resource resource, double factor) {
  if (resource == kNiResource) shorter(pass, factor);
}

const PartKind& firelink_kind() { return FirelinkParams::kKind; }

}  // namespace fairlead::hw
