#include "fairlead/systems/mpi/matcher.h"

#include "fairlead/proto/matcher_impl.h"

template class fairlead::proto::Matcher<fairlead::mpi::MatchingRules>;
