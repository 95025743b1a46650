#include "fairlead/fabric/model/ni_kind.h"

#include <fmt/format.h>

#include <utility>

#include "fairlead/hw/topology.h"

namespace fairlead::fabric::model {

Result<const NiKind*> find_ni_kind(std::string_view name) {
  std::string known;
  for (const NiKind* kind : ni_kinds()) {
    if (kind->name == name) return kind;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", kind->name);
  }
  return Error{
      fmt::format("no machine is made of network interfaces of kind {}; known: {}", name, known)};
}

Result<const NiKind*> ni_kind_on(const std::string& platform_file) {
  const Result<std::string> name = hw::ni_kind_of(platform_file);
  if (!name.ok()) return name.error();
  return find_ni_kind(name.value());
}

namespace {

Result<void> check_shared(const hw::Platform& platform, const NiKind& kind, std::uint32_t each) {
  if (each == 1) return {};
  if (const std::uint32_t most = kind.most_ranks(platform); each > most) {
    return Error{
        fmt::format("--ranks-per-node {}: the buffers of a network interface of {} are enough for "
                    "at most {} ranks",
                    each, platform.name, most)};
  }
  if (platform.host.memory.count > 0) return {};
  return Error{
      fmt::format("--ranks-per-node {}: {} does not say how fast the memory is that the ranks of a "
                  "node share; add host.memory_MBps to its file, or --set host.memory_MBps=...",
                  each, platform.name)};
}

Result<void> check_handler(const hw::Platform& platform, std::uint32_t each) {
  const hw::HostParams& host = platform.host;
  if (host.handler == hw::HostParams::kAutomatic) return {};
  if (!platform.ni->calls_handlers()) {
    return Error{
        fmt::format("--handler: on {} no processor but a rank's own serves what interrupts it, as "
                    "its network interface is of kind {}{}; try --on infiniband-pcix",
                    platform.name, platform.ni->kind().name,
                    platform.ni->kind().name == "rdma" ? " without ni.interrupts" : "")};
  }
  if (host.handler == hw::HostParams::kSame || host.beside(each)) return {};
  return Error{
      fmt::format("--handler other: a node of {} has {} processor{}, and {} rank{} would need {}; "
                  "try --handler same, fewer --ranks-per-node or --set host.processors={}",
                  platform.name, host.processors, host.processors == 1 ? "" : "s", each,
                  each == 1 ? "" : "s", 2 * each, 2 * each)};
}

}  // namespace

Result<LoadedPlatform> load_for(const std::string& platform_file, const EvenNodes& ranks,
                                std::uint32_t nodes, const hw::PlatformChanges& changes) {
  Result<hw::Platform> platform = hw::load_platform(platform_file, changes);
  if (!platform.ok()) return platform.error();
  if (Result<void> fits = hw::Topology::check_nodes(platform.value().network, nodes); !fits.ok()) {
    return fits.error();
  }
  if (Result<void> fits = platform.value().ni->check_nodes(nodes); !fits.ok()) {
    return Error{platform.value().name + ": " + fits.error().text};
  }
  const Result<const NiKind*> kind = find_ni_kind(platform.value().ni->kind().name);
  if (!kind.ok()) return kind.error();
  if (Result<void> shared = check_shared(platform.value(), *kind.value(), ranks.each);
      !shared.ok()) {
    return shared.error();
  }
  if (Result<void> fits = check_handler(platform.value(), ranks.each); !fits.ok()) {
    return fits.error();
  }
  return LoadedPlatform{std::move(platform.value()), kind.value()};
}

}  // namespace fairlead::fabric::model
