// An operation of the Port's that finds no room now is tried until it does: for systems whose calls
// wait.
#pragma once
#include "fairlead/lci/port.h"

namespace fairlead {

inline bool accepted(Post answer) { return answer == Post::done || answer == Post::pending; }

namespace lci {

// begin(): a call of the Port that may answer again_*. Its last answer. Not from an upcall.
template <class Begin>
Post insist(Port& port, Begin&& begin) {
  for (;;) {
    const Post answer = begin();
    if (answer != Post::again_credit && answer != Post::again_buffer) return answer;
    if (port.poll() == 0) {
      (void)port.wait({.any_change = true, .what = "room for an operation"});
    }
  }
}

}  // namespace lci
}  // namespace fairlead
