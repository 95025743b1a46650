// The Port's names of this process's segments: each is used once, long before it comes again.
#pragma once
#include "fairlead/run/names.h"

namespace fairlead::rsm {

class SegmentNames {
 public:
  lci::SegId next() {
    // 0 of the range is nobody's, so that 0 may mean none.
    if (++last_ == kNames.count) last_ = 1;
    return kNames[last_];
  }

 private:
  static constexpr auto kNames = run::names_of(run::System::rsm).segments;
  std::uint32_t last_ = 0;
};

}  // namespace fairlead::rsm
