// What `fairlead run` is asked: the program, its environment, the hosts, besides the job's options.
#pragma once
#include <string>
#include <vector>

#include "fairlead/run/host_list.h"
#include "fairlead/run/run_options.h"

namespace fairlead::run {

// How a rank's program is run where there is a choice (loop and modelled platforms).
enum class BodyKind {
  automatic,  // fiber for programs that export fairlead_fiber_program, else process
  process,    // the binary as it is, one process a rank
  fiber,      // loaded once, its main called once a rank (see program.h for what that needs)
};

// The hosts of a job of several. Its ranks share memory within a host and use udp between hosts.
struct HostOptions {
  std::vector<HostSlots> list;        // with the ranks of each; empty: the job is this machine's
  std::string shell = kDefaultShell;  // starts a program there: SHELL HOST PROGRAM ARGUMENT
  std::string agent;                  // path of the `fairlead` command, the same on every host
  const char* noun = "host";          // what messages call one

  static constexpr const char kDefaultShell[] = "ssh -o BatchMode=yes -o ConnectTimeout=10";
};

struct LaunchOptions {
  WorldOptions world;
  std::vector<std::string> command;  // program and its arguments; the program as a shell finds it
  std::vector<std::string> environment;  // -x: "VAR" (must be set here) or "VAR=value"
  std::string working_directory;         // of the ranks; empty: this process's
  bool label = false;                    // each line of output begins with "[rank] "
  // SIGINT, SIGTERM, SIGTSTP, SIGCONT, SIGUSR1 and SIGUSR2 that reach this process go to the ranks;
  // a second SIGINT or SIGTERM kills them.
  bool forward_signals = true;
  BodyKind body = BodyKind::automatic;
  HostOptions hosts;
};

}  // namespace fairlead::run
