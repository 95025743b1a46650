// What waits for this rank to execute more of the ordered stream (horizon.h): an operation that
// another rank asks for, a process that is to start here, or one that waits.
#pragma once
#include <memory>

#include "fairlead/systems/orca/codec.h"
#include "fairlead/systems/orca/invocation.h"
#include "fairlead/systems/orca/orca.h"
#include "fairlead/systems/orca/wire.h"
#include "fairlead/systems/panda/panda.h"

namespace fairlead::orca {

// A call of another rank, to the owner of an object.
struct Request {
  panda::Incoming message;
  panda::Token token;
  InvokeHead head{};
};

// A process that was forked to this rank.
struct Start {
  const Function* function;
  Bytes arguments;
};

// One of the three: `process`, else `start`, else `request`.
struct Deferred {
  Request request;
  std::unique_ptr<Start> start;
  Pending* process = nullptr;
};

}  // namespace fairlead::orca
