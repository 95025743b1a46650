// Machine::load(): the kinds of network interfaces make machines, and a machine knows none of them.
#include <utility>

#include "fairlead/fabric/model/machine.h"
#include "fairlead/fabric/model/ni_kind.h"

namespace fairlead::fabric::model {

Result<std::unique_ptr<Machine>> Machine::load(const std::string& platform_file,
                                               const EvenNodes& ranks, std::uint32_t nodes,
                                               std::uint32_t payload_bytes,
                                               const hw::PlatformChanges& changes) {
  Result<LoadedPlatform> loaded = load_for(platform_file, ranks, nodes, changes);
  if (!loaded.ok()) return loaded.error();
  return loaded.value().kind->make(std::move(loaded.value().platform), ranks, nodes, payload_bytes,
                                   {});
}

}  // namespace fairlead::fabric::model
