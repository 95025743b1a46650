// What begins every entry point of vipl.h: the object that a handle names, or the status
// that says there is none.
#pragma once
#include "fairlead/lci/port.h"
#include "fairlead/systems/via/core.h"

// Declares `core` and the object; makes the call return VIP_INVALID_PARAMETER where the handle
// names none or the condition does not hold.
#define FAIRLEAD_VIA_OBJECT(core, object, table, handle, condition)     \
  ::fairlead::via::Core* const core = ::fairlead::via::Core::current(); \
  if (core == nullptr) return VIP_INVALID_PARAMETER;                    \
  const ::fairlead::lci::PortTurn turn(core->port());                   \
  auto* const object = core->table.find(handle);                        \
  if (object == nullptr || !(condition)) return VIP_INVALID_PARAMETER
#define FAIRLEAD_VIA_NIC(core, nic, handle, condition) \
  FAIRLEAD_VIA_OBJECT(core, nic, nics, handle, condition)
#define FAIRLEAD_VIA_VI(core, vi, handle, condition) \
  FAIRLEAD_VIA_OBJECT(core, vi, vis, handle, condition)
#define FAIRLEAD_VIA_QUEUE(core, queue, handle, condition) \
  FAIRLEAD_VIA_OBJECT(core, queue, queues, handle, condition)
#define FAIRLEAD_VIA_CONNECTION(core, connection, handle, condition) \
  FAIRLEAD_VIA_OBJECT(core, connection, connections, handle, condition)
