// Work of the engine that goes on in steps, whatever call of the program gives it the chance:
// collectives under way, and requests that consist of others.
#pragma once
#include <cstdint>

#include "fairlead/base/intrusive_list.h"

namespace fairlead::mpi {

struct Request;

class Driven {
 public:
  enum class Step : std::uint8_t { none, moved, over };

  Driven() = default;
  virtual ~Driven() = default;
  Driven(const Driven&) = delete;
  Driven& operator=(const Driven&) = delete;

  // Does what can be done without waiting. Called by the engine, outside upcalls, one at a time.
  // After `over` it is not called again.
  virtual Step advance() = 0;
  // A receive without whose end advance() does nothing, where there is one: who waits for this work
  // may wait for that by the short ways of messages. nullptr: there is none, or more than one.
  virtual Request* awaited() const { return nullptr; }

  ListLink<Driven> link;  // the engine's
  // advance() calls no function of the program, and may run on another thread, between calls.
  bool alone = false;
};

}  // namespace fairlead::mpi
