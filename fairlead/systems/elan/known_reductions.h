// The functions of elan_reduce that networks know, too (elan_reduceFn).
#pragma once
#include <optional>

#include "fairlead/base/reduction.h"
#include "fairlead/systems/elan/elan.h"

namespace fairlead::elan {

struct KnownReduction {
  ReduceOp op;
  ReduceType type;
};

// nullptr: there is no such function.
ELAN_REDUCE_FN function_of(KnownReduction reduction);
// nullopt: a function of the program's own.
std::optional<KnownReduction> known_reduction(ELAN_REDUCE_FN fn);

}  // namespace fairlead::elan
