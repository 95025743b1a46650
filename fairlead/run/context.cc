#include "fairlead/run/context.h"

namespace fairlead::run {

// The one exception to "no mutable globals" (context.h): C interfaces find their rank here. A fiber
// or a forked body sets its thread's pointer; threads of a program that joined share the process's.
// Every call of such an interface reads it; initial-exec spares the call that looks a slot up.
constinit thread_local Context* thread_context = nullptr;
constinit std::atomic<Context*> process_context{nullptr};

void set_current(Context* context) { thread_context = context; }

}  // namespace fairlead::run
