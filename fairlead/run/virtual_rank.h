// What a rank in virtual time is told beyond its Port: the program's declared computing and its
// looks at a clock. A Context of a modelled rank is one of these as well, one of a real rank is
// not.
#pragma once
#include "fairlead/lci/port.h"

namespace fairlead::run {

class VirtualRank {
 public:
  virtual ~VirtualRank() = default;
  virtual void declared(const lci::Work& work) = 0;
  virtual void looked_at_clock() = 0;
};

}  // namespace fairlead::run
