// How a process becomes a rank of the job that it was started in.
#pragma once
#include "fairlead/base/result.h"
#include "fairlead/run/context.h"

namespace fairlead::run {

// Joins the job this process was started in, as told by the environment: by `fairlead run`, else by
// a launcher that speaks PMIx, else by one that speaks PMI-1; started by none, it makes a job of
// one rank. Idempotent. The context lives until the process or fiber ends.
Result<Context*> attach();
// What the process does as a rank when it exits, done now: for a program that ends by _exit(code)
// or a call like it, right before that.
void leave_job(int code);

}  // namespace fairlead::run
