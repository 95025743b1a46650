#include "fairlead/systems/mpi/watch/watch.h"

#include <cstdlib>
#include <cstring>

#include "fairlead/systems/mpi/extras.h"
#include "fairlead/systems/mpi/watch/profile_report.h"
#include "fairlead/systems/mpi/watch/watched_call.h"

namespace fairlead::mpi {

constinit std::atomic<bool> any_watched = false;

WatchOptions WatchOptions::read() {
  const auto text = [](const char* variable) {
    const char* const told = std::getenv(variable);
    return std::string(told != nullptr ? told : "");
  };
  const std::string check = text(kCheckVariable);
  return {text(kProfileVariable), !check.empty() && check != "0"};
}

Watch::Watch(Process& process, const WatchOptions& options) : process_(process), options_(options) {
  if (!options.profile.empty()) profile_ = std::make_unique<Profile>(process, now());
  if (options.check) checks_ = std::make_unique<Checks>(process);
}

void Watch::start(Process& process) {
  const WatchOptions options = WatchOptions::read();
  if (!options.any()) return;
  process.extras().watch = std::make_shared<Watch>(process, options);
  any_watched.store(true, std::memory_order_relaxed);
}

Watch* Watch::current() {
  Process* const process = Process::current();
  if (process == nullptr || process->phase != Process::Phase::running || !process->has_extras()) {
    return nullptr;
  }
  return process->extras().watch.get();
}

int Watch::before(CallId call, const Given& given, CallState& state) {
  if (call == CallId::Finalize && profile_ != nullptr) profile_->end(now());
  return checks_ == nullptr ? MPI_SUCCESS : checks_->before(call, given, state);
}

void Watch::after(CallId call, const Given& given, int answer, Ps took, const CallState& state) {
  if (profile_ != nullptr) {
    const std::lock_guard guard(mutex_);
    profile_->add(call, given, answer, took);
  }
  if (checks_ != nullptr) checks_->after(call, given, answer, state);
}

void Watch::finish() {
  if (checks_ != nullptr) checks_->finish();
  if (profile_ != nullptr) report_profile(process_, *profile_, options_.profile);
}

WatchedCall::WatchedCall(CallId call, const Given& given)
    : call_(call), given_(given), watch_(Watch::current()) {
  if (watch_ == nullptr) return;
  error_ = watch_->before(call, given, state_);
  begun_ = watch_->now();
}

int WatchedCall::end(int answer) {
  // Behind MPI_Finalize nobody watches.
  if (watch_ != nullptr && call_ != CallId::Finalize) {
    watch_->after(call_, given_, answer, watch_->now() - begun_, state_);
  }
  return answer;
}

}  // namespace fairlead::mpi
