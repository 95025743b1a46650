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

Result<LoadedPlatform> load_for(const std::string& platform_file, std::uint32_t nodes,
                                const hw::PlatformChanges& changes) {
  Result<hw::Platform> platform = hw::load_platform(platform_file, changes);
  if (!platform.ok()) return platform.error();
  if (Result<void> fits = hw::Topology::check_nodes(platform.value().network, nodes); !fits.ok()) {
    return fits.error();
  }
  const Result<const NiKind*> kind = find_ni_kind(platform.value().ni->kind().name);
  if (!kind.ok()) return kind.error();
  return LoadedPlatform{std::move(platform.value()), kind.value()};
}

}  // namespace fairlead::fabric::model
