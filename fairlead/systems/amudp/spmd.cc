// The entry points of amudp_spmd.h.
#include "fairlead/systems/amudp/amudp_spmd.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "fairlead/run/context.h"
#include "fairlead/run/wire/bootstrap.h"
#include "fairlead/systems/amudp/job.h"

using fairlead::amudp::Job;

extern "C" {

void (*AMUDP_SPMDkillmyprocess)(int code) = &::_exit;

// Clients look for one of these letters: on this machine, by ssh, by a command of the user's. What
// starts the ranks, and where, is the launcher's in each case.
const amudp_spawnfn_desc_t AMUDP_Spawnfn_Desc[] = {
    {'L', "fairlead run", &AMUDP_SPMDLocalSpawn},
    {'S', "fairlead run", &AMUDP_SPMDLocalSpawn},
    {'C', "fairlead run", &AMUDP_SPMDLocalSpawn},
    {0, nullptr, nullptr},
};

int AMUDP_SPMDLocalSpawn(int ranks, int argc, char** argv, char**) {
  const std::string count = std::to_string(ranks);
  std::vector<const char*> words = {"fairlead", "run", "-n", count.c_str()};
  words.insert(words.end(), argv, argv + argc);
  words.push_back(nullptr);
  std::fflush(nullptr);
  // execvp does not change what it is given.
  ::execvp(words[0], const_cast<char* const*>(words.data()));
  std::perror("AMUDP: fairlead, which starts the ranks, cannot be run (is it in PATH?)");
  return 0;
}

int AMUDP_SPMDIsWorker(char**) {
  for (const char* name : {fairlead::run::kBootstrapVariable, "PMIX_RANK", "PMI_FD"}) {
    if (std::getenv(name) != nullptr) return 1;
  }
  return Job::current() != nullptr ? 1 : 0;
}

int AMUDP_SPMDStartup(int* argc, char*** argv, int ranks, int, amudp_spawnfn_t spawn, uint64_t* job,
                      eb_t* bundle, ep_t* endpoint) {
  if (AMUDP_SPMDIsWorker(argv == nullptr ? nullptr : *argv) == 0) {
    if (argc == nullptr || argv == nullptr || ranks < 1) return AM_ERR_BAD_ARG;
    (spawn == nullptr ? AMUDP_SPMDLocalSpawn : spawn)(ranks, *argc, *argv, nullptr);
    return AM_ERR_RESOURCE;
  }
  if (bundle == nullptr || endpoint == nullptr) return AM_ERR_BAD_ARG;
  const int started = Job::start(job);
  if (started != AM_OK) return started;
  *bundle = Job::current()->bundle();
  *endpoint = Job::current()->endpoint();
  return AM_OK;
}

int AMUDP_SPMDExit(int code) {
  Job* const job = Job::current();
  if (job == nullptr) return AM_ERR_NOT_INIT;
  job->exit(code & 0xff);
}

int AMUDP_SPMDSetExitCallback(amudp_exitcallback_t callback) {
  Job* const job = Job::current();
  if (job == nullptr) return AM_ERR_NOT_INIT;
  job->set_exit_callback(callback);
  return AM_OK;
}

int AMUDP_SPMDNumProcs(void) { return static_cast<int>(AM_Ranks()); }
int AMUDP_SPMDMyProc(void) { return static_cast<int>(AM_Rank()); }

void AMUDP_SPMDSetProc(int rank) {
  const char* const told = std::getenv(fairlead::run::kBootstrapVariable);
  const auto place = fairlead::run::parse_bootstrap(told == nullptr ? "" : told);
  if (place.ok() && place.value().rank == static_cast<std::uint32_t>(rank)) return;
  fmt::print(stderr, "AMUDP: rank {} was asked for, and the launcher numbers the ranks\n", rank);
  std::exit(1);
}

int AMUDP_SPMDBarrier(void) {
  Job* const job = Job::current();
  if (job == nullptr) return AM_ERR_NOT_INIT;
  const char mine = 0;
  std::vector<char> all(job->ranks());
  return job->gather(&mine, all.data(), sizeof mine);
}

int AMUDP_SPMDAllGather(void* source, void* target, size_t bytes) {
  Job* const job = Job::current();
  if (job == nullptr) return AM_ERR_NOT_INIT;
  if (bytes > 0 && (source == nullptr || target == nullptr)) return AM_ERR_BAD_ARG;
  return job->gather(source, target, bytes);
}

const char* AMUDP_SPMDgetenvMaster(const char* name) {
  return name == nullptr ? nullptr : std::getenv(name);
}

const char* AMUDP_check_env_prefix(const char* prefix) {
  const std::size_t length = std::strlen(prefix);
  for (char** each = environ; *each != nullptr; ++each) {
    if (std::strncmp(*each, prefix, length) == 0) return *each;
  }
  return nullptr;
}

}  // extern "C"
