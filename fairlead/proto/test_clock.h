// A site whose clock the test moves, and where nothing costs.
#pragma once
#include "fairlead/base/step.h"
#include "fairlead/base/units.h"

namespace fairlead::proto {

struct TestClock {
  Ps time{};
  Ps now() const { return time; }
  void charge(Step) {}
};

}  // namespace fairlead::proto
