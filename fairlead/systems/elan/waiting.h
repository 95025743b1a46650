// How waits that Elanlib's calls make for a system above it go on: who asks is told what for, and
// the system may let its own work go on meanwhile.
#pragma once
#include "fairlead/lci/port.h"

namespace fairlead::run {
class ToldWaits;
}

namespace fairlead::elan {

struct Waiting {
  // Blocks as Port::wait() does, but may return when anything has changed; does not return where a
  // peer was lost. nullptr: Port::wait() it is.
  void (*wait)(void* user, const lci::Until& until, const char* call) = nullptr;
  void* user = nullptr;
  // Where waits by Port::wait() are told (run/node/told_wait.h); nullptr: nowhere.
  run::ToldWaits* told = nullptr;
};

}  // namespace fairlead::elan
