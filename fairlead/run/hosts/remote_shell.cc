#include "fairlead/run/hosts/remote_shell.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "fairlead/run/hosts/node_agent.h"
#include "fairlead/run/job/program_path.h"
#include "fairlead/run/launch_options.h"
#include "fairlead/run/machine/probes.h"

namespace fairlead::run {
namespace {

bool survives_a_shell(const std::string& path) {
  return std::all_of(path.begin(), path.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::strchr("/._+-", c) != nullptr;
  });
}

}  // namespace

Result<std::vector<std::string>> agent_command(const std::string& shell, const std::string& host,
                                               const std::string& agent) {
  std::vector<std::string> words;
  const bool here = host == "localhost" || host == "127.0.0.1" || host == host_name();
  if (!here || shell != HostOptions::kDefaultShell) {
    if (!survives_a_shell(agent)) {
      return Error{
          fmt::format("{} has characters that a remote shell would not pass on: install "
                      "Fairlead under a plain path",
                      agent)};
    }
    std::istringstream text(shell);
    for (std::string word; text >> word;) words.push_back(word);
    if (words.empty()) return Error{"--rsh names no program"};
    const Result<std::string> program = find_program(words.front(), {});
    if (!program.ok()) return Error{fmt::format("--rsh: {}", program.error().text)};
    words.front() = program.value();
    words.push_back(host);
  }
  words.push_back(agent);
  words.emplace_back(kAgentCommand);
  return words;
}

Result<RemoteShell> start_shell(const std::vector<std::string>& command) {
  int in[2], out[2], errors[2];
  // Read ends first.
  const bool made = ::pipe2(in, O_CLOEXEC) == 0 && ::pipe2(out, O_CLOEXEC) == 0 &&
                    ::pipe2(errors, O_CLOEXEC) == 0;
  if (!made) {
    return Error{fmt::format("cannot make a pipe: {}; raise ulimit -n", std::strerror(errno))};
  }
  RemoteShell shell{0, Fd(in[1]), Fd(out[0]), Fd(errors[0])};
  const Fd theirs[] = {Fd(in[0]), Fd(out[1]), Fd(errors[1])};
  ::fcntl(shell.errors.get(), F_SETFL, O_NONBLOCK);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  shell.pid = ::fork();
  if (shell.pid < 0) return Error{fmt::format("cannot fork: {}", std::strerror(errno))};
  if (shell.pid == 0) {
    ::setsid();
    for (int stream = 0; stream < 3; ++stream) ::dup2(theirs[stream].get(), stream);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execv(argv[0], argv.data());
    const std::string why = fmt::format("{}: {}\n", command[0], std::strerror(errno));
    (void)!::write(STDERR_FILENO, why.data(), why.size());
    ::_exit(127);
  }
  return shell;
}

}  // namespace fairlead::run
