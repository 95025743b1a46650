// Handles of SISCI: their kinds, and the bound of each table.
#pragma once
#include "fairlead/base/handle_table.h"

namespace fairlead::sisci {

enum class HandleKind : unsigned {
  descriptor = 1,
  local_segment,
  remote_segment,
  map,
  sequence,
  queue,
  local_interrupt,
  remote_interrupt,
  block
};

template <class T, HandleKind kKind>
using Table = HandleTable<T, static_cast<unsigned>(kKind), 65536>;

}  // namespace fairlead::sisci
