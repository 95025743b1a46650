// A platform with some of its resources faster: what a run would take on it is a run.
#pragma once
#include <string_view>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/hw/platform.h"
#include "fairlead/hw/resource.h"

namespace fairlead::hw {

// What the time of a platform's machines goes into: the resources of its parts, in their order, and
// timers.
std::vector<Resource> resources_of(const Platform& platform);

// Every rate of `resource` times `factor`, every time of it divided by that. Buffers, batches and
// delays that are a policy (the watchdog's) stay. kTimerResource: nothing.
void speed_up(Platform& platform, Resource resource, double factor);

// "ni=2,link=1.5": resources of the platform by kResourceNames, factors 0.01 to 100. Empty: none.
// Error: says what is known.
Result<void> speed_up(Platform& platform, std::string_view text);

}  // namespace fairlead::hw
