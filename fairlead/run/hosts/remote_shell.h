// The process that starts an agent on a host: ssh, or what the user named in its place.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "fairlead/base/fd.h"
#include "fairlead/base/result.h"

namespace fairlead::run {

struct RemoteShell {
  pid_t pid = 0;
  Fd in, out;  // the agent's standard input and output
  Fd errors;   // what the shell has to say; non-blocking
};

// The words to start the agent with: SHELL HOST AGENT node-agent; without the shell where the
// default one would call this machine. Error: a path that a shell on the way would change.
Result<std::vector<std::string>> agent_command(const std::string& shell, const std::string& host,
                                               const std::string& agent);

// Starts it in a session of its own, with no terminal's signals. Error: the kernel's, or there is
// no such program.
Result<RemoteShell> start_shell(const std::vector<std::string>& command);

}  // namespace fairlead::run
