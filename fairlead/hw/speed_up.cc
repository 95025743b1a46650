#include "fairlead/hw/speed_up.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fairlead/base/numbers.h"

namespace fairlead::hw {
namespace {

constexpr double kFactorMin = 0.01;
constexpr double kFactorMax = 100;

Error unknown(std::string_view part, const std::vector<Resource>& resources) {
  std::string names;
  for (const Resource each : resources) {
    if (each == kTimerResource) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", kResourceNames[each]);
  }
  return Error{
      fmt::format("faster: '{}' is not RESOURCE=FACTOR; resources: {}; factors {} to {}, for "
                  "example ni=2",
                  part, names, kFactorMin, kFactorMax)};
}

}  // namespace

std::vector<Resource> resources_of(const Platform& platform) {
  std::vector<Resource> found = {kHostResource, kLinkResource, kTimerResource};
  for (const AnyPart* part : {&platform.bus, &platform.ni}) {
    const std::span<const Resource> own = (*part)->kind().resources;
    found.insert(found.end(), own.begin(), own.end());
  }
  std::sort(found.begin(), found.end());
  return found;
}

void speed_up(Platform& platform, Resource resource, double factor) {
  if (resource == kHostResource) platform.host.speed_up(factor);
  if (resource == kLinkResource) platform.network.speed_up(factor);
  platform.bus->speed_up(resource, factor);
  platform.ni->speed_up(resource, factor);
}

Result<void> speed_up(Platform& platform, std::string_view text) {
  const std::vector<Resource> resources = resources_of(platform);
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    const std::string_view name = part.substr(0, equals);
    const auto found = std::find_if(resources.begin(), resources.end(), [&](Resource each) {
      return each != kTimerResource && kResourceNames[each] == name;
    });
    if (equals == std::string_view::npos || found == resources.end())
      return unknown(part, resources);
    const auto factor = real_number(part.substr(equals + 1), {kFactorMin, kFactorMax});
    if (!factor) return unknown(part, resources);
    speed_up(platform, *found, *factor);
  }
  return {};
}

}  // namespace fairlead::hw
