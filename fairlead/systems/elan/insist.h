// An operation of the Port's that finds no room now is tried until it does.
#pragma once
#include "fairlead/lci/port.h"

namespace fairlead::elan {

// begin(): a call of the Port that may answer again_*. Its last answer. Not from an upcall.
template <class Begin>
Post insist(lci::Port& port, Begin&& begin) {
  for (;;) {
    const Post answer = begin();
    if (answer != Post::again_credit && answer != Post::again_buffer) return answer;
    if (port.poll() == 0) {
      (void)port.wait({.any_change = true, .what = "room for an operation"});
    }
  }
}

inline bool accepted(Post answer) { return answer == Post::done || answer == Post::pending; }

}  // namespace fairlead::elan
