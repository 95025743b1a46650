#include "fairlead/proto/matcher_impl.h"
#include "fairlead/systems/elan/inbox.h"

template class fairlead::proto::Matcher<fairlead::elan::MaskRules>;
