// Waits of Elanlib's calls and of a system above it: who asks is told what for, and the system may
// let its own work go on while a call of Elanlib's waits.
#pragma once
#include "fairlead/lci/port.h"
#include "fairlead/systems/elan/elan.h"

namespace fairlead::run {
class ToldWait;
class ToldWaits;
}  // namespace fairlead::run

namespace fairlead::elan {

struct Waiting {
  // Blocks as Port::wait() does, but may return when anything has changed; does not return where a
  // peer was lost. nullptr: Port::wait() it is.
  void (*wait)(void* user, const lci::Until& until, const char* call) = nullptr;
  void* user = nullptr;
  // Where waits by Port::wait() are told (run/node/told_wait.h); nullptr: nowhere.
  run::ToldWaits* told = nullptr;
};

// One step of a wait in `call`, which is told with what `until` says of it.
Post wait_telling(run::ToldWait& told, lci::Port& port, const lci::Until& until, const char* call);
// Where this process's waits in Elanlib are told, for those of a system above it.
run::ToldWaits& told_waits(ELAN_BASE* base);

}  // namespace fairlead::elan
