// Where protocol work runs, and what a step of it is called. A platform gives the cycles of each
// step at each site; in the real world charging costs nothing (design rule: where code runs is a
// parameter).
#pragma once
#include <concepts>

#include "fairlead/base/step.h"
#include "fairlead/base/units.h"

namespace fairlead::proto {

// now(): time at the site, after the charges made so far. charge(): the step takes its time here.
template <class T>
concept Site = requires(T site, Step step) {
  { site.now() } -> std::same_as<Ps>;
  site.charge(step);
};

}  // namespace fairlead::proto
