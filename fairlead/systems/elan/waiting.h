// How a system that stands on Elanlib lets its own work go on while one of its calls waits here.
#pragma once
#include "fairlead/lci/port.h"

namespace fairlead::elan {

struct Waiting {
  // Blocks as Port::wait() does, but may return when anything has changed; does not return where a
  // peer was lost. nullptr: Port::wait() it is.
  void (*wait)(void* user, const lci::Until& until, const char* call) = nullptr;
  void* user = nullptr;
};

// As Port::wait(), by `waiting`, for the conditions that are asked for here: a counter, a word that
// is to become so large, a deadline.
Post wait_by(const Waiting& waiting, lci::Port& port, const lci::Until& until, const char* call);

}  // namespace fairlead::elan
