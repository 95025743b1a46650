// Handles of RSMAPI: their kinds, and the bound of each table.
#pragma once
#include "fairlead/base/handle_table.h"

namespace fairlead::rsm {

// Told apart by their value: some calls take several.
enum class HandleKind : unsigned { exported = 1, imported, local_memory, barrier };

template <class T, HandleKind kKind>
using Table = HandleTable<T, static_cast<unsigned>(kKind), 8192>;

}  // namespace fairlead::rsm
