// Ends everything that descends from this process: how a job leaves nothing behind.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <span>
#include <vector>

namespace fairlead::run {

// Children of this process, whichever thread forked them, zombies included.
std::vector<pid_t> children_of_self();

// Kills (SIGKILL) and reaps the children of this process except `keep`, and again what becomes a
// child of it meanwhile: this process must be a subreaper, so that orphans come here and no
// descendant escapes by double forking, a new session or a new process group. Blocks at most
// `limit`. Answers the processes that are still there (a signal may not reach one with another
// user id, and one in an uninterruptible system call ends late); empty: all gone.
// The exit status of what it reaps is lost.
std::vector<pid_t> kill_descendants(std::span<const pid_t> keep, std::chrono::milliseconds limit);

}  // namespace fairlead::run
