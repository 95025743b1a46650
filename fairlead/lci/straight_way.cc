#include "fairlead/lci/straight_way.h"

#include "fairlead/lci/port.h"

namespace fairlead::lci {

StraightWay Port::straight_way(Chan, Lane) { return {}; }

}  // namespace fairlead::lci
