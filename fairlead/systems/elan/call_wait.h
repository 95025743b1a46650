// How Elanlib's calls wait, each in a way that its user may have chosen (waiting.h).
#pragma once
#include <optional>

#include "fairlead/lci/port.h"
#include "fairlead/run/node/told_wait.h"
#include "fairlead/systems/elan/waiting.h"

namespace fairlead::elan {

// One wait of a call's, from here to the end of the scope. Thread: the port's, inside a PortTurn.
class CallWait {
 public:
  CallWait(const Waiting& waiting, lci::Port& port, const char* call)
      : waiting_(waiting), port_(port), call_(call) {
    if (waiting.told != nullptr) told_.emplace(*waiting.told);
  }
  // One step of it: as Port::wait(); where `waiting` has a way of its own, for the conditions that
  // are asked for here: a counter, a word that is to become so large, a deadline.
  Post once(const lci::Until& until);

 private:
  const Waiting& waiting_;
  lci::Port& port_;
  const char* const call_;
  std::optional<run::ToldWait> told_;
};

// A wait of one step.
inline Post wait_by(const Waiting& waiting, lci::Port& port, const lci::Until& until,
                    const char* call) {
  return CallWait(waiting, port, call).once(until);
}

}  // namespace fairlead::elan
